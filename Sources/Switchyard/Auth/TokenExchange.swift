import SwitchyardBytes
import Synchronization

/// Exchanges the session of one provider for a token of another, usually by a function of your own server that checks the session
/// and may issue such tokens.
///
/// ```swift
/// let exchange = TokenExchange { session, issuer in
///     let answer = try await myServer.token(for: session.value)
///     return (Secret(answer.token), Timestamp(answer.expiresAt))
/// }
/// ```
/// The closure is called once for each session, and again shortly before its token expires or after the token was refused. The
/// other provider's own sessions are never exchanged.
public struct TokenExchange: Sendable {
    public typealias Exchange =
        @Sendable (_ session: AccessToken, _ issuer: InfrastructureProvider) async throws -> (
            token: Secret, expiresAt: Timestamp
        )

    private let exchange: Exchange

    /// - Parameter exchange: Gets the current token and its issuer. An `AuthError` that it throws reaches callers as it is; any
    ///   other error becomes `.unavailable`.
    public init(_ exchange: @escaping Exchange) { self.exchange = exchange }

    /// The source of tokens for `provider`: the auth client itself, or one that exchanges its tokens.
    package static func source(
        _ auth: (any AuthClient)?, for provider: InfrastructureProvider, _ exchange: TokenExchange?,
        now: @escaping @Sendable () -> Timestamp
    ) -> (any AuthClient)? {
        guard let auth, let exchange else { return auth }
        return ExchangedSession(auth, as: provider, exchange.exchange, now: now)
    }
}

/// A session whose tokens are exchanged for those of another provider, unless it is that provider's own. Used only for tokens and
/// states.
private final class ExchangedSession: ReadOnlyAuthClient {
    let provider: InfrastructureProvider
    let capabilities = AuthCapabilities()
    private let base: any AuthClient
    private let exchange: TokenExchange.Exchange
    private let now: @Sendable () -> Timestamp
    private let kept = Mutex<AccessToken?>(nil)
    private let flight = SingleFlight<AccessToken, AuthError>(cancellation: {
        AuthError(.cancelled, "The call was cancelled.")
    })

    /// How many seconds before its expiry a token is replaced.
    private static let margin: Int64 = 60

    init(
        _ base: any AuthClient, as provider: InfrastructureProvider, _ exchange: @escaping TokenExchange.Exchange,
        now: @escaping @Sendable () -> Timestamp
    ) {
        self.base = base
        self.provider = provider
        self.exchange = exchange
        self.now = now
    }

    var state: AuthState { get async { await base.state } }
    func authStateStream() -> SnapshotStream<AuthState, Never> { base.authStateStream() }
    var wipeRequests: [WipeRequest]? { base.wipeRequests }

    func accessToken(refreshing: Bool) async throws(AuthError) -> AccessToken {
        // Another auth client may have been chosen since the last call.
        guard base.provider != provider else { return try await base.accessToken(refreshing: refreshing) }
        let session = try await base.accessToken(refreshing: false)
        if !refreshing, let token = good(for: session) { return token }
        let token = try await flight.run { [self] () async throws(AuthError) in
            let session = try await base.accessToken(refreshing: false)
            // Another call may have fetched one in the meantime.
            if !refreshing, let token = good(for: session) { return token }
            let fresh: (token: Secret, expiresAt: Timestamp)
            do {
                fresh = try await exchange(session, base.provider)
            } catch let error as AuthError {
                throw error
            } catch is CancellationError {
                throw AuthError(.cancelled, "The call was cancelled.")
            } catch {
                throw AuthError(.unavailable, "The session could not be exchanged for a token.", underlying: error)
            }
            let token = AccessToken(value: fresh.token, expiresAt: fresh.expiresAt, userID: session.userID)
            kept.withLock { $0 = token }
            return token
        }
        // Another user may have signed in while it was fetched.
        guard token.userID == session.userID else {
            throw AuthError(.sessionChanged, "Another session replaced this one.")
        }
        return token
    }

    private func good(for session: AccessToken) -> AccessToken? {
        guard let token = kept.withLock({ $0 }), token.userID == session.userID,
            token.expiresAt.seconds - now().seconds > Self.margin
        else { return nil }
        return token
    }

    var refusal: AuthError {
        .unsupported("accounts by exchanged tokens", by: provider, instead: "Ask the chosen auth client.")
    }
}
