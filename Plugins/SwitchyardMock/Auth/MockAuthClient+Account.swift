public import Switchyard
import SwitchyardProviderKit

/// Changes to the account of the signed-in user.
extension MockAuthClient {
    @discardableResult
    public func link(_ credential: AuthCredential) async throws(AuthError) -> AuthUser {
        try require(\.linking, "linking")
        try check(credential)
        return try await change(.link, credential.name) { (server, token) throws(AuthError) in
            try server.link(token, credential)
        }
    }

    @discardableResult
    public func unlink(_ provider: IdentityProvider) async throws(AuthError) -> AuthUser {
        try require(\.linking, "linking")
        return try await change(.unlink, provider.rawValue) { (server, token) throws(AuthError) in
            try server.unlink(token, provider)
        }
    }

    public func reauthenticate(with credential: AuthCredential) async throws(AuthError) {
        try check(credential)
        try await onSession(.reauthenticate, credential.name) { (server, token) throws(AuthError) in
            try server.reauthenticate(token, credential)
        }
    }

    public func beginSecondFactor(_ kind: SecondFactor.Kind) async throws(AuthError) -> SecondFactorEnrollment {
        try require(\.secondFactors, "second factors")
        let session = try await engine.currentSession()
        if let scripted = try await controls.enter(.beginSecondFactor, kind.rawValue, needsNetwork: true) {
            return scripted
        }
        let enrollment = try await answer(session) { (server, token) throws(AuthError) in
            try server.beginSecondFactor(token, kind)
        }
        try controls.leave()
        return enrollment
    }

    @discardableResult
    public func confirmSecondFactor(
        _ enrollment: SecondFactorEnrollment, code: Secret, displayName: String?
    ) async throws(AuthError) -> AuthUser {
        try require(\.secondFactors, "second factors")
        return try await change(.confirmSecondFactor) { (server, token) throws(AuthError) in
            try server.confirmSecondFactor(token, enrollment, code, displayName)
        }
    }

    @discardableResult
    public func removeSecondFactor(_ id: SecondFactor.ID) async throws(AuthError) -> AuthUser {
        try require(\.secondFactors, "second factors")
        return try await change(.removeSecondFactor) { (server, token) throws(AuthError) in
            try server.removeSecondFactor(token, id)
        }
    }

    @discardableResult
    public func updateAccount(_ changes: AccountChanges) async throws(AuthError) -> AuthUser {
        try await change(.updateAccount) { (server, token) throws(AuthError) in try server.update(token, changes) }
    }

    @discardableResult
    public func reloadUser() async throws(AuthError) -> AuthUser {
        try await change(.reloadUser) { (server, token) throws(AuthError) in try server.user(token) }
    }

    public func deleteAccount() async throws(AuthError) {
        try require(\.accountDeletion, "deleting accounts")
        let session = try await onSession(.deleteAccount) { (server, token) throws(AuthError) in
            try server.delete(token)
        }
        try await engine.end(SignOut(.accountDeleted, wipesLocalData: true), session)
    }

    /// Changes the account, and the user known to this device.
    private func change(
        _ operation: MockOperation<AuthUser, AuthError>, _ subject: String = "",
        _ body: (MockAccounts, String) throws(AuthError) -> AuthUser
    ) async throws(AuthError) -> AuthUser {
        let session = try await engine.currentSession()
        if let user = try await controls.enter(operation, subject, needsNetwork: true) { return user }
        let user = try await answer(session, body)
        try controls.leave()
        try await engine.update(user, in: session)
        return user
    }

    @discardableResult
    private func onSession(
        _ operation: MockOperation<Bool, AuthError>, _ subject: String = "",
        _ body: (MockAccounts, String) throws(AuthError) -> Void
    ) async throws(AuthError) -> AuthSession {
        let session = try await engine.currentSession()
        if try await controls.enter(operation, subject, needsNetwork: true) == nil { try await answer(session, body) }
        try controls.leave()
        return session
    }

    /// The server's answer. Ends the session on this device if it is over.
    private func answer<Answer>(
        _ session: AuthSession, _ body: (MockAccounts, String) throws(AuthError) -> Answer
    ) async throws(AuthError) -> Answer {
        let current = try await engine.currentSession(session.id)
        guard let token = current.tokens?.refresh else { throw .sessionOver }
        do throws(AuthError) {
            return try body(server, token.reveal())
        } catch {
            switch error.code {
            case .sessionExpired: await engine.refused(current)
            case .userDisabled: try? await engine.end(SignOut(.byServer), current)
            default: break
            }
            throw error
        }
    }
}
