import Synchronization

/// The clients that live on a module's backend. When the last one leaves, `whenEmpty` runs and nobody comes in any more;
/// without it, the place stays open.
final class MockTenancy: Sendable {
    private let state = Mutex((count: 0, isOver: false))
    private let whenEmpty: (@Sendable () -> Void)?

    init(whenEmpty: (@Sendable () -> Void)?) { self.whenEmpty = whenEmpty }

    /// - Returns: `nil` once it is over.
    func enter() -> MockTenant? {
        let isIn = state.withLock { state in
            if !state.isOver { state.count += 1 }
            return !state.isOver
        }
        return isIn ? MockTenant(self) : nil
    }

    fileprivate func leave() {
        // Inside of the lock: who finds that it is over finds the folder free.
        state.withLock { state in
            state.count -= 1
            guard state.count == 0, let whenEmpty else { return }
            state.isOver = true
            whenEmpty()
        }
    }
}

/// One client's stay: over with its shutting down, or its end.
final class MockTenant: Sendable {
    private let tenancy: Mutex<MockTenancy?>

    fileprivate init(_ tenancy: MockTenancy) { self.tenancy = Mutex(tenancy) }

    func leave() {
        let tenancy = tenancy.withLock { tenancy in
            defer { tenancy = nil }
            return tenancy
        }
        tenancy?.leave()
    }

    deinit { leave() }
}
