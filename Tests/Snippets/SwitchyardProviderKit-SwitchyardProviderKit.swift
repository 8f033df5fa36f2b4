struct AcmeAccounts: Sendable {
    func refresh(_ token: Secret) async throws(AuthError) -> SessionTokens {
        SessionTokens(refresh: token, access: token, issuedAt: Timestamp(Date()), lifetime: .seconds(3600))
    }
    func signIn(_ email: String, _ password: Secret) async throws(AuthError) -> (AuthUser, SessionTokens) {
        (AuthUser(id: email), try await refresh(password))
    }
}
