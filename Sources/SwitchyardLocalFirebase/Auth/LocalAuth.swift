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
        var register: AccountDatabase

        enum CodingKeys: String, CodingKey {
            case key, register
            // Under another name were keys that this package had made by itself. A new one takes their place.
            case tokenKey = "signingKey"
        }
    }

    private struct State {
        var register: AccountDatabase
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
        state = Mutex(State(register: saved.register))
        try folder.map { folder throws(LocalFirebaseError) in try save(saved.register, to: folder) }
    }

    /// Sets the server's address for links, known once it listens.
    func setOrigin(_ origin: String) { state.withLock { $0.origin = origin } }

    // MARK: Calls

    func call(_ fields: JSONObject, isAdmin: Bool = false) -> AuthCall {
        AuthCall(
            fields: AuthCall.camelCased(fields), isAdmin: isAdmin, now: now(), project: project,
            origin: state.withLock { $0.origin }, seal: seal, signer: signer, claims: claims)
    }

    /// Makes one call. Its changes are saved before it is answered.
    func perform<Answer>(
        _ body: (inout AccountDatabase) throws(AuthFailure) -> Answer
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

    private func save(_ register: AccountDatabase, to folder: LocalFolder) throws(LocalFirebaseError) {
        guard let data = try? JSONEncoder().encode(SavedState(key: seal.key, tokenKey: tokenKey, register: register))
        else {
            throw LocalFolder.unreadable(LocalAuth.file)
        }
        try folder.write(data, as: LocalAuth.file)
    }

    // MARK: Tokens

    package func caller(authorization: String?) throws(LocalTokenFailure) -> LocalCaller {
        guard let authorization, !authorization.isEmpty else { return .unauthenticated }
        let words = authorization.split(separator: " ")
        guard words.count == 2, ["bearer", "firebase"].contains(words[0].lowercased()) else { throw .invalid }
        if words[1] == "owner" { return .owner }
        guard let token = LocalIDToken(String(words[1]), signer), !token.userID.isEmpty else { throw .invalid }
        guard token.belongs(to: project) else {
            guard let other = token.project, other != project else { throw .invalid }
            throw .otherProject(other)
        }
        // As with the vendor, a service checks the token but not the account, which may have been deleted up to an hour ago.
        let expiries = state.withLock { $0.register.expiries(of: token.userID) }
        let isGivenUp = token.stamp.map { $0.expiries != expiries } ?? false
        guard !token.isExpired(at: now().seconds), !isGivenUp else { throw .expired }
        return .user(id: token.userID, claims: token.claims)
    }

    func idToken(for userID: String) -> String {
        let call = call(JSONObject())
        var account = LocalAccount(id: userID, milliseconds: call.milliseconds)
        account.customAttributes = claims
        let register = state.withLock { $0.register }
        if let known = register.accounts[userID] { account = known }
        return register.idToken(of: account, AuthSignIn(provider: "custom", at: call.seconds), call)
    }

    func expireTokens(of userID: String?) {
        state.withLock { state in
            state.register.expireTokens(of: userID)
            if let folder { try? save(state.register, to: folder) }
        }
    }
}
