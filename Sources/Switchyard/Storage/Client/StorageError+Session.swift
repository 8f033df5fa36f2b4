extension AuthState {
    /// Whether the server has signed the user out.
    package var isEndedByServer: Bool { if case .signedOut(let end) = self { end.reason == .byServer } else { false } }
}

extension StorageError {
    /// The end of a stream whose user was signed out by the server.
    package static let sessionEndedByServer = StorageError(
        .unauthenticated,
        "The server has ended the session of the user who opened this stream. Sign in again, and open it again. Pending writes "
            + "stay queued for that user.", isRetryable: false)

    /// Whether a stream ended with its user's session, so that nothing of it may be edited in another's name.
    package var isEndOfSession: Bool { code == .unauthenticated && !isRetryable }
}
