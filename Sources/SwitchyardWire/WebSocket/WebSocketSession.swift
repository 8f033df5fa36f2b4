import Synchronization

/// A web socket after the upgrade, in either role: the machine runs on the loop thread, with an inbox and an outbox for tasks.
package final class WebSocketSession: RawConnectionHandler, @unchecked Sendable {
    // `@unchecked Sendable`: `inbox`, `outbox` and `shared` have locks, `let`s are immutable; the `var`s are used only by the
    // loop thread, from `connected` to `closed`, and before that only by `init`.

    private struct Shared {
        var connection: (any RawConnection)?
        var requestedClose: WebSocketClose?
        var closed: WebSocketClose?
        var hasEnded = false
        var pings: [[UInt8]: CheckedContinuation<TransportError?, Never>] = [:]
        var lastPing: UInt64 = 0
        var closers: [Int: CheckedContinuation<Void, Never>] = [:]
        var turns = 0
        var timer: Task<Void, Never>?
    }

    private static let outboxLimit = 1 << 20

    private let inbox: WebSocketInbox
    private let outbox: WebSocketOutbox
    private let shared = Mutex(Shared())

    private var machine: WebSocketMachine
    private var events: [WebSocketMachine.Event] = []
    private var messages: [WebSocketMessage] = []
    private var unsent: [UInt8] = []
    private var sent = 0
    private var isPaused = false
    private var isClosing = false
    private var armed: ContinuousClock.Instant?
    private var hasFinished = false

    package init(
        role: WebSocketRole, limits: WebSocketLimits, keepAlive: WebSocketKeepAlive, inboxLimit: Int,
        masks: WebSocketMaskSource = .system
    ) {
        machine = WebSocketMachine(role: role, limits: limits, keepAlive: keepAlive, masks: masks, at: .now)
        inbox = WebSocketInbox(limit: inboxLimit)
        outbox = WebSocketOutbox(
            limit: Self.outboxLimit,
            encoder: WebSocketEncoder(role: role, fragmentSize: limits.fragmentSize, masks: masks))
    }

    // MARK: Tasks

    var closed: WebSocketClose? { shared.withLock { $0.closed } }

    // The fast paths of both never suspend, which avoids the cost of an asynchronous call.

    func sendNow(_ message: WebSocketMessage) throws(TransportError) -> Bool {
        try outbox.sendNow(message, wake: wake)
    }

    func send(_ message: WebSocketMessage) async throws(TransportError) {
        try await outbox.send(message, wake: wake)
    }

    func receiveNow() -> WebSocketInbox.Delivery? { inbox.receiveNow(drained: wake) }

    func receive() async throws(TransportError) -> WebSocketMessage? {
        try await inbox.receive(drained: wake).get()
    }

    func ping() async throws(TransportError) {
        let payload = shared.withLock { shared in
            shared.lastPing += 1
            return withUnsafeBytes(of: shared.lastPing.bigEndian) { Array($0) }
        }
        let error = await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<TransportError?, Never>) in
                let isCancelled = shared.withLock { shared in
                    if Task.isCancelled || shared.hasEnded { return true }
                    shared.pings[payload] = continuation
                    return false
                }
                if isCancelled { return continuation.resume(returning: Self.pingEnded(Task.isCancelled)) }
                do throws(TransportError) {
                    try outbox.ping(payload, wake: wake)
                } catch {
                    endPing(payload, error)
                }
            }
        } onCancel: {
            endPing(payload, Self.pingEnded(true))
        }
        if let error { throw error }
    }

    private static func pingEnded(_ isCancelled: Bool) -> TransportError {
        isCancelled
            ? TransportError(.cancelled, "the ping was cancelled", mayHaveBeenSent: true)
            : TransportError(.webSocketClosed, "the web socket is closed")
    }

    private func endPing(_ payload: [UInt8], _ error: TransportError?) {
        shared.withLock { $0.pings.removeValue(forKey: payload) }?.resume(returning: error)
    }

    /// Returns when the handshake has ended or was given up, or when the task is cancelled.
    func close(_ close: WebSocketClose) async {
        if outbox.close() {
            shared.withLock { $0.requestedClose = close }
            wake()
        }
        let turn = shared.withLock { shared in
            shared.turns += 1
            return shared.turns
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let waits = shared.withLock { shared in
                    guard !shared.hasEnded, !Task.isCancelled else { return false }
                    shared.closers[turn] = continuation
                    return true
                }
                if !waits { continuation.resume() }
            }
        } onCancel: {
            shared.withLock { $0.closers.removeValue(forKey: turn) }?.resume()
        }
    }

    /// The socket was released: the closing handshake runs without a waiting caller.
    func abandon() {
        guard outbox.close() else { return }
        shared.withLock { $0.requestedClose = .goingAway }
        wake()
    }

    private func wake() { shared.withLock { $0.connection }?.wake() }

    // MARK: The loop thread

    package func connected(_ connection: any RawConnection) {
        shared.withLock { $0.connection = connection }
        flush(on: connection)  // What was queued before there was a connection to wake.
        schedule()
    }

    package func received(_ bytes: UnsafeRawBufferPointer, on connection: any RawConnection) {
        machine.receive(bytes, at: .now, into: &events)
        stageAnswers()
        deliver(on: connection)
        flush(on: connection)
        if !machine.isOpen { schedule() }
    }

    package func writable(_ connection: any RawConnection) { flush(on: connection) }

    package func woken(_ connection: any RawConnection) {
        let now = ContinuousClock.now
        if let armed, armed <= now {
            self.armed = nil
            machine.tick(at: now, into: &events)
            deliver(on: connection)
        }
        if isPaused, inbox.hasRoom { setReceiving(true, on: connection) }
        flush(on: connection)
        schedule()
    }

    package func closed(_ connection: any RawConnection, error: TransportError?) {
        if let error { finish(.failed(error)) }
        machine.end(into: &events)
        deliver(on: connection)
        finish(.closed)
        let timer = shared.withLock { shared in
            shared.connection = nil
            defer { shared.timer = nil }
            return shared.timer
        }
        timer?.cancel()
    }

    /// Delivers events to the waiting calls.
    private func deliver(on connection: any RawConnection) {
        guard !events.isEmpty else { return }
        for event in events {
            switch event {
            case .message(let message): messages.append(message)
            case .pong(let payload): endPing(payload, nil)
            case .closed(let close):
                pass(on: connection)
                shared.withLock { $0.closed = close }
                finish(.closed)
            case .failed(let failure):
                pass(on: connection)
                finish(.failed(failure.transportError))
            }
        }
        events.removeAll(keepingCapacity: true)
        pass(on: connection)
    }

    private func pass(on connection: any RawConnection) {
        guard !messages.isEmpty else { return }
        defer { messages.removeAll(keepingCapacity: true) }
        // After `close`, reading continues, since the peer's close frame follows its remaining messages. Messages that do not
        // fit into the inbox are then dropped, since a caller that closes does not wait for messages.
        guard !isClosing || inbox.hasRoom else { return }
        if !inbox.add(&messages), !isClosing { setReceiving(false, on: connection) }
    }

    private func setReceiving(_ receiving: Bool, on connection: any RawConnection) {
        isPaused = !receiving
        connection.setReceiving(receiving)
        machine.setReceiving(receiving, at: .now)
    }

    /// Sends pongs before anything that the readers of the same bytes send. Not a close frame, which ends sending; and not
    /// while the peer is slow, since the machine limits the waiting answers.
    private func stageAnswers() {
        guard sent == unsent.count, machine.isOpen else { return }
        let answers = machine.takeOutput()
        guard !answers.isEmpty else { return }
        outbox.charge(answers.count)
        unsent = answers
        sent = 0
    }

    /// Sends everything queued in one piece, then the machine's answers.
    private func flush(on connection: any RawConnection) {
        while true {
            if sent == unsent.count {
                sent = 0
                outbox.exchange(&unsent)
                closeIfRequested(on: connection)
                let answers = machine.takeOutput()
                if !answers.isEmpty {
                    outbox.charge(answers.count)
                    unsent += answers
                }
                if unsent.isEmpty { break }
            }
            let count = unsent.withUnsafeBytes { connection.send(UnsafeRawBufferPointer(rebasing: $0[sent...])) }
            sent += count
            outbox.handedOver(count)
            if sent < unsent.count { break }
        }
        if machine.isDropped {
            connection.drop()
        } else if machine.isDone, sent == unsent.count {
            connection.close()
        }
    }

    private func closeIfRequested(on connection: any RawConnection) {
        guard
            let close = shared.withLock({ shared in
                defer { shared.requestedClose = nil }
                return shared.requestedClose
            })
        else { return }
        isClosing = true
        machine.close(close, at: .now)
        if isPaused { setReceiving(true, on: connection) }
        schedule()
    }

    /// Only the first end counts.
    private func finish(_ end: WebSocketInbox.End) {
        guard !hasFinished else { return }
        hasFinished = true
        if case .failed(let error) = end { outbox.close(error) } else { outbox.close() }
        inbox.finish(end)
        let (pings, closers) = shared.withLock { shared in
            defer {
                shared.pings = [:]
                shared.closers = [:]
                shared.hasEnded = true
            }
            return (Array(shared.pings.values), Array(shared.closers.values))
        }
        let error: TransportError =
            if case .failed(let error) = end { error } else { Self.pingEnded(false) }
        for continuation in pings { continuation.resume(returning: error) }
        for continuation in closers { continuation.resume() }
    }

    // MARK: Time

    /// Schedules `woken` for the machine's deadline. A timer that fires early is cheap, so a pending one is replaced only by an
    /// earlier one.
    private func schedule() {
        guard let deadline = machine.deadline, armed.map({ deadline < $0 }) ?? true else { return }
        armed = deadline
        let timer = Task { [weak self] in
            try? await ContinuousClock().sleep(until: deadline)
            if !Task.isCancelled { self?.wake() }
        }
        let previous = shared.withLock { shared in
            defer { shared.timer = timer }
            return shared.timer
        }
        previous?.cancel()
    }
}

