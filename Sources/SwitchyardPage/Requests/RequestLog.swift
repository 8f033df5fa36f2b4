import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardWire
import Synchronization

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The last requests to a local server, and the news of them. It is told of each on the server's own thread, where it only takes
/// a note; a task of its own puts everything into words.
final class RequestLog: ExchangeObserver {
    /// One request, as the log keeps it.
    struct Entry: Sendable {
        let record: ExchangeRecord
        let at: Date
    }

    private struct State {
        var next = 1
        var ring: [Entry] = []
        var changed: Set<Int> = []
    }

    /// How many requests are kept.
    static let capacity = 1000
    /// The most that is told in one round; if more has happened, the newest are.
    private static let round = 50
    /// How many bytes of bodies are kept, and after how many requests that is looked at.
    private static let byteLimit = 32 << 20
    private static let interval = 64
    /// Between two rounds, so that a flood of requests costs little.
    private static let pause = Duration.milliseconds(50)

    private let state = Mutex(State())
    /// Whether it is time to look how much is kept; the server's thread does not.
    private let wantsRoom = Atomic(false)
    /// The page's own requests carry it, and are left out.
    private let mark: String
    private let wake: AsyncStream<Void>.Continuation
    private let wakes: AsyncStream<Void>

    init(mark: String) {
        self.mark = mark
        (wakes, wake) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    // MARK: Taking notes

    func began(_ request: ServerRequest) -> ExchangeRecord? {
        let record = state.withLock { state in
            let record = ExchangeRecord(number: state.next, request) { [weak self] in self?.note($0.number) }
            state.next += 1
            state.ring.append(Entry(record: record, at: Date()))
            // In one go, since the first elements of an array are removed in linear time.
            if state.ring.count >= Self.capacity + 100 { state.ring.removeFirst(100) }
            return record
        }
        if record.number.isMultiple(of: Self.interval) { wantsRoom.store(true, ordering: .relaxed) }
        note(record.number)
        return record
    }

    func isOwn(_ request: ServerRequest) -> Bool { request.headers[MarkedTransport.field] == mark }

    private func note(_ number: Int) {
        state.withLock { _ = $0.changed.insert(number) }
        wake.yield()
    }

    // MARK: Reading

    func entry(_ number: Int) -> Entry? {
        state.withLock { state in state.ring.last { $0.record.number == number } }
    }

    /// The newest first.
    func entries(before number: Int?, limit: Int) -> [Entry] {
        state.withLock { state in
            state.ring.reversed().lazy.filter { $0.record.number < number ?? .max }.prefix(limit).map { $0 }
        }
    }

    func number(replayedAs mark: String) -> Int? {
        state.withLock { state in
            state.ring.last { $0.record.head.headers[RequestReplay.field] == mark }?.record.number
        }
    }

    /// The number of requests so far.
    var count: Int { state.withLock { $0.next - 1 } }

    /// Forgets the bodies of old requests if all together are too large.
    private func makeRoom() {
        var total = 0
        for entry in state.withLock({ $0.ring }).reversed() {
            let size = entry.record.keptBytes
            total += size
            if total > Self.byteLimit, size > 0 { entry.record.dropBodies() }
        }
    }

    func forget() {
        state.withLock { state in
            state.ring = []
            state.changed = []
        }
    }

    /// Tells of what has changed, round after round, until the task is cancelled.
    ///
    /// - Parameters:
    ///   - settle: Called for everything that has changed.
    ///   - send: Called for as much of it as there is room for.
    func tell(
        settling settle: @Sendable (Entry) -> Void, _ send: @Sendable (Entry, _ missed: Int) -> Void
    ) async {
        for await _ in wakes {
            let changed = state.withLock { state in
                defer { state.changed = [] }
                return state.ring.filter { state.changed.contains($0.record.number) }
            }
            for entry in changed { settle(entry) }
            let entries = changed.suffix(Self.round)
            let missed = max(changed.count - Self.round, 0)
            if wantsRoom.exchange(false, ordering: .relaxed) { makeRoom() }
            for (index, entry) in entries.enumerated() { send(entry, index == 0 ? missed : 0) }
            // A limit of the rate; whatever happens meanwhile is told in the next round.
            try? await Task.sleep(for: Self.pause)
            if Task.isCancelled { return }
        }
    }
}
