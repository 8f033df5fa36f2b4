package import Switchyard
package import SwitchyardProviderKit
import Synchronization

/// A device that cannot forget a session while it is stuck, as on a disk that has become read-only.
package final class StuckSessionStore: SessionStore {
    private let kept = MemorySessionStore()
    private let stuck = Mutex(false)

    package init() {}

    package var isStuck: Bool {
        get { stuck.withLock { $0 } }
        set { stuck.withLock { $0 = newValue } }
    }

    package var mark: StoredSessionVersion { kept.mark }
    package func read() -> SessionReading { kept.read() }
    package func apply(_ change: SessionChange) -> SessionStoreOutcome {
        let outcome = kept.apply(change)
        return SessionStoreOutcome(
            outcome.result, mark: outcome.mark, notice: isStuck ? "It cannot be stored." : nil,
            isUndoneByRestart: isStuck && change.endsSession)
    }
    package func lease(_ clock: any Clock<Duration>) async throws(AuthError) -> SessionLease {
        try await kept.lease(clock)
    }
}
