import Switchyard

/// Waits for a lease that can only be polled.
enum LeaseWait {
    /// Longer than any call of the holder may take.
    static let limit = Duration.seconds(75)

    static func acquire(
        _ clock: any Clock<Duration>, _ attempt: () -> SessionLease?
    ) async throws(AuthError) -> SessionLease {
        var pause = Duration.milliseconds(5)
        var waited = Duration.zero
        while true {
            if let lease = attempt() { return lease }
            guard waited < limit else {
                throw AuthError(.localStore, "Another process is holding the session.", isRetryable: true)
            }
            do {
                try await clock.sleep(for: pause)
            } catch {
                throw .waiterCancelled
            }
            waited += pause
            pause = min(pause * 2, .milliseconds(200))
        }
    }
}
