package import Switchyard

/// What came of asking a server for new tokens.
package enum RefreshAnswer: Sendable {
    /// New tokens, and the account where the answer tells about it.
    case renewed(SessionTokens, AuthUser?)
    /// The server has said in so many words that it will never take this refresh token again.
    case refused(End, AuthError)
    /// Anything else, a lost answer among it: the session stays as it is.
    case failed(AuthError)

    package enum End: Sendable, Hashable {
        /// The session ran out; the same person can sign in again.
        case expired
        /// The account is gone or barred.
        case signedOut
    }
}
