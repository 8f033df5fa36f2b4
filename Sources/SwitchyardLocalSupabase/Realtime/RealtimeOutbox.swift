import SwitchyardWire
import Synchronization

/// Messages waiting for a client. A client that takes none is eventually dropped.
final class RealtimeOutbox: Sendable {
    private struct State {
        var waiting: [WebSocketMessage] = []
        var size = 0
        var taker: CheckedContinuation<[WebSocketMessage]?, Never>?
        var isClosed = false
        var isHeld = false
    }

    private static let limit = 50 << 20

    private let state = Mutex(State())

    var isClosed: Bool { state.withLock(\.isClosed) }

    /// Whether added messages are held back.
    var isHeld: Bool {
        get { state.withLock(\.isHeld) }
        set {
            state.withLock { $0.isHeld = newValue }
            if !newValue { wake() }
        }
    }

    func put(_ message: WebSocketMessage) {
        let size =
            switch message {
            case .text(let text): text.utf8.count
            case .binary(let bytes): bytes.count
            }
        let taker = state.withLock { state -> CheckedContinuation<[WebSocketMessage]?, Never>? in
            guard !state.isClosed else { return nil }
            if state.taker == nil || state.isHeld {
                state.waiting.append(message)
                state.size += size
                if state.size > Self.limit {
                    state.isClosed = true
                    state.waiting = []
                }
            }
            guard !state.isHeld else { return nil }
            defer { state.taker = nil }
            return state.taker
        }
        taker?.resume(returning: [message])
    }

    /// The waiting messages, or the next one; empty after `wake`, `nil` at the end. There can be only one caller at a time.
    func take() async -> [WebSocketMessage]? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let ready = state.withLock { state -> [WebSocketMessage]?? in
                    if !state.waiting.isEmpty, !state.isHeld {
                        defer { (state.waiting, state.size) = ([], 0) }
                        return .some(state.waiting)
                    }
                    if state.isClosed { return .some(nil) }
                    if Task.isCancelled || state.taker != nil { return .some([]) }
                    state.taker = continuation
                    return .none
                }
                if let ready { continuation.resume(returning: ready) }
            }
        } onCancel: {
            wake()
        }
    }

    /// Wakes the waiting task with no messages.
    func wake() { taker()?.resume(returning: []) }

    /// Closes the outbox; messages added before are still delivered.
    func close() {
        let taker = state.withLock { state in
            state.isClosed = true
            defer { state.taker = nil }
            return state.taker
        }
        taker?.resume(returning: nil)
    }

    private func taker() -> CheckedContinuation<[WebSocketMessage]?, Never>? {
        state.withLock { state in
            defer { state.taker = nil }
            return state.taker
        }
    }
}

/// The limits of a project. Hosted plans differ; these are the limits of a large one.
package struct RealtimeLimits: Hashable, Sendable {
    package var clients = 10_000
    package var channelsPerClient = 100
    package var joinsPerSecond = 2_500
    /// The average over a minute, in both directions and for all clients.
    package var messagesPerSecond = 2_500
    package var presencePerSecond = 1_000
    package var broadcastSize = 3_000_500
    package var frameSize = 5_000_000
    /// How long a client may stay silent.
    package var idle = Duration.seconds(60)
    /// How long a poll waits for messages.
    package var pollWindow = Duration.seconds(10)
    /// How long a session lives without polls.
    package var pollPatience = Duration.seconds(30)

    package init() {}
}

/// Counts events per second, over a number of seconds.
final class RealtimeMeter: Sendable {
    private struct State {
        var counts: [Int]
        var second: Int64 = 0
        var sum = 0
    }

    private let limit: Int
    private let state: Mutex<State>

    /// - Parameter seconds: The number of seconds to average over.
    init(perSecond limit: Int, over seconds: Int = 1) {
        self.limit = limit * seconds
        state = Mutex(State(counts: Array(repeating: 0, count: seconds)))
    }

    /// - Returns: Whether they are within the limit; only then are they counted.
    func count(_ more: Int = 1, at second: Int64) -> Bool {
        return state.withLock { state in
            let size = Int64(state.counts.count)
            if second > state.second {
                for gone in max(state.second + 1, second - size + 1)...second {
                    let index = Int(((gone % size) + size) % size)
                    state.sum -= state.counts[index]
                    state.counts[index] = 0
                }
                state.second = second
            }
            guard state.sum + more <= limit else { return false }
            state.sum += more
            state.counts[Int(((state.second % size) + size) % size)] += more
            return true
        }
    }

    var sum: Int { state.withLock(\.sum) }
}
