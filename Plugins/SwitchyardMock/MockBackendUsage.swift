import Synchronization

/// Counts the clients of a module's backend. When the last one leaves, `whenEmpty` runs and no client can enter anymore;
/// without `whenEmpty`, it stays open.
final class MockBackendUsage: Sendable {
    private let state = Mutex((count: 0, isOver: false))
    private let whenEmpty: (@Sendable () -> Void)?

    init(whenEmpty: (@Sendable () -> Void)?) { self.whenEmpty = whenEmpty }

    /// - Returns: `nil` if it is closed.
    func enter() -> MockBackendLease? {
        let isIn = state.withLock { state in
            if !state.isOver { state.count += 1 }
            return !state.isOver
        }
        return isIn ? MockBackendLease(self) : nil
    }

    fileprivate func leave() {
        // Inside the lock, so that the folder is free for anyone who finds it closed.
        state.withLock { state in
            state.count -= 1
            guard state.count == 0, let whenEmpty else { return }
            state.isOver = true
            whenEmpty()
        }
    }
}

/// One client's stay, which ends when the client is shut down or released.
final class MockBackendLease: Sendable {
    private let usage: Mutex<MockBackendUsage?>

    fileprivate init(_ usage: MockBackendUsage) { self.usage = Mutex(usage) }

    func leave() {
        let usage = usage.withLock { usage in
            defer { usage = nil }
            return usage
        }
        usage?.leave()
    }

    deinit { leave() }
}
