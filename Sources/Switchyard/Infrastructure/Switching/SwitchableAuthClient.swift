import Foundation

/// The auth of an ``Infrastructure``: always the chosen one.
struct SwitchableAuthClient: AuthClient {
    let board: Switchboard<any AuthClient>
    /// What is to be done before a call returns that may have ended a session.
    var ending: @Sendable () async -> Void = {}

    var provider: InfrastructureProvider { board.client.provider }
    var capabilities: AuthCapabilities { board.client.capabilities }
    var state: AuthState { get async { await board.run { client in await client.state } } }
    var wipeRequests: [WipeRequest]? { board.client.wipeRequests }
    func authStateStream() -> SnapshotStream<AuthState, Never> { board.snapshots { $0.authStateStream() } }

    func signUp(email: String, password: Secret) async throws(AuthError) -> AuthUser {
        try await board.run { client throws(AuthError) in try await client.signUp(email: email, password: password) }
    }
    func signIn(with credential: AuthCredential) async throws(AuthError) -> AuthUser {
        try await board.run { client throws(AuthError) in try await client.signIn(with: credential) }
    }
    func answer(
        _ challenge: SecondFactorChallenge, with answer: SecondFactorAnswer
    ) async throws(AuthError) -> AuthUser {
        try await board.run { client throws(AuthError) in try await client.answer(challenge, with: answer) }
    }
    func beginBrowserSignIn(
        with provider: IdentityProvider, redirectURL: URL, scopes: [String]
    ) async throws(AuthError) -> BrowserSignIn {
        try await board.run { client throws(AuthError) in
            try await client.beginBrowserSignIn(with: provider, redirectURL: redirectURL, scopes: scopes)
        }
    }
    func sendPhoneCode(to phoneNumber: String) async throws(AuthError) -> PhoneVerification {
        try await board.run { client throws(AuthError) in try await client.sendPhoneCode(to: phoneNumber) }
    }
    func sendEmailLink(to email: String, redirectURL: URL) async throws(AuthError) {
        try await board.run { client throws(AuthError) in
            try await client.sendEmailLink(to: email, redirectURL: redirectURL)
        }
    }
    func sendPasswordReset(to email: String) async throws(AuthError) {
        try await board.run { client throws(AuthError) in try await client.sendPasswordReset(to: email) }
    }
    func resetPassword(code: Secret, newPassword: Secret) async throws(AuthError) {
        try await board.run { client throws(AuthError) in
            try await client.resetPassword(code: code, newPassword: newPassword)
        }
    }
    func link(_ credential: AuthCredential) async throws(AuthError) -> AuthUser {
        try await board.run { client throws(AuthError) in try await client.link(credential) }
    }
    func unlink(_ provider: IdentityProvider) async throws(AuthError) -> AuthUser {
        try await board.run { client throws(AuthError) in try await client.unlink(provider) }
    }
    func reauthenticate(with credential: AuthCredential) async throws(AuthError) {
        try await board.run { client throws(AuthError) in try await client.reauthenticate(with: credential) }
    }
    func beginSecondFactor(_ kind: SecondFactor.Kind) async throws(AuthError) -> SecondFactorEnrollment {
        try await board.run { client throws(AuthError) in try await client.beginSecondFactor(kind) }
    }
    func confirmSecondFactor(
        _ enrollment: SecondFactorEnrollment, code: Secret, displayName: String?
    ) async throws(AuthError) -> AuthUser {
        try await board.run { client throws(AuthError) in
            try await client.confirmSecondFactor(enrollment, code: code, displayName: displayName)
        }
    }
    func removeSecondFactor(_ id: SecondFactor.ID) async throws(AuthError) -> AuthUser {
        try await board.run { client throws(AuthError) in try await client.removeSecondFactor(id) }
    }
    func updateAccount(_ changes: AccountChanges) async throws(AuthError) -> AuthUser {
        try await board.run { client throws(AuthError) in try await client.updateAccount(changes) }
    }
    func reloadUser() async throws(AuthError) -> AuthUser {
        try await board.run { client throws(AuthError) in try await client.reloadUser() }
    }
    func deleteAccount() async throws(AuthError) {
        try await board.run { client throws(AuthError) in try await client.deleteAccount() }
        await ending()
    }
    func signOut(_ scope: SignOutScope, wipesLocalData: Bool) async throws(AuthError) {
        try await board.run { client throws(AuthError) in
            try await client.signOut(scope, wipesLocalData: wipesLocalData)
        }
        await ending()
    }
    func accessToken(refreshing: Bool) async throws(AuthError) -> AccessToken {
        try await board.run { client throws(AuthError) in try await client.accessToken(refreshing: refreshing) }
    }
    func shutDown() async { await board.client.shutDown() }
    func unwrapped<Client>(as type: Client.Type) -> Client? {
        self as? Client ?? board.client.unwrapped(as: type)
    }
}
