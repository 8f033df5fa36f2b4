public import Switchyard
import SwitchyardBytes
import SwitchyardProviderKit

/// Proving anew who is signed in. It never creates an account.
extension FirebaseAuthAdapter {
    public func reauthenticate(with credential: AuthCredential) async throws(AuthError) {
        let session = try await engine.present()
        try await uninterrupted { [self] () async throws(AuthError) in
            try await checkIsOfAccount(credential, in: session)
            let grant = try await proof(credential, of: session.user)
            // The new tokens are the proof: they contain the time of the sign-in.
            try await engine.update(session.user, tokens: grant.tokens, in: session)
            let user: AuthUser
            do throws(FirebaseAuthFailure) {
                user = try await account(of: grant, known: session.user)
            } catch {
                throw await ending(session, error)
            }
            try await engine.update(user, in: session)
        }
    }

    private func proof(_ credential: AuthCredential, of user: AuthUser) async throws(AuthError) -> FirebaseGrant {
        do throws(FirebaseAuthFailure) {
            let request = try FirebaseSignInRequest(credential, for: .reauthenticate)
            let answer = try await service.post(request.path, request.body)
            let grant = try FirebaseGrant(signIn: answer, at: now())
            guard grant.claims.userID == user.id else {
                // A server that does not know the purpose of the call may have made an account.
                if answer["isNewUser"]?.bool == true { await service.delete(grant) }
                throw .own(.otherAccount)
            }
            return grant
        } catch {
            throw FirebaseAuthAdapter.error(error, credential)
        }
    }

    /// Refuses another account's credential before the server is asked, where the call would make an account for it. The
    /// other calls can be told not to.
    private func checkIsOfAccount(_ credential: AuthCredential, in session: AuthSession) async throws(AuthError) {
        let isOf: @Sendable (AuthUser) -> Bool
        switch credential.kind {
        case .emailLink(let email, _): isOf = { $0.email?.lowercased() == email.lowercased() }
        case .customToken(let token): isOf = { $0.id == FirebaseIDToken.user(ofCustomToken: token) }
        case .anonymous, .password, .identityToken, .browser, .phoneCode: return
        }
        let (_, user) = try await onSession(of: session.id) { service, token throws(FirebaseAuthFailure) in
            try await service.account(token)
        }
        guard isOf(user) else { throw .otherAccount }
    }
}

extension FirebaseAuthService {
    /// Deletes the account of `grant`, which this call has just made, if possible.
    fileprivate func delete(_ grant: FirebaseGrant) async {
        _ = try? await post("/v1/accounts:delete", ["idToken": .string(grant.tokens.access.reveal())])
    }
}
