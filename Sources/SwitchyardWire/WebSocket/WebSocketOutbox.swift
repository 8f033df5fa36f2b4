import Synchronization

/// Passes frames from any task to the loop thread: they are encoded into one buffer under a lock, and taken in one piece.
///
/// Senders wait, before encoding, while more than `limit` bytes have not been passed to the connection.
final class WebSocketOutbox: Sendable {
    private struct State {
        var encoder: WebSocketEncoder
        var bytes: [UInt8] = []
        /// The number of bytes that the loop has taken, but the connection has not.
        var inFlight = 0
        var isSignalled = false
        var isOpen = true
        var failure: TransportError?
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
        var turns = 0
    }

    private static let keptCapacity = 64 * 1024

    private static let closed = TransportError(.webSocketClosed, "the web socket is closed")

    private let limit: Int
    private let state: Mutex<State>

    init(limit: Int, encoder: WebSocketEncoder) {
        self.limit = limit
        state = Mutex(State(encoder: encoder))
    }

    private enum Attempt {
        case queued(mustWake: Bool)
        case failed(TransportError)
        case full
    }

    /// - Returns: `false`, without queueing anything, if too much is queued already; then wait for room.
    /// - Throws: `.webSocketClosed`, or why the socket ended.
    func sendNow(_ message: WebSocketMessage, wake: () -> Void) throws(TransportError) -> Bool {
        let attempt = state.withLock { state -> Attempt in
            guard state.isOpen else { return .failed(state.failure ?? Self.closed) }
            guard state.bytes.count + state.inFlight <= limit else { return .full }
            state.encoder.append(message, to: &state.bytes)
            defer { state.isSignalled = true }
            return .queued(mustWake: !state.isSignalled)
        }
        switch attempt {
        case .queued(let mustWake): if mustWake { wake() }
        case .failed(let error): throw error
        case .full: return false
        }
        return true
    }

    /// - Throws: As `sendNow`; `.cancelled` if nothing has been queued.
    func send(_ message: WebSocketMessage, wake: () -> Void) async throws(TransportError) {
        while try !sendNow(message, wake: wake) {
            if Task.isCancelled { throw TransportError(.cancelled, "sending was cancelled") }
            await waitForRoom()
        }
    }

    /// Queues a ping, however much is waiting.
    func ping(_ payload: [UInt8], wake: () -> Void) throws(TransportError) {
        let attempt = state.withLock { state -> Attempt in
            guard state.isOpen else { return .failed(state.failure ?? Self.closed) }
            state.encoder.append(.ping, payload: payload, to: &state.bytes)
            defer { state.isSignalled = true }
            return .queued(mustWake: !state.isSignalled)
        }
        switch attempt {
        case .failed(let error): throw error
        case .queued(let mustWake): if mustWake { wake() }
        case .full: break
        }
    }

    private func waitForRoom() async {
        let turn = state.withLock { state in
            state.turns += 1
            return state.turns
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let waits = state.withLock { state in
                    guard state.isOpen, state.bytes.count + state.inFlight > limit, !Task.isCancelled else {
                        return false
                    }
                    state.waiting[turn] = continuation
                    return true
                }
                if !waits { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiting.removeValue(forKey: turn) }?.resume()
        }
    }

    // MARK: The loop thread

    /// Swaps everything queued for an empty buffer. Call `handedOver` as the connection takes it.
    func exchange(_ buffer: inout [UInt8]) {
        // The two buffers alternate, unless one is too large to be kept by an idle socket.
        buffer.removeAll(keepingCapacity: buffer.capacity <= Self.keptCapacity)
        state.withLock { state in
            state.isSignalled = false
            state.inFlight += state.bytes.count
            swap(&state.bytes, &buffer)
        }
    }

    /// Counts the loop's own answers, which are sent the same way.
    func charge(_ count: Int) { state.withLock { $0.inFlight += count } }

    func handedOver(_ count: Int) {
        let ready = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            state.inFlight -= count
            guard !state.waiting.isEmpty, state.bytes.count + state.inFlight <= limit / 2 else { return [] }
            defer { state.waiting = [:] }
            return state.waiting.sorted { $0.key < $1.key }.map(\.value)
        }
        for continuation in ready { continuation.resume() }
    }

    /// Refuses later messages; queued ones can still be taken. Only the first failure counts.
    ///
    /// - Returns: Whether it was open.
    @discardableResult
    func close(_ failure: TransportError? = nil) -> Bool {
        let (wasOpen, ready) = state.withLock { state in
            defer {
                state.isOpen = false
                state.waiting = [:]
            }
            if state.failure == nil { state.failure = failure }
            return (state.isOpen, Array(state.waiting.values))
        }
        for continuation in ready { continuation.resume() }
        return wasOpen
    }
}
