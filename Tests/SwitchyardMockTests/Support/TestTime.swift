import Switchyard
import SwitchyardConformance
import Synchronization

/// The time of day in a test: stands still until it is moved.
final class TestTime: Sendable {
    private let microseconds = Mutex<Int64>(1_700_000_000_000_000)
    var now: Timestamp { try! Timestamp(validatingSeconds: microseconds.withLock { $0 } / 1_000_000, nanoseconds: 0) }
    func advance(by duration: Duration) {
        microseconds.withLock { $0 += duration.components.seconds * 1_000_000 }
    }

    /// For a harness that ages tokens.
    var movable: MockAuthHarness.MovableTime {
        MockAuthHarness.MovableTime(now: { self.now }, advance: { self.advance(by: $0) })
    }
}
