import Foundation
import SwitchyardBytes
import SwitchyardTestSupport
import Synchronization
import Testing

@Suite struct ProcessSignalTests {
    private let path = FileManager.default.temporaryDirectory.appendingPathComponent("signal-\(UUID().uuidString)").path

    @Test func `Others hear a signal, and its sender does not`() async throws {
        let (sender, other) = (Counter(), Counter())
        let first = ProcessSignal(path) { sender.count() }
        let second = ProcessSignal(path) { other.count() }
        first.send()
        try await eventually("the signal") { other.value > 0 }
        second.send()
        try await eventually("the answer") { sender.value > 0 }
        #expect(sender.value == 1)
        withExtendedLifetime((first, second)) {}
    }

    @Test func `A file that has grown is emptied, and the signal still arrives`() async throws {
        try Data(repeating: UInt8(ascii: "\n"), count: 100_000).write(to: URL(fileURLWithPath: path))
        let other = Counter()
        let first = ProcessSignal(path) {}
        let second = ProcessSignal(path) { other.count() }
        first.send()
        try await eventually("the signal") { other.value > 0 }
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)).count < 100)
        withExtendedLifetime(second) {}
    }

    @Test func `Nothing is heard after the end, or of signals from before the beginning`() async throws {
        let (early, late) = (Counter(), Counter())
        let first = ProcessSignal(path) { early.count() }
        ProcessSignal(path) {}.send()
        try await eventually("the first signal") { early.value == 1 }
        first.stop()
        let second = ProcessSignal(path) { late.count() }
        ProcessSignal(path) {}.send()
        try await eventually("the second signal") { late.value > 0 }
        #expect(early.value == 1 && late.value == 1)
        second.stop()
    }

    @Test func `Without access to the folder nothing happens`() {
        let signal = ProcessSignal("/nowhere/at/all") {}
        signal.send()
        signal.stop()
    }
}

private final class Counter: Sendable {
    private let state = Mutex(0)
    var value: Int { state.withLock { $0 } }
    func count() { state.withLock { $0 += 1 } }
}
