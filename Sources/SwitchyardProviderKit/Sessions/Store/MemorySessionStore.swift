package import Foundation
package import Switchyard
import Synchronization

/// Stores a session as long as the process; several engines may share one.
package final class MemorySessionStore: SessionStore {
    private struct State {
        var record = SessionRecord.none
        var changes: Int64 = 0
        var isLocked = false
    }
    private let state = Mutex(State())
    private let refreshing = LocalLease()

    package init() {}

    /// Whether the device is locked, as before its first unlock.
    package var isLocked: Bool {
        get { state.withLock { $0.isLocked } }
        set { state.withLock { $0.isLocked = newValue } }
    }

    package var mark: StoredSessionVersion { state.withLock { StoredSessionVersion($0.changes) } }

    package func read() -> SessionReading {
        state.withLock { $0.isLocked ? .unreadable("The device is locked.") : .found($0.record) }
    }

    package func apply(_ change: SessionChange) -> SessionStoreOutcome {
        state.withLock { state in
            guard let record = change.applied(to: state.record) else {
                return SessionStoreOutcome(.overtaken(state.record), mark: StoredSessionVersion(state.changes))
            }
            state.record = record
            state.changes += 1
            return SessionStoreOutcome(.kept(record), mark: StoredSessionVersion(state.changes))
        }
    }

    package func lease(_ clock: any Clock<Duration>) async throws(AuthError) -> SessionLease {
        try await refreshing.acquire(clock)
    }
}

/// Makes the session store for the platform.
package enum SessionStores {
    /// - Parameters:
    ///   - folder: The folder, if sessions are stored in files; `nil` holds the session in memory.
    ///   - name: Different for every project, server and provider, so that no session is sent to the wrong one.
    ///   - files: How the session is shared between processes.
    package static func make(in folder: URL?, name: String, _ files: LocalFileOptions) -> any SessionStore {
        guard let folder else { return MemorySessionStore() }
        #if os(iOS) || os(tvOS) || os(watchOS) || os(visionOS)
            // The keychain tells no process what another did, and has no locks; a file in a group's container has both.
            if files.appGroup != nil { return FileSessionStore(folder: folder, name: name) }
            return KeychainSessionStore(service: "switchyard.\(name)", accessGroup: files.keychainAccessGroup)
        #else
            return FileSessionStore(folder: folder, name: name)
        #endif
    }
}
