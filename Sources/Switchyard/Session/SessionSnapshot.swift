/// The session of an auth client at one moment: who issued it, its state, and a token that can be used now.
public struct SessionSnapshot: Sendable {
    /// The provider whose session it is.
    public let issuer: InfrastructureProvider
    public let state: AuthState
    /// A token that needs no refresh; `nil` if a token has to be asked for with ``AuthClient/accessToken(refreshing:)``.
    public let token: AccessToken?
    /// As ``AuthClient/wipeRequests``.
    public let wipeRequests: [WipeRequest]?

    public init(
        issuer: InfrastructureProvider, state: AuthState, token: AccessToken? = nil, wipeRequests: [WipeRequest]? = nil
    ) {
        self.issuer = issuer
        self.state = state
        self.token = token
        self.wipeRequests = wipeRequests
    }

    /// The owner of what is written now; `nil` if no one is signed in.
    ///
    /// - Throws: `.unauthenticated` (retryable) while the owner is unknown.
    public func owner() throws(StorageError) -> AuthUser.ID? {
        guard state.isKnown else {
            throw StorageError(
                .unauthenticated,
                "The write was not queued: the device does not let the session be read yet, so its owner is unknown. Try "
                    + "again once the device has been unlocked.", isRetryable: true)
        }
        return state.user?.id
    }
}

extension AuthState {
    /// Whether it is known who is signed in, which may be no one.
    package var isKnown: Bool {
        switch self {
        case .signedIn, .expired, .signedOut: true
        case .unknown, .locked: false
        }
    }
}
