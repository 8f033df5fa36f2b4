import Synchronization

/// An action that runs at most once.
package final class Once: Sendable {
    private let action: Mutex<(@Sendable () -> Void)?>

    package init(_ action: @escaping @Sendable () -> Void) { self.action = Mutex(action) }

    package var hasRun: Bool { action.withLock { $0 == nil } }

    package func run() {
        let action = action.withLock { action in
            defer { action = nil }
            return action
        }
        action?()
    }
}
