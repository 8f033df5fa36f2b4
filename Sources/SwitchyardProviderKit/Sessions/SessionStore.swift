package import Switchyard
import SwitchyardBytes

/// Where a device stores its session. Calls are short; only ``lease(_:)`` may wait.
package protocol SessionStore: Sendable {
    /// Changes as soon as another process has changed the stored session. Costs next to nothing.
    var mark: StoredSessionVersion { get }

    func read() -> SessionReading

    /// Applies the change atomically across processes; see ``SessionChange``.
    ///
    /// If it cannot be saved, it applies until the process ends or another one changes the stored session, and the notice
    /// says so. The end of a session is saved by whatever means there are.
    func apply(_ change: SessionChange) -> SessionStoreOutcome

    /// The right to refresh. Only one engine across all processes has it at a time.
    ///
    /// - Throws: `.localStore` (retryable) if another process does not release it.
    func lease(_ clock: any Clock<Duration>) async throws(AuthError) -> SessionLease
}

/// A version of the stored session.
package struct StoredSessionVersion: Sendable, Hashable {
    let numbers: [Int64]
    package init(_ numbers: Int64...) { self.numbers = numbers }
}

package struct SessionStoreOutcome: Sendable, Hashable {
    package let result: SessionChangeResult
    /// The resulting version.
    package let mark: StoredSessionVersion
    package let notice: String?
    /// Whether the device still stores the session that has just ended, because it can neither be replaced nor removed: the
    /// next process would find it.
    package let isUndoneByRestart: Bool

    package init(
        _ result: SessionChangeResult, mark: StoredSessionVersion, notice: String? = nil,
        isUndoneByRestart: Bool = false
    ) {
        self.result = result
        self.mark = mark
        self.notice = notice
        self.isUndoneByRestart = isUndoneByRestart
    }
}

package enum SessionReading: Sendable, Hashable {
    /// - `notice`: A notice, such as a damaged file that was set aside.
    case found(SessionRecord, notice: String? = nil)
    /// There may be a session, but this device cannot read it now.
    case unreadable(String)
}

/// The right to refresh; ends when it is released or deinitialised.
package final class SessionLease: Sendable {
    private let once: Once
    package init(_ release: @escaping @Sendable () -> Void) { once = Once(release) }
    package func release() { once.run() }
    deinit { once.run() }
}
