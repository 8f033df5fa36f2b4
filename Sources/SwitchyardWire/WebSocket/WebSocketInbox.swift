import Synchronization

/// Passes messages from the loop thread to one reader, with a limit in bytes.
final class WebSocketInbox: Sendable {
    enum End: Sendable { case closed, failed(TransportError) }

    typealias Delivery = Result<WebSocketMessage?, TransportError>

    private struct Reader {
        let turn: Int
        let continuation: CheckedContinuation<Delivery, Never>
    }

    private struct State {
        var messages: [WebSocketMessage] = []
        var first = 0
        var size = 0
        var isFull = false
        var end: End?
        var reader: Reader?
        var turns = 0
    }

    private let limit: Int
    private let state = Mutex(State())

    init(limit: Int) { self.limit = max(limit, 1) }

    /// The size that a message counts for; empty ones count, too.
    private static func weight(_ message: WebSocketMessage) -> Int {
        switch message {
        case .text(let text): text.utf8.count + 32
        case .binary(let bytes): bytes.count + 32
        }
    }

    /// Takes all of `messages`, at least one, and leaves an empty array with the same capacity.
    ///
    /// - Returns: Whether there is room for more. If not, a later `receive` calls `drained` when there is again.
    func add(_ messages: inout [WebSocketMessage]) -> Bool {
        let (reader, message, hasRoom) = state.withLock { state in
            for message in messages { state.size += Self.weight(message) }
            if state.messages.isEmpty {
                swap(&state.messages, &messages)
            } else {
                state.messages.append(contentsOf: messages)
                messages.removeAll(keepingCapacity: true)
            }
            guard let reader = state.reader, let message = Self.popFirst(&state) else {
                state.isFull = state.isFull || state.size > limit
                return (nil as Reader?, nil as WebSocketMessage?, !state.isFull)
            }
            state.reader = nil
            state.isFull = state.isFull || state.size > limit
            return (reader, message, !state.isFull)
        }
        reader?.continuation.resume(returning: .success(message))
        return hasRoom
    }

    var hasRoom: Bool { state.withLock { !$0.isFull } }

    /// Records the end, of which only the first counts. Messages in the inbox can still be received.
    func finish(_ end: End) {
        let reader = state.withLock { state in
            if state.end == nil { state.end = end }
            defer { state.reader = nil }
            return state.reader
        }
        reader?.continuation.resume(returning: Self.delivery(end))
    }

    private static func delivery(_ end: End) -> Delivery {
        switch end {
        case .closed: .success(nil)
        case .failed(let error): .failure(error)
        }
    }

    /// The next message. Calls `drained` if reading from the connection may continue.
    ///
    /// - Returns: `nil` if nothing is available without waiting.
    func receiveNow(drained: () -> Void) -> Delivery? {
        let (ready, isDrained) = state.withLock { state in Self.take(&state, limit: limit) }
        if isDrained { drained() }
        return ready
    }

    private static func take(_ state: inout State, limit: Int) -> (Delivery?, isDrained: Bool) {
        guard let message = popFirst(&state) else { return (state.end.map(delivery), false) }
        let isDrained = state.isFull && state.size <= limit / 2
        if isDrained { state.isFull = false }
        return (.success(message), isDrained)
    }

    private static func popFirst(_ state: inout State) -> WebSocketMessage? {
        guard state.first < state.messages.count else { return nil }
        var message = WebSocketMessage.binary([])
        swap(&message, &state.messages[state.first])  // releases the bytes now
        state.first += 1
        if state.first == state.messages.count {
            state.messages.removeAll(keepingCapacity: true)
            state.first = 0
        } else if state.first > 4096, state.first > state.messages.count / 2 {
            state.messages.removeFirst(state.first)
            state.first = 0
        }
        state.size -= weight(message)
        return message
    }

    /// A cancelled wait is removed under the lock, before a message can be passed to it.
    func receive(drained: () -> Void) async -> Delivery {
        let turn = state.withLock { state in
            state.turns += 1
            return state.turns
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let (ready, isDrained) = state.withLock { state -> (Delivery?, Bool) in
                    let (ready, isDrained) = Self.take(&state, limit: limit)
                    if ready != nil { return (ready, isDrained) }
                    if Task.isCancelled { return (.failure(.receivingCancelled), false) }
                    guard state.reader == nil else {
                        return (.failure(TransportError(.invalidRequest, "two tasks receive at the same time")), false)
                    }
                    state.reader = Reader(turn: turn, continuation: continuation)
                    return (nil, false)
                }
                if isDrained { drained() }
                if let ready { continuation.resume(returning: ready) }
            }
        } onCancel: {
            let reader = state.withLock { state -> Reader? in
                guard state.reader?.turn == turn else { return nil }
                defer { state.reader = nil }
                return state.reader
            }
            reader?.continuation.resume(returning: .failure(.receivingCancelled))
        }
    }
}

extension TransportError {
    fileprivate static let receivingCancelled = TransportError(
        .cancelled, "receiving was cancelled", mayHaveBeenSent: true)
}

/// The messages of a web socket as a sequence, for one reader. It ends when the peer closes normally.
package struct WebSocketMessages: AsyncSequence, Sendable {
    package typealias Element = WebSocketMessage
    package typealias Failure = TransportError

    package struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let connection: any WebSocketConnection

        package mutating func next() async throws(TransportError) -> WebSocketMessage? {
            try await connection.receive()
        }

        package mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(TransportError) -> WebSocketMessage? {
            try await connection.receive()
        }
    }

    fileprivate let connection: any WebSocketConnection

    package func makeAsyncIterator() -> AsyncIterator { AsyncIterator(connection: connection) }
}

extension WebSocketConnection {
    package var messages: WebSocketMessages { WebSocketMessages(connection: self) }
}
