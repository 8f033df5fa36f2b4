import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardServerKit
import Synchronization

/// The auth service: accounts, sign-ins, tokens, and the emulator's window on what would have been sent.
package final class LocalAuth: LocalFirebaseService, LocalIdentities {
    private struct Kept: Codable {
        var key: [UInt8]
        var register: AuthRegister
    }

    private struct State {
        var register: AuthRegister
        var origin = ""
    }

    let project: String
    let seal: ServerSeal
    private let now: @Sendable () -> Timestamp
    private let folder: LocalFolder?
    private let state: Mutex<State>
    private static let file = "auth.json"

    init(_ options: LocalFirebaseOptions, folder: LocalFolder?) throws(LocalFirebaseError) {
        project = options.project
        now = options.now
        self.folder = folder
        var kept = Kept(key: ServerSeal.makeKey(), register: AuthRegister())
        if let data = try folder?.read(LocalAuth.file) {
            do { kept = try JSONDecoder().decode(Kept.self, from: data) } catch {
                throw LocalFolder.unreadable(LocalAuth.file)
            }
        }
        seal = ServerSeal(key: kept.key)
        state = Mutex(State(register: kept.register))
        try folder.map { folder throws(LocalFirebaseError) in try save(kept.register, to: folder) }
    }

    /// Where the server is, for links; known once it listens.
    func setOrigin(_ origin: String) { state.withLock { $0.origin = origin } }

    // MARK: Calls

    func call(_ fields: JSONObject, isAdmin: Bool = false) -> AuthCall {
        AuthCall(
            fields: AuthCall.camelCased(fields), isAdmin: isAdmin, now: now(), project: project,
            origin: state.withLock { $0.origin }, seal: seal)
    }

    /// Carries out one call. What it changed is in the folder before anybody hears of it.
    func perform<Answer>(
        _ body: (inout AuthRegister) throws(AuthFailure) -> Answer
    ) throws(AuthFailure) -> Answer {
        try state.withLock { state throws(AuthFailure) in
            let answer = try body(&state.register)
            guard let folder else { return answer }
            do throws(LocalFirebaseError) { try save(state.register, to: folder) } catch {
                throw AuthFailure(error.message, code: 500, status: "INTERNAL")
            }
            return answer
        }
    }

    private func save(_ register: AuthRegister, to folder: LocalFolder) throws(LocalFirebaseError) {
        guard let data = try? JSONEncoder().encode(Kept(key: seal.key, register: register)) else {
            throw LocalFolder.unreadable(LocalAuth.file)
        }
        try folder.write(data, as: LocalAuth.file)
    }

    // MARK: Tokens

    package func caller(authorization: String?) throws(LocalTokenFailure) -> LocalCaller {
        guard let authorization, !authorization.isEmpty else { return .nobody }
        let words = authorization.split(separator: " ")
        guard words.count == 2, ["bearer", "firebase"].contains(words[0].lowercased()) else { throw .invalid }
        if words[1] == "owner" { return .owner }
        guard let token = LocalIDToken(String(words[1]), seal), token.audience == project, !token.userID.isEmpty else {
            throw .invalid
        }
        // As with the vendor, a service checks the token and not the account, which may be gone for up to an hour.
        let expiries = state.withLock { $0.register.accounts[token.userID]?.expiries }
        guard token.expiresAt > now().seconds, expiries ?? token.stamp.expiries == token.stamp.expiries else {
            throw .expired
        }
        return .user(id: token.userID, claims: token.claims)
    }

    func idToken(for userID: String) -> String {
        let call = call(JSONObject())
        let account = state.withLock { $0.register.accounts[userID] }
        return AuthRegister.idToken(
            of: account ?? LocalAccount(id: userID, milliseconds: call.milliseconds),
            AuthSignIn(provider: "custom", at: call.seconds), call)
    }

    func expireTokens(of userID: String?) {
        state.withLock { state in
            for id in state.register.accounts.keys where userID == nil || userID == id {
                state.register.accounts[id]?.expiries += 1
            }
        }
    }
}
