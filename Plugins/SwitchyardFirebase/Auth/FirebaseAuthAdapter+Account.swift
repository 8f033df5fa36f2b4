import Foundation
public import Switchyard
import SwitchyardBytes
import SwitchyardProviderKit

/// Changes to the account of the signed-in user.
extension FirebaseAuthAdapter {
    @discardableResult
    public func link(_ credential: AuthCredential) async throws(AuthError) -> AuthUser {
        try await change { service, token throws(FirebaseAuthFailure) in
            let request = try FirebaseSignInRequest(credential, for: .link(token))
            let answer: JSON
            do throws(FirebaseAuthFailure) {
                answer = try await service.post(request.path, request.body)
            } catch {
                // Here the error is about the address of the credential, as in a sign-in.
                guard error.code == "INVALID_EMAIL" else { throw error }
                throw .own(FirebaseAuthAdapter.error(error, credential))
            }
            _ = try FirebaseGrant(signIn: answer, at: service.now())
            return answer
        }
    }

    @discardableResult
    public func unlink(_ provider: IdentityProvider) async throws(AuthError) -> AuthUser {
        // The server calls both sign-in methods with an address “password”.
        let name = provider == .emailLink ? IdentityProvider.password.rawValue : provider.rawValue
        let session = try await engine.present()
        guard session.user.identities.contains(provider) else {
            throw AuthError(.invalidArgument, "The account has no identity of “\(provider)”.")
        }
        return try await change { service, token throws(FirebaseAuthFailure) in
            try await service.post(
                "/v1/accounts:update",
                [
                    "idToken": .string(token.reveal()), "deleteProvider": [.string(name)], "returnSecureToken": true,
                ])
        }
    }

    public func reauthenticate(with credential: AuthCredential) async throws(AuthError) {
        let session = try await engine.present()
        try await uninterrupted { [self] () async throws(AuthError) in
            let grant: FirebaseGrant
            let user: AuthUser
            do throws(FirebaseAuthFailure) {
                let request = try FirebaseSignInRequest(credential, for: .reauthenticate)
                grant = try FirebaseGrant(signIn: try await service.post(request.path, request.body), at: now())
                guard grant.claims.userID == session.user.id else { throw .refused("INVALID_LOGIN_CREDENTIALS") }
                user = try await account(of: grant, known: session.user)
            } catch {
                throw FirebaseAuthAdapter.error(error, credential)
            }
            // The new tokens are the proof: they contain the time of the sign-in.
            try await engine.update(user, tokens: grant.tokens, in: session)
        }
    }

    @discardableResult
    public func updateAccount(_ changes: AccountChanges) async throws(AuthError) -> AuthUser {
        guard changes != AccountChanges() else { return try await reloadUser() }
        return try await change { service, token throws(FirebaseAuthFailure) in
            let body = FirebaseAuthAdapter.body(changes)
            do throws(FirebaseAuthFailure) {
                return try await service.update(body, token)
            } catch {
                guard let email = changes.email,
                    error.code == "OPERATION_NOT_ALLOWED" || error.code == "EMAIL_CHANGE_NEEDS_VERIFICATION"
                else { throw error }
                // The project requires the new address to be confirmed: send an email for that, and apply everything else now.
                var rest = body
                rest["email"] = nil
                var answer: JSON = [:]
                if !rest.members.isEmpty { answer = try await service.update(rest, token) }
                let fresh = FirebaseGrant(optional: answer, at: service.now())?.tokens.access ?? token
                _ = try await service.post(
                    "/v1/accounts:sendOobCode",
                    [
                        "requestType": "VERIFY_AND_CHANGE_EMAIL", "idToken": .string(fresh.reveal()),
                        "newEmail": .string(email),
                    ])
                return answer
            }
        }
    }

    /// Empty text clears a value; `null` would be ignored.
    private static func body(_ changes: AccountChanges) -> JSONObject {
        var body: JSONObject = [:]
        var cleared: [JSON] = []
        if let name = changes.displayName {
            if name.isEmpty { cleared.append("DISPLAY_NAME") } else { body["displayName"] = .string(name) }
        }
        if let url = changes.photoURL { body["photoUrl"] = .string(url.absoluteString) }
        if let email = changes.email { body["email"] = .string(email) }
        if let password = changes.password { body["password"] = .string(password.reveal()) }
        if !cleared.isEmpty { body["deleteAttribute"] = .array(cleared) }
        return body
    }

