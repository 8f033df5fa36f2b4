package import Switchyard

extension TokenError {
    /// The error for a token whose lookup at the issuer failed.
    ///
    /// Only the issuer's answer about the session or the account invalidates the token. A refused key or credential is this
    /// server's own problem, and an outage is temporary: neither may sign users out.
    package init(lookingUp error: AuthError) {
        let failed = "The session of the token could not be looked up: \(error.message)"
        switch error.code {
        case .userDisabled: self.init(.userDisabled, error.message, underlying: error)
        case .sessionExpired, .notSignedIn, .userNotFound:
            self.init(.tokenRevoked, "The session was ended. Sign in again.", underlying: error)
        case .cancelled, .shutDown, .unsupported: self.init(error.code, error.message, underlying: error)
        case .unavailable, .overloaded, .deadlineExceeded, .rateLimited:
            self.init(
                .unavailable, failed, isRetryable: error.isRetryable, retryAfter: error.retryAfter, underlying: error)
        default: self.init(.failedPrecondition, failed, isRetryable: false, underlying: error)
        }
    }
}
