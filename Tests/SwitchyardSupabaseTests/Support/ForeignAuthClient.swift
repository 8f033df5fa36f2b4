import Switchyard
import SwitchyardBytes
import Synchronization

/// Somebody signed in at another provider, with tokens that a test hands out.
final class ForeignAuthClient: AuthClient {
    let provider: InfrastructureProvider
    let capabilities = AuthCapabilities()
    private let token: @Sendable (_ refreshing: Bool) throws(AuthError) -> String
    private let asked = Mutex<[Bool]>([])
    private let user: AuthUser.ID

    init(
        provider: InfrastructureProvider = "elsewhere", user: AuthUser.ID = "alice",
        token: @escaping @Sendable (_ refreshing: Bool) throws(AuthError) -> String
    ) {
        self.provider = provider
        self.user = user
        self.token = token
    }

    /// For each request for a token, whether it was for a new one.
    var requests: [Bool] { asked.withLock { $0 } }

    var state: AuthState { get async { .signedIn(AuthUser(id: user)) } }
    func authStateStream() -> SnapshotStream<AuthState, Never> { SnapshotStream { _ in {} } }

    func accessToken(refreshing: Bool) async throws(AuthError) -> AccessToken {
        asked.withLock { $0.append(refreshing) }
        return AccessToken(value: Secret(try token(refreshing)), expiresAt: .distantFuture, userID: user)
    }

    func signUp(email: String, password: Secret) async throws(AuthError) -> SignUpResult { throw Self.refusal }
    func signIn(with credential: AuthCredential) async throws(AuthError) -> AuthUser { throw Self.refusal }
    func reauthenticate(with credential: AuthCredential) async throws(AuthError) { throw Self.refusal }
    func updateAccount(_ changes: AccountChanges) async throws(AuthError) -> AuthUser { throw Self.refusal }
    func reloadUser() async throws(AuthError) -> AuthUser { throw Self.refusal }
    func signOut(_ scope: SignOutScope, wipesLocalData: Bool) async throws(AuthError) { throw Self.refusal }

    private static let refusal = AuthError(.unsupported, "Nobody signs in here.")

    /// With a session that a project takes.
    static func signedIn(_ user: AuthUser.ID) -> ForeignAuthClient {
        ForeignAuthClient(user: user) { _ in token(["sub": .string(user), "role": "authenticated"]) }
    }

    /// A token with these claims, signed by nobody.
    static func token(_ claims: JSON) -> String {
        "e30." + Base64.encode(claims.bytes(), alphabet: .url) + ".c2ln"
    }
}
