import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardServerKit
import Synchronization

/// The auth service: accounts, sign-ins, tokens, and the emulator's view of messages that would have been sent.
package final class LocalAuth: LocalFirebaseService, LocalIdentities {
    private struct SavedState: Codable {
        var key: [UInt8]
        /// The key that signs tokens, if they are signed.
        var tokenKey: RSAPrivateKey?
        /// The accounts of the project that the server is for.
        var register: AccountDatabase
        /// The accounts of other projects, by the project's name; `nil` in a folder of an earlier version.
        var others: [String: AccountDatabase]?

        enum CodingKeys: String, CodingKey {
            case key, register, others
            // Under another name were keys that this package had made by itself. A new one takes their place.
            case tokenKey = "signingKey"
        }
    }

    private struct State {
        /// By project; every project exists, and is initially empty.
        var databases: [String: AccountDatabase]
        var origin = ""
    }

    let project: String
    let seal: ServerSigningKey
    let signer: LocalTokenSigner
    /// The claims of every new account, as JSON text.
    private let claims: String?
    private let tokenKey: RSAPrivateKey?
    private let now: @Sendable () -> Timestamp
    private let folder: LocalFolder?
    private let state: Mutex<State>
    private static let file = "auth.json"

    init(_ options: LocalFirebaseOptions, folder: LocalFolder?) throws(LocalFirebaseError) {
        project = options.project
        now = options.now
        self.folder = folder
        var saved = SavedState(key: ServerSigningKey.makeKey(), register: AccountDatabase())
        if let data = try folder?.read(LocalAuth.file) {
            do { saved = try JSONDecoder().decode(SavedState.self, from: data) } catch {
                throw LocalFolder.unreadable(LocalAuth.file)
            }
        }
        if options.signsTokens, saved.tokenKey == nil {
            guard let key = options.tokenKey ?? RSAPrivateKey() else {
                throw LocalFirebaseError(
                    "Signing tokens requires OpenSSL's libcrypto. Install the package libssl3 or libssl1.1, or leave tokens "
                        + "unsigned.")
            }
            saved.tokenKey = key
        }
        seal = ServerSigningKey(key: saved.key)
        tokenKey = saved.tokenKey
        signer = options.signsTokens ? saved.tokenKey.map { .signed($0) } ?? .unsigned : .unsigned
        claims =
            options.claims.isEmpty
            ? nil
            : JSON.object(
                JSONObject(
                    options.claims.sorted { $0.key < $1.key }.map { (key: $0.key, value: JSON.string($0.value)) })
            ).text()
        var databases = saved.others ?? [:]
        databases[options.project] = saved.register
        let all = databases
        state = Mutex(State(databases: databases))
        try folder.map { folder throws(LocalFirebaseError) in try save(all, to: folder) }
    }

    /// Sets the server's address for links, known once it listens.
    func setOrigin(_ origin: String) { state.withLock { $0.origin = origin } }

    /// The mails and text messages.
    let sent = SentMessages()

    // MARK: Calls

    /// - Parameter project: `nil` for the server's own, to which clients with a key belong.
    func call(_ fields: JSONObject, project: String? = nil, isAdmin: Bool = false) -> AuthCall {
        AuthCall(
            fields: AuthCall.camelCased(fields), isAdmin: isAdmin, now: now(), project: project ?? self.project,
            origin: state.withLock { $0.origin }, seal: seal, signer: signer, claims: claims)
    }

    /// Makes one call. Its changes are saved before it is answered.
    func perform<Answer>(
        in project: String? = nil, _ body: (inout AccountDatabase) throws(AuthFailure) -> Answer
    ) throws(AuthFailure) -> Answer {
        try state.withLock { state throws(AuthFailure) in
            let answer = try body(&state.databases[project ?? self.project, default: AccountDatabase()])
            for message in state.databases[project ?? self.project]?.news ?? [] { sent.add(message) }
            state.databases[project ?? self.project]?.news = nil
            guard let folder else { return answer }
            do throws(LocalFirebaseError) { try save(state.databases, to: folder) } catch {
                throw AuthFailure(error.message, code: 500, status: "INTERNAL")
            }
            return answer
        }
    }

    private func save(_ databases: [String: AccountDatabase], to folder: LocalFolder) throws(LocalFirebaseError) {
        var others = databases
        let own = others.removeValue(forKey: project) ?? AccountDatabase()
        guard
            let data = try? JSONEncoder().encode(
                SavedState(key: seal.key, tokenKey: tokenKey, register: own, others: others))
        else {
            throw LocalFolder.unreadable(LocalAuth.file)
        }
        try folder.write(data, as: LocalAuth.file)
    }

    // MARK: Tokens

    /// The caller of a request for the server's own project.
    package func caller(authorization: String?) throws(LocalTokenFailure) -> LocalCaller {
        try caller(authorization: authorization, projects: [project])
    }

    package func caller(
        authorization: String?, projects: [String]
    ) throws(LocalTokenFailure) -> LocalCaller {
        guard let authorization, !authorization.isEmpty else { return .unauthenticated }
        let words = authorization.split(separator: " ")
        guard words.count == 2, ["bearer", "firebase"].contains(words[0].lowercased()) else { throw .invalid }
        if words[1] == "owner" { return .owner }
        guard let token = LocalIDToken(String(words[1]), signer), !token.userID.isEmpty else { throw .invalid }
        guard let project = projects.first(where: { token.belongs(to: $0) }) else {
            guard let other = token.project, !projects.contains(other) else { throw .invalid }
            throw .otherProject(other)
        }
        // As with the vendor, a service checks the token but not the account, which may have been deleted up to an hour ago.
        let expiries = state.withLock { $0.databases[project]?.expiries(of: token.userID) ?? 0 }
        let isGivenUp = token.stamp.map { $0.expiries != expiries } ?? false
        guard !token.isExpired(at: now().seconds), !isGivenUp else { throw .expired }
        return .user(id: token.userID, claims: token.claims)
    }

    func idToken(
        for userID: String, claims extra: JSONObject = JSONObject(), factor: String? = nil
    ) -> String {
        let call = call(JSONObject())
        var account = LocalAccount(id: userID, milliseconds: call.milliseconds)
        account.customAttributes = claims
        let register = state.withLock { $0.databases[project] ?? AccountDatabase() }
        if let known = register.accounts[userID] { account = known }
        var signIn = AuthSignIn(provider: "custom", at: call.seconds)
        signIn.claims = extra
        signIn.factor = factor.map { ($0, "factor") }
        return register.idToken(of: account, signIn, call)
    }

    func expireTokens(of userID: String?) {
        state.withLock { state in
            state.databases[project, default: AccountDatabase()].expireTokens(of: userID)
            if let folder { try? save(state.databases, to: folder) }
        }
    }
}
