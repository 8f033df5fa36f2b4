import Switchyard
import Synchronization

/// The right to refresh among the engines of one process, for a store that no other process can see.
final class LocalLease: Sendable {
    private let isTaken = Atomic(false)

    func acquire(_ clock: any Clock<Duration>) async throws(AuthError) -> SessionLease {
        try await LeaseWait.acquire(clock) {
            guard !isTaken.exchange(true, ordering: .acquiringAndReleasing) else { return nil }
            return SessionLease { [self] in isTaken.store(false, ordering: .releasing) }
        }
    }
}
