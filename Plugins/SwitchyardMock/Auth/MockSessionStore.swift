package import Switchyard
import SwitchyardBytes
package import SwitchyardProviderKit
import Synchronization

/// The saved session of a device, for the next client on the device: in memory, or in a file.
public final class MockSessionStore: Sendable {
    private let kept: any SessionStore
    private let locked = Mutex(false)
    private let unlocking = Broadcast<@Sendable () -> Void>()

    /// Creates a store in memory, which outlives clients but not the process.
    public convenience init() { self.init(MemorySessionStore()) }

    init(_ kept: any SessionStore) { self.kept = kept }

    /// Whether the device protects the session at the moment, as before its first unlock.
    public var isLocked: Bool {
        get { locked.withLock { $0 } }
        set {
            locked.withLock { $0 = newValue }
            unlocking.send { $0() }
        }
    }

    /// Saves a sign-in as the session of the next client with this store.
    func begin(_ signedIn: SignedIn) {
        let session = AuthSession(id: RandomID.make(), user: signedIn.user, tokens: signedIn.tokens)
        _ = kept.apply(SessionChange(.begin(session), in: nil))
    }

    /// - Returns: A closure that removes the listener.
    func onLockChange(_ listener: @escaping @Sendable () -> Void) -> @Sendable () -> Void { unlocking.add(listener) }
}

extension MockSessionStore: SessionStore {
    package var mark: StoredSessionVersion { kept.mark }
    package func read() -> SessionReading { isLocked ? .unreadable("The device is locked.") : kept.read() }
    package func apply(_ change: SessionChange) -> SessionStoreOutcome { kept.apply(change) }
    package func lease(_ clock: any Clock<Duration>) async throws(AuthError) -> SessionLease {
        try await kept.lease(clock)
    }
}
