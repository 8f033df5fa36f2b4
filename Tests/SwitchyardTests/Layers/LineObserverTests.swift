import Switchyard
import Synchronization
import Testing

@Suite struct LineObserverTests {
    static let lines: [(InfrastructureEvent.Kind, String)] = [
        (.call(operation: "commit", duration: .seconds(2), failure: nil), "commit took 2.0 seconds"),
        (
            .call(operation: "commit", duration: .seconds(2), failure: "unavailable"),
            "commit failed after 2.0 seconds: unavailable"
        ),
        (
            .retry(operation: "commit", attempt: 3, after: .seconds(4), failure: "unavailable"),
            "commit failed (unavailable), attempt 3; again in 4.0 seconds"
        ),
        (.streamOpened(operation: "listen"), "listen opened"),
        (.streamClosed(operation: "listen", failure: nil), "listen closed"),
        (.streamClosed(operation: "listen", failure: "unauthorized"), "listen ended: unauthorized"),
        (.reconnect(operation: "listen", attempt: 2), "listen reconnects, attempt 2"),
        (.pendingWrites(count: 0), "0 writes pending"),
        (.pendingWrites(count: 1), "1 write pending"),
        (.tokenRefreshed(failure: nil), "token refreshed"),
        (.tokenRefreshed(failure: "unavailable"), "token not refreshed: unavailable"),
        (.notice("A file was set aside."), "A file was set aside."),
    ]

    @Test(arguments: lines)
    func `Each kind of event is one readable line`(kind: InfrastructureEvent.Kind, line: String) {
        let log = Lines()
        LineObserver { log.add($0) }.observe(InfrastructureEvent(service: .storage, provider: "acme", kind: kind))
        #expect(log.all == ["storage on acme: \(line)"])
    }

    private final class Lines: Sendable {
        private let lines = Mutex<[String]>([])
        var all: [String] { lines.withLock { $0 } }
        func add(_ line: String) { lines.withLock { $0.append(line) } }
    }
}
