import Switchyard

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

extension AuthError {
    package static let nobodySignedIn = AuthError(.notSignedIn, "Nobody is signed in.")
    package static let sessionChanged = AuthError(.sessionChanged, "Another sign-in or sign-out overtook the call.")
    package static let sessionOver = AuthError(.sessionExpired, "The session has run out; sign in again.")
    static let sessionShutDown = AuthError(.shutDown, "The client was shut down.")
    static let waiterCancelled = AuthError(.cancelled, "The call was cancelled.")
    static let sessionLocked = AuthError(
        .localStore, "The device cannot read the kept session now; try again once it is unlocked.", isRetryable: true)
}
