import SwitchyardWire
import Synchronization

/// An accepted connection: reads requests one at a time, has each one answered, and sends the answers.
final class ServerConnection: @unchecked Sendable {
    // `@unchecked Sendable`: `outbox` has a lock, `let`s are immutable and Sendable; every `var` is used only by the loop
    // thread, which is the only caller of everything but `outbox`, `number` and `loop`.

    /// A request in progress.
    struct Exchange {
        let id: Int
        let body: BytePipe
        var awaitsContinue: Bool
        var isBodyComplete: Bool
        var isAnswered = false
        var keepsConnection = true
        var task: Task<Void, Never>?
        var record: ExchangeRecord?
    }

    enum Phase {
        case serving
        case raw(BytePipe)
        case session(any RawConnectionHandler)
        case ending
        case closed
    }

    /// The maximum size of later requests buffered while one is answered.
    static let heldLimit = 64 * 1024
    /// The maximum size of an unread body that is read and dropped to keep the connection.
    static let discardLimit = 1 << 20

    static let clientHasGone = TransportError(
        .connectionLost, "the client has gone", isRetryable: true, mayHaveBeenSent: true)

    let descriptor: Int32
    let number: Int
    let loop: ServerLoop
    /// Set right after `init`, since it refers back.
    private(set) var outbox: Outbox! = nil

    // The following is for this type's own files: requests in `+Exchanges`, protocols on the connection in `+Session`.
    var phase = Phase.serving
    var exchange: Exchange?
    var exchanges = 0
    /// The bytes after the current request.
    var held: [UInt8] = []
    var discarded = 0
    var isBodyFull = false
    var hasInputEnded = false
    var raw: ServerRawConnection?
    /// Whether a session has bytes that the kernel did not take.
    var sessionWaits = false
    var output = ConnectionOutput()

    private var parser: HTTPRequestParser
    private var finishesSending = false

    init(descriptor: Int32, number: Int, loop: ServerLoop) {
        self.descriptor = descriptor
        self.number = number
        self.loop = loop
        parser = HTTPRequestParser(limits: loop.configuration.limits)
        outbox = Outbox { [weak self] in if let self { loop.submit(.flush(self)) } }
    }

    // MARK: Readiness

    func handle(_ ready: Readiness, scratch: UnsafeMutableRawBufferPointer) {
        if ready.canWrite { flush() }
        if ready.canRead { read(scratch) }
        guard ready.isOver, !isClosed else { return }
        if Socket.hasFailed(descriptor) {
            lose()
        } else if wantsInput {
            read(scratch)
        } else {
            // Both sides have ended and no one reads; without this, the state would be reported repeatedly.
            exchange?.task?.cancel()
            loop.ignore(self)
        }
    }

    var isClosed: Bool { if case .closed = phase { true } else { false } }

    private var wantsInput: Bool { !hasInputEnded && !isBodyFull && held.count <= Self.heldLimit }

    func updateInterest() {
        guard !isClosed else { return }
        let waits = !output.isEmpty || sessionWaits
        let nextPiece = waits ? output.nextPiece : nil
        if let nextPiece { loop.flush(self, at: nextPiece) }
        loop.watch(self, reading: wantsInput, writing: waits && nextPiece == nil)
    }

    // MARK: Input

    private func read(_ scratch: UnsafeMutableRawBufferPointer) {
        // A few rounds, then it is the other connections' turn.
        for _ in 0..<8 where wantsInput && !isClosed {
            switch Socket.receive(descriptor, into: scratch) {
            case .bytes(let count):
                take(UnsafeRawBufferPointer(rebasing: scratch[..<count]))
                if count < scratch.count { return updateInterest() }
            case .wouldBlock: return updateInterest()
            case .end: return inputEnded()
            case .broken: return lose()
            }
        }
        updateInterest()
    }

    func take(_ bytes: UnsafeRawBufferPointer) {
        switch phase {
        case .serving: parse(bytes)
        case .raw(let pipe): if !pipe.offer(bytes) { isBodyFull = true }
        case .session(let handler):
            if let raw { handler.received(bytes, on: raw) }
            endSessionIfAsked()
        case .ending, .closed: break
        }
    }

