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
            return Change(answer)
        }
    }

    @discardableResult
    public func unlink(_ provider: IdentityProvider) async throws(AuthError) -> AuthUser {
        // The server calls both sign-in methods with an address “password”.
        let name = provider == .emailLink ? IdentityProvider.password.rawValue : provider.rawValue
        let session = try await engine.currentSession()
        guard session.user.identities.contains(provider) else {
            throw AuthError(.invalidArgument, "The account has no identity of “\(provider)”.")
        }
        return try await change { service, token throws(FirebaseAuthFailure) in
            Change(try await service.update(["deleteProvider": [.string(name)]], token))
        }
    }

    @discardableResult
    public func updateAccount(_ changes: AccountChanges) async throws(AuthError) -> AuthUser {
        guard changes != AccountChanges() else { return try await reloadUser() }
        return try await change { service, token throws(FirebaseAuthFailure) in
            let body = FirebaseAuthAdapter.body(changes)
            do throws(FirebaseAuthFailure) {
                return Change(try await service.update(body, token))
            } catch {
                guard let email = changes.email,
                    error.code == "OPERATION_NOT_ALLOWED" || error.code == "EMAIL_CHANGE_NEEDS_VERIFICATION"
                else { throw error }
                // The project requires the new address to be confirmed: send an email for that, and apply everything else now.
                var rest = body
                rest["email"] = nil
                guard !rest.members.isEmpty else {
                    try await service.sendConfirmation(ofNewAddress: email, token)
                    return Change([:])
                }
                return Change(try await service.update(rest, token)) { service, token throws(FirebaseAuthFailure) in
                    do throws(FirebaseAuthFailure) {
                        try await service.sendConfirmation(ofNewAddress: email, token)
                    } catch {
                        guard !error.isAboutToken else { throw error }
                        let reason = AuthError(error, in: .account)
                        throw .own(
                            reason.saying(
                                "The account was changed except for its email address: the email that confirms the new one was not "
                                    + "sent. Change the address again. \(reason.message)"))
                    }
                }
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

    /// Sends the email that confirms the signed-in user's address. Signing in does not depend on it: signing up signs in.
    public func resendConfirmation(to email: String) async throws(AuthError) {
        _ = try await onSession { service, token throws(FirebaseAuthFailure) in
            let user = try await service.account(token)
            // Reveal nothing about other addresses.
            guard user.email?.lowercased() == email.lowercased(), !user.isEmailVerified else { return }
            _ = try await service.post(
                "/v1/accounts:sendOobCode", ["requestType": "VERIFY_EMAIL", "idToken": .string(token.reveal())])
        }
    }

    @discardableResult
    public func reloadUser() async throws(AuthError) -> AuthUser {
        let (session, user) = try await onSession { service, token throws(FirebaseAuthFailure) in
            try await service.account(token)
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
}

extension FirebaseAuthService {
    /// The account's server-side state.
    func account(_ token: Secret) async throws(FirebaseAuthFailure) -> AuthUser {
        let answer = try await post("/v1/accounts:lookup", ["idToken": .string(token.reveal())])
        guard let user = AuthUser(firebase: answer, FirebaseIDToken(token.reveal())) else { throw .unreadable }
        return user
    }

    func update(_ changes: JSONObject, _ token: Secret) async throws(FirebaseAuthFailure) -> JSON {
        var body = changes
        body["idToken"] = .string(token.reveal())
        body["returnSecureToken"] = true
        return try await post("/v1/accounts:update", body)
    }

    /// Sends the email that makes `email` the account's address when its link is opened.
    fileprivate func sendConfirmation(ofNewAddress email: String, _ token: Secret) async throws(FirebaseAuthFailure) {
        _ = try await post(
            "/v1/accounts:sendOobCode",
            [
                "requestType": "VERIFY_AND_CHANGE_EMAIL", "idToken": .string(token.reveal()),
                "newEmail": .string(email),
            ])
    }
}
