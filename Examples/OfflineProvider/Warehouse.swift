import Foundation
import Switchyard
import Synchronization

/// The backend: accounts, and documents for whoever has a token. It lives outside the app, so it outlasts it.
final class Warehouse: Sendable {
    struct Account: Sendable {
        let id: String
        let password: Secret
    }

    struct Problem: Error {
        let code: ErrorCode
        let message: String
    }

    private struct State {
        var isReachable = true
        var accounts: [String: Account] = [:]
        var documents: [StoragePath: DocumentSnapshot] = [:]
        var version = Timestamp(Date())
        var watchers: [ObjectIdentifier: @Sendable () -> Void] = [:]
    }

    private let state = Mutex(State())

    /// The network between the app and the warehouse.
    var isReachable: Bool {
        get { state.withLock { $0.isReachable } }
        set {
            let watchers = state.withLock { state in
                state.isReachable = newValue
                return Array(state.watchers.values)
            }
            for watcher in watchers { watcher() }
        }
    }

    // MARK: Accounts

    func signUp(_ email: String, _ password: Secret) throws(Problem) -> Account {
        try call { state throws(Problem) in
            guard state.accounts[email] == nil else {
                throw Problem(code: .emailInUse, message: "An account with this address exists. Sign in instead.")
            }
            let account = Account(id: "person-\(state.accounts.count + 1)", password: password)
            state.accounts[email] = account
            return account
        }
    }

    func signIn(_ email: String, _ password: Secret) throws(Problem) -> Account {
        try call { state throws(Problem) in
            guard let account = state.accounts[email], account.password == password else {
                throw Problem(code: .invalidCredential, message: "The address or the password is wrong.")
            }
            return account
        }
    }

    /// Whether the person still has an account, as a refresh of their token asks.
    func knows(_ id: String) throws(Problem) -> Bool {
        try call { state throws(Problem) in state.accounts.values.contains { $0.id == id } }
    }

    // MARK: Documents

    /// All documents, and the version as of which they are.
    func read(as token: Secret?) throws(Problem) -> (documents: [StoragePath: DocumentSnapshot], version: Timestamp) {
        try call(as: token) { state throws(Problem) in
            (state.documents, state.version)
        }
    }

    /// All writes or none.
    func write(_ writes: [DocumentWrite], as token: Secret?) throws(Problem) -> Timestamp {
        let (version, watchers) = try call(as: token) { state throws(Problem) in
            let version = state.version.advanced(by: .microseconds(1))
            var documents = state.documents
            for write in writes {
                do throws(StorageError) {
                    let changed = try write.carriedOut(on: documents[write.path] ?? .missing(write.path), at: version)
                    documents[write.path] = changed.exists ? changed : nil
                } catch {
                    throw Problem(code: error.code, message: error.message)
                }
            }
            state.documents = documents
            state.version = version
            return (version, Array(state.watchers.values))
        }
        for watcher in watchers { watcher() }
        return version
    }

    /// Calls `changed` after each commit and when the network comes or goes; `nil` ends it.
    func watch(_ watcher: AnyObject, _ changed: (@Sendable () -> Void)?) {
        state.withLock { $0.watchers[ObjectIdentifier(watcher)] = changed }
    }

    private func call<Answer>(_ body: (inout State) throws(Problem) -> Answer) throws(Problem) -> Answer {
        try state.withLock { state throws(Problem) in
            guard state.isReachable else {
                throw Problem(code: .unavailable, message: "The warehouse cannot be reached. Check the network.")
            }
            return try body(&state)
        }
    }

    private func call<Answer>(
        as token: Secret?, _ body: (inout State) throws(Problem) -> Answer
    ) throws(Problem) -> Answer {
        try call { state throws(Problem) in
            guard let token, state.accounts.values.contains(where: { token == Secret("token of \($0.id)") }) else {
                throw Problem(code: .unauthenticated, message: "The warehouse is for people with an account. Sign in.")
            }
            return try body(&state)
        }
    }
}