    func parse(_ bytes: UnsafeRawBufferPointer) {
        var rest = bytes
        while case .serving = phase {
            if let exchange, exchange.isBodyComplete {
                held.append(contentsOf: rest)
                return
            }
            switch parser.parse(&rest) {
            case .needsMore: return
            case .head(let head, let hasBody): begin(head, hasBody: hasBody)
            case .body(let piece): takeBody(piece)
            case .end:
                exchange?.isBodyComplete = true
                exchange?.body.finish(.complete)
                if exchange?.isAnswered == true { finishExchange() }
            case .http2:
                guard let message = loop.configuration.http2Refusal else { return refuse(505) }
                takeOver(HTTP2RefusalSession(message: message))
            case .refused(let status): refuse(status)
            }
        }
        // The bytes after the request whose handler took over the connection.
        switch phase {
        case .raw, .session: if !rest.isEmpty { take(rest) }
        case .serving, .ending, .closed: break
        }
    }

    private func inputEnded() {
        hasInputEnded = true
        switch phase {
        case .raw(let pipe): pipe.finish(.complete)
        case .session: return endSession(reset: false)
        case .ending, .closed: return lose()
        case .serving:
            if let exchange {
                // The client may still read: an answer is sent if the handler gives one despite the cancellation.
                if !exchange.isBodyComplete { exchange.body.finish(.failed(.disconnected)) }
                if exchange.isAnswered, !exchange.isBodyComplete { return endInOrder() }
                exchange.task?.cancel()
            } else {
                return endInOrder()
            }
        }
        updateInterest()
    }

    func resumeReading() {
        guard isBodyFull else { return }
        isBodyFull = false
        updateInterest()
    }

    // MARK: Output

    func cut(after count: Int, reset: Bool) { output.cut(after: count, reset: reset) }

    func slowDown(to pace: Pace) { output.slowDown(to: pace, at: .now) }

    func flush() {
        guard !isClosed else { return }
        switch output.flush(outbox, to: descriptor, at: .now) {
        case .waiting: return updateInterest()
        case .cut(let isReset): return isReset ? reset() : abandon()
        case .broken: return lose()
        case .drained: break
        }
        // A pace applies to one answer, or to everything that a session sends.
        if case .serving = phase, exchange?.isAnswered ?? true { output.endPace() }
        if case .ending = phase { return finishEnding() }
        if sessionWaits { sessionMayWrite() }
        if finishesSending { Socket.finishSending(descriptor) }
        updateInterest()
    }

    /// Ends the server's side once everything queued is sent.
    func finishSending() {
        finishesSending = true
        flush()
    }

    // MARK: Closing

    func end(reset isReset: Bool) {
        isReset ? reset() : endInOrder()
    }

    /// Sends what is queued, ends the server's side, and waits briefly for the client to do the same: closing while the client
    /// still sends would reset the connection, and lose the answer.
    func endInOrder() {
        guard !isClosed else { return }
        if case .ending = phase { return }
        phase = .ending
        held = []
        isBodyFull = false
        flush()
    }

    private func finishEnding() {
        guard !hasInputEnded else { return close { Socket.close($0) } }
        Socket.finishSending(descriptor)
        loop.linger(self)
        updateInterest()
    }

    /// Drops what is queued and ends the socket normally.
    private func abandon() {
        output.drop()
        outbox.fail()
        endInOrder()
    }

    func reset() { close { Socket.reset($0) } }

    /// The client has disconnected, or the server stops.
    func lose() { close { Socket.close($0) } }

    private func close(_ end: (Int32) -> Void) {
        guard !isClosed else { return }
        let ended = phase
        phase = .closed
        if case .raw(let pipe) = ended { pipe.finish(.failed(.disconnected)) }
        if case .session(let handler) = ended, let raw { handler.closed(raw, error: Self.clientHasGone) }
        raw = nil
        outbox.fail()
        if let exchange {
            if !exchange.isAnswered, exchange.task != nil { loop.counts.withLock { $0.abandonedRequests += 1 } }
            exchange.body.finish(.failed(.disconnected))
            exchange.task?.cancel()
        }
        exchange = nil
        loop.forget(self)
        end(descriptor)
    }
}
