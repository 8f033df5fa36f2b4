public import Switchyard

/// One sign-in on this device, with its current state.
public struct AuthSession: Sendable, Hashable {
    /// Made at the sign-in and preserved by every refresh; calls are bound to it.
    public let id: String
    public package(set) var user: AuthUser
    /// `nil` once the server no longer accepts them: the session has expired, but its user is still known.
    public package(set) var tokens: SessionTokens?
    /// Grows with every new pair of tokens. Of two versions of one session, the higher one is right.
    package var revision: Int

    package init(id: String, user: AuthUser, tokens: SessionTokens?, revision: Int = 1) {
        self.id = id
        self.user = user
        self.tokens = tokens
        self.revision = revision
    }

    /// The current token, whatever its remaining lifetime.
    package var accessToken: AccessToken? {
        tokens.map { AccessToken(value: $0.access, expiresAt: $0.expiresAt, userID: user.id) }
    }
}

/// The tokens that a server returns for a sign-in or a refresh.
public struct SessionTokens: Sendable, Hashable {
    public var refresh: Secret
    public var access: Secret
    /// By this device's clock: the server's lifetimes count from the moment of its answer.
    public var issuedAt: Timestamp
    public var expiresAt: Timestamp

    package init(refresh: Secret, access: Secret, issuedAt: Timestamp, expiresAt: Timestamp) {
        self.refresh = refresh
        self.access = access
        self.issuedAt = issuedAt
        self.expiresAt = expiresAt
    }

    public init(refresh: Secret, access: Secret, issuedAt: Timestamp, lifetime: Duration) {
        let microseconds = lifetime.components.seconds.multipliedReportingOverflow(by: 1_000_000)
        let end = issuedAt.microseconds.addingReportingOverflow(microseconds.partialValue)
        self.init(
            refresh: refresh, access: access, issuedAt: issuedAt,
            expiresAt: microseconds.overflow || end.overflow
                ? .distantFuture : Timestamp(microseconds: end.partialValue))
    }

    /// The remaining lifetime of the access token. Zero if the clock is now before the time of issue, since times from that
    /// clock are then meaningless.
    func remaining(at now: Timestamp) -> Duration {
        guard now.microseconds >= issuedAt.microseconds - 1_000_000 else { return .zero }
        return .microseconds(expiresAt.microseconds - now.microseconds)
    }
}

/// The stored session state of a device.
package enum SessionRecord: Sendable, Hashable {
    /// No user has signed in yet.
    case none
    case signedOut(SignOut)
    case session(AuthSession)

    package var session: AuthSession? { if case .session(let session) = self { session } else { nil } }

    var state: AuthState {
        switch self {
        case .none: .signedOut(SignOut(.never))
        case .signedOut(let end): .signedOut(end)
        case .session(let session): session.tokens == nil ? .expired(session.user) : .signedIn(session.user)
        }
    }
}

/// The outcome of a token refresh.
public enum RefreshAnswer: Sendable {
    /// New tokens, and the account if the answer includes it.
    case renewed(SessionTokens, AuthUser?)
    /// The server has said explicitly that it will never accept this refresh token again.
    case refused(End, AuthError)
    /// Any other outcome, including a lost answer: the session stays as it is.
    case failed(AuthError)

    public enum End: Sendable, Hashable {
        /// The session ran out; the same user can sign in again.
        case expired
        /// The account is deleted or disabled.
        case signedOut
    }
}