extension WebSocketFailure {
    var transportError: TransportError {
        switch self {
        case .violation(.frameTooBig), .violation(.messageTooBig):
            TransportError(
                .webSocketMessageTooLarge, "the peer sent more than the limit", mayHaveBeenSent: true, underlying: self)
        case .violation(let violation):
            TransportError(
                .webSocketProtocol, "the peer broke the protocol: \(violation)", mayHaveBeenSent: true, underlying: self
            )
        case .unanswered:
            TransportError(
                .stalled, "the peer does not answer pings", isRetryable: true, mayHaveBeenSent: true, underlying: self)
        case .cutOff:
            TransportError(
                .connectionLost, "the connection ended without a closing handshake", isRetryable: true,
                mayHaveBeenSent: true, underlying: self)
        case .closeUnanswered:
            TransportError(
                .connectionLost, "the peer does not answer the close frame", mayHaveBeenSent: true, underlying: self)
        }
    }
}

/// The caller's reference to a session, which ends when the handle is released.
package final class WebSocketHandle: WebSocketConnection {
    package let head: HTTPResponseHead
    package let subprotocol: String?
    private let session: WebSocketSession

    package init(_ session: WebSocketSession, head: HTTPResponseHead, subprotocol: String?) {
        self.session = session
        self.head = head
        self.subprotocol = subprotocol
    }

    deinit { session.abandon() }

    package var closed: WebSocketClose? { session.closed }

    package func send(_ message: WebSocketMessage) async throws(TransportError) {
        if try !session.sendNow(message) { try await session.send(message) }
    }

    package func receive() async throws(TransportError) -> WebSocketMessage? {
        if let ready = session.receiveNow() { return try ready.get() }
        return try await session.receive()
    }

    package func ping() async throws(TransportError) { try await session.ping() }

    package func close(_ close: WebSocketClose) async { await session.close(close) }
}
