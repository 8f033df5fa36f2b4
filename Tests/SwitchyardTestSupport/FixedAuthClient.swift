package import Switchyard
package import SwitchyardBytes
import Synchronization

/// Somebody who is signed in with tokens that a test hands out.
package final class FixedAuthClient: ReadOnlyAuthClient {
    package let provider: InfrastructureProvider
    package let capabilities = AuthCapabilities()
    private let token: @Sendable (_ refreshing: Bool) throws(AuthError) -> String
    private let user: @Sendable () -> AuthUser.ID?
    private let asked = Mutex<[Bool]>([])

    /// - Parameter user: `nil` while no user is signed in.
    package init(
        provider: InfrastructureProvider = "elsewhere",
        user: @autoclosure @escaping @Sendable () -> AuthUser.ID? = "alice",
        token: @escaping @Sendable (_ refreshing: Bool) throws(AuthError) -> String
    ) {
        self.provider = provider
        self.user = user
        self.token = token
    }

    /// For each request for a token, whether it was for a new one.
    package var requests: [Bool] { asked.withLock { $0 } }

    package var state: AuthState {
        get async { user().map { .signedIn(AuthUser(id: $0)) } ?? .signedOut(SignOut(.never)) }
    }
    package func authStateStream() -> SnapshotStream<AuthState, Never> { SnapshotStream { _ in {} } }

    package func accessToken(refreshing: Bool) async throws(AuthError) -> AccessToken {
        asked.withLock { $0.append(refreshing) }
        guard let user = user() else { throw AuthError(.notSignedIn, "No user is signed in.") }
        return AccessToken(value: Secret(try token(refreshing)), expiresAt: .distantFuture, userID: user)
    }

    /// With a session that a Supabase project takes.
    package static func signedIn(_ user: AuthUser.ID) -> FixedAuthClient {
        FixedAuthClient(user: user) { _ in token(["sub": .string(user), "role": "authenticated"]) }
    }

    /// A token with these claims, signed by no one.
    package static func token(_ claims: JSON) -> String {
        "e30." + Base64.encode(claims.bytes(), alphabet: .url) + ".c2ln"
    }
}
