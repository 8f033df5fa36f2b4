import SwitchyardBytes
import Synchronization

/// The one stream of events for all tabs: the last ones are kept, so that a tab that was away for a moment goes on where it was.
/// Whoever does not read is cut off; no one waits for a reader.
final class EventHub: Sendable {
    struct Event: Sendable {
        let id: Int
        let bytes: [UInt8]
    }

    /// What a reader is given: the events so far, and a stream of the next ones, which ends when the reader is too slow.
    struct Reading: Sendable {
        let first: [UInt8]
        let next: AsyncStream<[UInt8]>
        let end: @Sendable () -> Void
    }

    private struct State {
        var ring: [Event] = []
        var ringBytes = 0
        var last = 0
        var readers: [Int: AsyncStream<[UInt8]>.Continuation] = [:]
        var nextReader = 0
        var isOver = false
        /// Since when there is no reader.
        var aloneSince: ContinuousClock.Instant? = .now
    }

    private let state: Mutex<State>
    /// How many bytes of events are kept.
    private let capacity: Int
    /// How many events may wait for a reader.
    private let patience: Int

    init(capacity: Int = 4 << 20, patience: Int = 512) {
        self.capacity = capacity
        self.patience = patience
        state = Mutex(State())
    }

    var readers: Int { state.withLock { $0.readers.count } }

    /// Since when no one has been reading; `nil` while someone is.
    var aloneSince: ContinuousClock.Instant? { state.withLock { $0.aloneSince } }

    func send(_ name: String, _ data: JSON) {
        let body = data.bytes()
        state.withLock { state in
            guard !state.isOver else { return }
            state.last += 1
            let event = Event(id: state.last, bytes: Self.bytes(id: state.last, name, body))
            state.ring.append(event)
            state.ringBytes += event.bytes.count
            var gone = 0
            while state.ringBytes > capacity, gone < state.ring.count - 1 {
                state.ringBytes -= state.ring[gone].bytes.count
                gone += 1
            }
            if gone > 0 { state.ring.removeFirst(gone) }
            Self.deliver(event.bytes, &state)
        }
    }

    /// A comment, by which both sides notice that the other has gone.
    func beat() { state.withLock { Self.deliver(Array(": \n\n".utf8), &$0) } }

    private static func deliver(_ bytes: [UInt8], _ state: inout State) {
        for (id, reader) in state.readers {
            guard case .dropped = reader.yield(bytes) else { continue }
            reader.finish()
            state.readers[id] = nil
        }
        if state.readers.isEmpty, state.aloneSince == nil { state.aloneSince = .now }
    }

    /// - Parameter last: The last event that the reader has seen; `nil` for one that begins.
    func read(after last: Int?) -> Reading {
        state.withLock { state in
            let (next, continuation) = AsyncStream<[UInt8]>.makeStream(bufferingPolicy: .bufferingOldest(patience))
            guard !state.isOver else {
                continuation.finish()
                return Reading(first: [], next: next) {}
            }
            state.nextReader += 1
            let id = state.nextReader
            state.readers[id] = continuation
            state.aloneSince = nil
            return Reading(first: Self.missed(after: last, state), next: next) { [self] in leave(id) }
        }
    }

    private static func missed(after last: Int?, _ state: State) -> [UInt8] {
        // The page begins with this number, so that nothing is missed between its first reads and the stream.
        guard let last, last <= state.last else {
            return bytes(id: state.last, last == nil ? "ready" : "gap", Array("{}".utf8))
        }
        let oldest = state.ring.first?.id ?? state.last + 1
        guard last + 1 >= oldest else { return bytes(id: state.last, "gap", Array("{}".utf8)) }
        return state.ring.lazy.filter { $0.id > last }.flatMap(\.bytes)
    }

    private func leave(_ id: Int) {
        state.withLock { state in
            state.readers.removeValue(forKey: id)?.finish()
            if state.readers.isEmpty, state.aloneSince == nil { state.aloneSince = .now }
        }
    }

    /// Ends all streams.
    func close() {
        state.withLock { state in
            state.isOver = true
            for reader in state.readers.values { reader.finish() }
            state.readers = [:]
        }
    }

    private static func bytes(id: Int, _ name: String, _ data: [UInt8]) -> [UInt8] {
        Array("id: \(id)\nevent: \(name)\ndata: ".utf8) + data + Array("\n\n".utf8)
    }
}
