import Switchyard
import Synchronization

/// Somebody who is signed in with tokens that a test hands out.
final class FixedAuthClient: AuthClient {
    let provider: InfrastructureProvider
    let capabilities = AuthCapabilities()
    private let token: @Sendable (_ refreshing: Bool) throws(AuthError) -> String
    private let user: @Sendable () -> AuthUser.ID?
    private let asked = Mutex<[Bool]>([])

    /// - Parameter user: `nil` while nobody is signed in.
    init(
        provider: InfrastructureProvider = "firebase",
        user: @autoclosure @escaping @Sendable () -> AuthUser.ID? = "alice",
        token: @escaping @Sendable (_ refreshing: Bool) throws(AuthError) -> String
    ) {
        self.provider = provider
        self.user = user
        self.token = token
    }

    /// For each request for a token, whether it was for a new one.
    var requests: [Bool] { asked.withLock { $0 } }

    var state: AuthState { get async { user().map { .signedIn(AuthUser(id: $0)) } ?? .signedOut(SignOut(.never)) } }
    func authStateStream() -> SnapshotStream<AuthState, Never> { SnapshotStream { _ in {} } }

    func accessToken(refreshing: Bool) async throws(AuthError) -> AccessToken {
        asked.withLock { $0.append(refreshing) }
        guard let user = user() else { throw AuthError(.notSignedIn, "Nobody is signed in.") }
        return AccessToken(value: Secret(try token(refreshing)), expiresAt: .distantFuture, userID: user)
    }

    func signUp(email: String, password: Secret) async throws(AuthError) -> SignUpResult { throw Self.refusal }
    func signIn(with credential: AuthCredential) async throws(AuthError) -> AuthUser { throw Self.refusal }
    func reauthenticate(with credential: AuthCredential) async throws(AuthError) { throw Self.refusal }
    func updateAccount(_ changes: AccountChanges) async throws(AuthError) -> AuthUser { throw Self.refusal }
    func reloadUser() async throws(AuthError) -> AuthUser { throw Self.refusal }
    func signOut(_ scope: SignOutScope, wipesLocalData: Bool) async throws(AuthError) { throw Self.refusal }

    private static let refusal = AuthError(.unsupported, "Nobody signs in here.")
}
