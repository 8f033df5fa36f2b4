import Switchyard
import SwitchyardBytes
import SwitchyardProviderKit

/// Calls for the signed-in user.
extension FirebaseAuthAdapter {
    /// What the server answered to a change.
    struct Change: Sendable {
        typealias Afterwards = @Sendable (FirebaseAuthService, Secret) async throws(FirebaseAuthFailure) -> Void
        let answer: JSON
        /// What is left to do once the answer's tokens are stored.
        let afterwards: Afterwards?

        init(_ answer: JSON, afterwards: Afterwards? = nil) {
            self.answer = answer
            self.afterwards = afterwards
        }
    }

    /// Makes a call that changes the account, and may return new tokens. It continues if the caller is cancelled, since the old
    /// tokens may be invalid by then.
    func change(
        _ body: @escaping @Sendable (FirebaseAuthService, Secret) async throws(FirebaseAuthFailure) -> Change
    ) async throws(AuthError) -> AuthUser {
        try await uninterrupted { [self] () async throws(AuthError) in
            let (session, change) = try await onSession(body)
            let grant = FirebaseGrant(optional: change.answer, at: now())
            let known = session.user.updated(firebase: change.answer)
            // First of all, so that no later failure can lose the new tokens.
            if let grant { try await engine.update(session.user, tokens: grant.tokens, in: session) }
            if let afterwards = change.afterwards {
                try await engine.update(known, in: session)
                _ = try await onSession(of: session.id, afterwards)
            }
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
            guard !error.endsSession else { throw error }
            return known
        }
    }

    /// Makes a call with the token of the current session. If the server refuses the token, the call is repeated once with a
    /// new one.
    ///
    /// - Parameter id: The session that it has to be, if the caller is bound to one.
    func onSession<Answer: Sendable>(
        of id: String? = nil,
        _ body: @Sendable (FirebaseAuthService, Secret) async throws(FirebaseAuthFailure) -> Answer
    ) async throws(AuthError) -> (AuthSession, Answer) {
        let session = try await engine.present(id)
        let token = try await engine.accessToken(of: session)
        do throws(FirebaseAuthFailure) {
            return (session, try await body(service, token.value))
        } catch {
            guard error.isAboutToken else { throw await ending(session, error) }
        }
        let fresh = try await engine.accessToken(of: session, refreshing: true)
        do throws(FirebaseAuthFailure) {
            return (session, try await body(service, fresh.value))
        } catch {
            throw await ending(session, error)
        }
    }

    /// The error for a refused call. Ends the session if the refusal means that it is over.
    func ending(_ session: AuthSession, _ failure: FirebaseAuthFailure) async -> AuthError {
        switch failure.code {
        case "USER_NOT_FOUND", "USER_DISABLED": try? await engine.end(SignOut(.byServer), session)
        case "TOKEN_EXPIRED", "INVALID_ID_TOKEN":
            if let present = try? await engine.present(session.id) { await engine.refused(present) }
        default: break
        }
        return AuthError(failure, in: .account)
    }
}
