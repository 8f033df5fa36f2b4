extension AuthState {
    /// Checks that the owner of a queued write is known, which may be nobody.
    ///
    /// - Throws: `.unauthenticated` (retryable) while the owner is unknown.
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
