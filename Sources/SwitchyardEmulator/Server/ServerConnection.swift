import SwitchyardWire
import Synchronization

/// One accepted connection: reads requests one after the other, lets each be answered, and sends what comes back.
final class ServerConnection: @unchecked Sendable {
    // Proof: `outbox` locks itself, `let`s are immutable and Sendable; every `var` is touched by the loop thread only,
    // which is the only caller of everything but `outbox`, `number` and `loop`.

    /// A request under way.
    private struct Exchange {
        let id: Int
        let body: BytePipe
        var awaitsContinue: Bool
        var isBodyComplete: Bool
        var isAnswered = false
        var keepsConnection = true
        var task: Task<Void, Never>?
    }

    private enum Phase {
        case serving
        case raw(BytePipe)
        case session(any RawConnectionHandler)
        case ending
        case closed
    }

    /// Bytes of later requests that are kept while one is answered.
    private static let heldLimit = 64 * 1024
    /// What is read and dropped of a body that the handler did not want, to keep the connection.
    private static let discardLimit = 1 << 20

    private static let clientHasGone = TransportError(
        .connectionLost, "the client has gone", isRetryable: true, mayHaveBeenSent: true)

    let descriptor: Int32
    let number: Int
    let loop: ServerLoop
    /// Set right after `init`, since it refers back.
    private(set) var outbox: Outbox! = nil

    private var parser: HTTPRequestParser
    private var phase = Phase.serving
    private var exchange: Exchange?
    private var exchanges = 0
    private var held: [UInt8] = []
    private var discarded = 0
    private var isBodyFull = false
    private var hasInputEnded = false
    private var finishesSending = false

    private var raw: ServerRawConnection?
    /// A session has bytes that the kernel would not take.
    private var sessionWaits = false

