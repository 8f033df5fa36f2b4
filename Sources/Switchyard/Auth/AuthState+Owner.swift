extension AuthState {
    /// What is going to wait in a queue must be somebody's, or nobody's for certain.
    ///
    /// - Throws: `.unauthenticated`, retryable, while nobody can tell whose it would be.
    package func checkOwnerIsKnown() throws(StorageError) {
        switch self {
        case .signedIn, .expired, .signedOut: return
        case .unknown, .locked:
            throw StorageError(
                .unauthenticated,
                "The write was not queued: the device does not let the session be read yet, so nobody can tell whose it "
                    + "would be. Try again once the device has been unlocked.", isRetryable: true)
        }
    }
}
