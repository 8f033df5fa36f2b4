package import Switchyard

extension TokenError {
    /// What it means for a token that its issuer was asked about it and the call failed.
    ///
    /// Only what the issuer says of the session or the account is held against the token. A key or a credential that it refuses
    /// is this server's own, and an outage nobody's: nobody is to be signed out for either.
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