    private var sending: [UInt8] = []
    private var sent = 0
    private var cut: (remaining: Int, reset: Bool)?

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
            // Both sides have ended and nobody reads now: reported again and again, unless we look away.
            exchange?.task?.cancel()
            loop.ignore(self)
        }
    }

    private var isClosed: Bool { if case .closed = phase { true } else { false } }

    private var wantsInput: Bool { !hasInputEnded && !isBodyFull && held.count <= Self.heldLimit }

    private func updateInterest() {
        guard !isClosed else { return }
        loop.watch(self, reading: wantsInput, writing: sent < sending.count || sessionWaits)
    }

    // MARK: Input

    private func read(_ scratch: UnsafeMutableRawBufferPointer) {
        // A few rounds, then the other connections have their turn.
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

    private func take(_ bytes: UnsafeRawBufferPointer) {
        switch phase {
        case .serving: parse(bytes)
        case .raw(let pipe): if !pipe.offer(bytes) { isBodyFull = true }
        case .session(let handler):
            if let raw { handler.received(bytes, on: raw) }
            endSessionIfAsked()
        case .ending, .closed: break
        }
    }

    private func parse(_ bytes: UnsafeRawBufferPointer) {
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
            case .refused(let status): refuse(status)
            }
        }
        // Bytes behind the point where a handler took the connection over.
        switch phase {
        case .raw, .session: if !rest.isEmpty { take(rest) }
        case .serving, .ending, .closed: break
        }
    }

    private func takeBody(_ piece: UnsafeRawBufferPointer) {
        guard let exchange else { return }
        if exchange.isAnswered {
            discarded += piece.count
            if discarded > Self.discardLimit { endInOrder() }
        } else if !exchange.body.offer(piece) {
            isBodyFull = true
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
                // The client may still read: the answer is sent if the handler gives one in spite of the hint.
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

    // MARK: Exchanges

    private func begin(_ head: RequestHead, hasBody: Bool) {
        exchanges += 1
        let id = exchanges
        let loop = loop
        let body = BytePipe(
            onFirstRead: { [self] in if head.expectsContinue { loop.submit(.sendContinue(self, exchange: id)) } },
            onDrained: { [self] in loop.submit(.resumeReading(self)) })
        if !hasBody { body.finish(.complete) }
        let request = ServerRequest(head: head, body: ServerRequestBody(pipe: body), connection: number)
        exchange = Exchange(
            id: id, body: body, awaitsContinue: hasBody && head.expectsContinue, isBodyComplete: !hasBody)
        loop.counts.withLock { $0.requests += 1 }
        let fault = loop.faults.strike(request)
        if fault == nil, !hasBody, let response = loop.immediately?(request), case .bytes(let bytes) = response.content
        {
            let (answer, keeps) = ResponseHead.make(response, to: head, body: .bytes(bytes))
            outbox.append(answer)
            return answered(id, keepsConnection: keeps)
        }
        loop.handlerStarted()
        let run = ExchangeRun(request: request, id: id, connection: self, outbox: outbox, fault: fault)
        exchange?.task = Task {
            await run.run()
            loop.submit(.handlerEnded)
        }
    }

    /// The client wants to hear that its body is welcome; it does when somebody starts to read it.
    func sendContinue(for id: Int) {
        guard var current = exchange, current.id == id, current.awaitsContinue, !current.isAnswered else { return }
        current.awaitsContinue = false
        exchange = current
        outbox.append(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8))
    }

    func answered(_ id: Int, keepsConnection: Bool) {
        guard var current = exchange, current.id == id, !isClosed else { return }
        current.isAnswered = true
        current.keepsConnection = keepsConnection
        exchange = current
        flush()
        guard case .serving = phase else { return }
        if !keepsConnection { return endInOrder() }
        if current.isBodyComplete { return finishExchange() }
        // A client that still waits to hear "100 Continue" may or may not send its body now: no way to go on.
        if current.awaitsContinue || hasInputEnded { return endInOrder() }
        isBodyFull = false
        updateInterest()
    }

    private func finishExchange() {
        exchange = nil
        discarded = 0
        if hasInputEnded, held.isEmpty { return endInOrder() }
        let bytes = held
        held = []
        bytes.withUnsafeBytes { if !$0.isEmpty { parse($0) } }
        updateInterest()
    }

    private func refuse(_ status: Int) {
        if let exchange, !exchange.isAnswered {
            // The body under way turned out to be bad; the handler hears of it and answers, or has answered already.
            exchange.body.finish(
                .failed(status == 413 ? .bodyTooLarge(limit: loop.configuration.limits.bodySize) : .badRequestBody))
            self.exchange?.isBodyComplete = true
            self.exchange?.keepsConnection = false
            hasInputEnded = true
            return
        }
        outbox.append(ResponseHead.refusal(status))
        flush()
        endInOrder()
    }

    func takeOver(_ pipe: BytePipe) {
        guard !isClosed else { return pipe.finish(.failed(.disconnected)) }
        phase = .raw(pipe)
        isBodyFull = false
        let bytes = held
        held = []
        bytes.withUnsafeBytes { if !$0.isEmpty { take($0) } }
        if hasInputEnded { pipe.finish(.complete) }
        updateInterest()
    }

    // MARK: Sessions

    /// Leaves the connection to a protocol that runs on this thread.
    func takeOver(_ handler: any RawConnectionHandler) {
        let raw = ServerRawConnection(self)
        guard !isClosed else { return handler.closed(raw, error: Self.clientHasGone) }
        self.raw = raw
        exchange?.isAnswered = true
        phase = .session(handler)
        isBodyFull = false
        flush()
        guard case .session = phase else { return }
        handler.connected(raw)
        let bytes = held
        held = []
        bytes.withUnsafeBytes { if !$0.isEmpty { handler.received($0, on: raw) } }
        endSessionIfAsked()
        if hasInputEnded { endSession(reset: false) }
        updateInterest()
    }

    func wakeSession() {
        guard case .session(let handler) = phase, let raw else { return }
        raw.startServing()
        handler.woken(raw)
        endSessionIfAsked()
        updateInterest()
    }

    func setSessionReceiving(_ receiving: Bool) { isBodyFull = !receiving }

    /// What the session hands over; takes nothing while bytes from before are still here.
    func sendForSession(_ bytes: UnsafeRawBufferPointer) -> Int {
        guard case .session = phase, sent == sending.count else {
            sessionWaits = true
            return 0
        }
        let allowed = cut.map { min(bytes.count, $0.remaining) } ?? bytes.count
        var taken = 0
        while taken < allowed {
            guard
                case .bytes(let count) = Socket.send(
                    descriptor, UnsafeRawBufferPointer(rebasing: bytes[taken..<allowed]))
            else { break }
            taken += count
        }
        cut?.remaining -= taken
        if let cut, cut.remaining == 0 { raw?.endsWithReset = cut.reset }
        sessionWaits = taken < bytes.count
        return taken
    }

    private func endSessionIfAsked() {
        if let reset = raw?.endsWithReset { endSession(reset: reset) }
    }

    private func endSession(reset isReset: Bool) {
        guard case .session(let handler) = phase, let raw else { return }
        phase = .serving  // neither reset nor order may call the handler again
        isReset ? reset() : endInOrder()
        handler.closed(raw, error: nil)
        self.raw = nil
    }

    // MARK: Output

    func cut(after count: Int, reset: Bool) { cut = (count, reset) }

    func flush() {
        guard !isClosed else { return }
        while true {
            if sent == sending.count {
                sending = outbox.take()
                sent = 0
                if sending.isEmpty { break }
            }
            let end = cut.map { min(sending.count, sent + $0.remaining) } ?? sending.count
            if end > sent {
                let result = sending.withUnsafeBytes { Socket.send(descriptor, .init(rebasing: $0[sent..<end])) }
                switch result {
                case .bytes(let count):
                    sent += count
                    cut?.remaining -= count
                    outbox.accepted(count)
                case .wouldBlock: return updateInterest()
                case .end, .broken: return lose()
                }
            }
            if let cut, cut.remaining == 0 { return cut.reset ? reset() : abandon() }
        }
        if case .ending = phase { return finishEnding() }
        if case .session(let handler) = phase, let raw, sessionWaits {
            sessionWaits = false
            handler.writable(raw)
            endSessionIfAsked()
        }
        if finishesSending { Socket.finishSending(descriptor) }
        updateInterest()
    }

    /// Ends our side once everything queued has left.
    func finishSending() {
        finishesSending = true
        flush()
    }

    // MARK: Ends

    func end(reset isReset: Bool) {
        isReset ? reset() : endInOrder()
    }

    /// Sends what is queued, ends our side, and waits a little for the client to do the same: closing while it still
    /// sends would reset the connection, and the answer with it.
    private func endInOrder() {
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

    /// Drops what is queued and ends in order at the socket's level.
    private func abandon() {
        cut = nil
        sending = []
        sent = 0
        outbox.fail()
        endInOrder()
    }

    private func reset() { close { Socket.reset($0) } }

    /// The client has gone, or the server stops.
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