    /// Sends the email that confirms the address of the signed-in user. Nothing depends on it, since signing up also signs in.
    public func resendConfirmation(to email: String) async throws(AuthError) {
        _ = try await onSession { service, token throws(FirebaseAuthFailure) in
            let answer = try await service.post("/v1/accounts:lookup", ["idToken": .string(token.reveal())])
            guard let user = AuthUser(firebase: answer, FirebaseIDToken(token.reveal())) else {
                throw FirebaseAuthFailure.unreadable
            }
            // Reveal nothing about other addresses.
            guard user.email?.lowercased() == email.lowercased(), !user.isEmailVerified else { return }
            _ = try await service.post(
                "/v1/accounts:sendOobCode", ["requestType": "VERIFY_EMAIL", "idToken": .string(token.reveal())])
        }
    }

    @discardableResult
    public func reloadUser() async throws(AuthError) -> AuthUser {
        let (session, user) = try await onSession { service, token throws(FirebaseAuthFailure) in
            let answer = try await service.post("/v1/accounts:lookup", ["idToken": .string(token.reveal())])
            guard let user = AuthUser(firebase: answer, FirebaseIDToken(token.reveal())) else {
                throw FirebaseAuthFailure.unreadable
            }
            return user
        }
        try await engine.update(user, in: session)
        return user
    }

    public func deleteAccount() async throws(AuthError) {
        try await uninterrupted { [self] () async throws(AuthError) in
            let (session, _) = try await onSession { service, token throws(FirebaseAuthFailure) in
                try await service.post("/v1/accounts:delete", ["idToken": .string(token.reveal())])
            }
            try await engine.end(SignOut(.accountDeleted, wipesLocalData: true), session)
        }
    }

    // MARK: Calls

    /// Makes a call that changes the account, and may return new tokens. It continues if the caller is cancelled, since the old
    /// tokens may be invalid by then.
    func change(
        _ body: @escaping @Sendable (FirebaseAuthService, Secret) async throws(FirebaseAuthFailure) -> JSON
    ) async throws(AuthError) -> AuthUser {
        try await uninterrupted { [self] () async throws(AuthError) in
            let (session, answer) = try await onSession(body)
            let grant = FirebaseGrant(optional: answer, at: now())
            if let grant {
                // First of all, so that no later failure can lose the new tokens.
                try await engine.update(session.user, tokens: grant.tokens, in: session)
            }
            let known = session.user.updated(firebase: answer)
            let user: AuthUser
            do throws(FirebaseAuthFailure) {
                if let grant {
                    user = try await account(of: grant, known: known)
                } else {
                    user = try await account(of: session, known: known)
                }
            } catch {
                throw await ending(session, error)
            }
            try await engine.update(user, in: session)
            return user
        }
    }

    /// The account as stored on the server, after a change that returned no new tokens; `known` if the server does not answer.
    private func account(of session: AuthSession, known: AuthUser) async throws(FirebaseAuthFailure) -> AuthUser {
        guard let token = try? await engine.accessToken(of: session).value else { return known }
        do throws(FirebaseAuthFailure) {
            let answer = try await service.post("/v1/accounts:lookup", ["idToken": .string(token.reveal())])
            return AuthUser(firebase: answer, FirebaseIDToken(token.reveal())) ?? known
        } catch {
            guard error.code == nil else { throw error }
            return known
        }
    }

    /// Makes a call with the token of the current session. If the server refuses the token, the call is repeated once with a
    /// new one.
    func onSession<Answer: Sendable>(
        _ body: @Sendable (FirebaseAuthService, Secret) async throws(FirebaseAuthFailure) -> Answer
    ) async throws(AuthError) -> (AuthSession, Answer) {
        let session = try await engine.present()
        let token = try await engine.accessToken(of: session)
        do throws(FirebaseAuthFailure) {
            return (session, try await body(service, token.value))
        } catch {
            guard error.code == "TOKEN_EXPIRED" || error.code == "INVALID_ID_TOKEN" else {
                throw await ending(session, error)
            }
        }
        let fresh = try await engine.accessToken(of: session, refreshing: true)
        do throws(FirebaseAuthFailure) {
            return (session, try await body(service, fresh.value))
        } catch {
            throw await ending(session, error)
        }
    }

    /// The error for a refused call. Ends the session if the refusal means that it is over.
    private func ending(_ session: AuthSession, _ failure: FirebaseAuthFailure) async -> AuthError {
        switch failure.code {
        case "USER_NOT_FOUND", "USER_DISABLED": try? await engine.end(SignOut(.byServer), session)
        case "TOKEN_EXPIRED", "INVALID_ID_TOKEN":
            if let present = try? await engine.present(session.id) { await engine.refused(present) }
        default: break
        }
        return AuthError(failure, in: .account)
    }
}

extension FirebaseAuthService {
    func update(_ changes: JSONObject, _ token: Secret) async throws(FirebaseAuthFailure) -> JSON {
        var body = changes
        body["idToken"] = .string(token.reveal())
        body["returnSecureToken"] = true
        return try await post("/v1/accounts:update", body)
    }
}
