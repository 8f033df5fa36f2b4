import SwitchyardBytes
import Synchronization

/// Gets people who are signed in at one provider a token of another, from whoever trusts the one and may speak for the other:
/// a function of the project's own, mostly.
///
/// ```swift
/// let exchange = TokenExchange { session, issuer in
///     let answer = try await myServer.token(for: session.value)
///     return (Secret(answer.token), Timestamp(answer.expiresAt))
/// }
/// ```
/// It is asked once for each session and again shortly before its token runs out, or when that was refused. The other
/// provider's own sessions are never exchanged.
public struct TokenExchange: Sendable {
    public typealias Exchange =
        @Sendable (_ session: AccessToken, _ issuer: InfrastructureProvider) async throws -> (
            token: Secret, expiresAt: Timestamp
        )

    private let exchange: Exchange

    /// - Parameter exchange: Given the present token and who made it. An `AuthError` that it throws reaches callers as it is,
    ///   everything else as `.unavailable`.
    public init(_ exchange: @escaping Exchange) { self.exchange = exchange }

    /// Where tokens for `provider` come from: the auth client itself, or tokens that it was exchanged for.
    package static func source(
        _ auth: (any AuthClient)?, for provider: InfrastructureProvider, _ exchange: TokenExchange?,
        now: @escaping @Sendable () -> Timestamp
    ) -> (any AuthClient)? {
        guard let auth, let exchange else { return auth }
        return ExchangedSession(auth, as: provider, exchange.exchange, now: now)
    }
}

/// A session with tokens of another provider, as long as it is not that provider's own. It is asked for tokens and states only.
private final class ExchangedSession: BorrowedSession {
    let provider: InfrastructureProvider
    let capabilities = AuthCapabilities()
    private let base: any AuthClient
    private let exchange: TokenExchange.Exchange
    private let now: @Sendable () -> Timestamp
    private let kept = Mutex<AccessToken?>(nil)
    private let flight = SingleFlight<AccessToken, AuthError>(cancellation: {
        AuthError(.cancelled, "The call was cancelled.")
    })

    /// How long before its end a token is replaced, in seconds.
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
            // Another flight may have landed since it was looked for.
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
        // Somebody else may have signed in while it was fetched.
        guard token.userID == session.userID else {
            throw AuthError(.sessionChanged, "Another session has replaced this one.")
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
