package import Switchyard

/// The outcome of a token refresh.
package enum RefreshAnswer: Sendable {
    /// New tokens, and the account if the answer includes it.
    case renewed(SessionTokens, AuthUser?)
    /// The server has said explicitly that it will never accept this refresh token again.
    case refused(End, AuthError)
    /// Any other outcome, including a lost answer: the session stays as it is.
    case failed(AuthError)

    package enum End: Sendable, Hashable {
        /// The session ran out; the same person can sign in again.
        case expired
        /// The account is deleted or disabled.
        case signedOut
    }
}
