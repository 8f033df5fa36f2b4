import SwitchyardWire
import Synchronization

// Requests, one at a time; everything here runs on the loop thread.
extension ServerConnection {
    func begin(_ head: RequestHead, hasBody: Bool) {
        exchanges += 1
        let id = exchanges
        let loop = loop
        let body = BytePipe(
            onFirstRead: { [self] in if head.expectsContinue { loop.submit(.sendContinue(self, exchange: id)) } },
            onDrained: { [self] in loop.submit(.resumeReading(self)) })
        if !hasBody { body.finish(.complete) }
        let observer = loop.observer.withLock { $0 }
        var request = ServerRequest(head: head, body: ServerRequestBody(pipe: body), connection: number)
        request.isExempt = observer?.isOwn(request) ?? false
        exchange = Exchange(
            id: id, body: body, awaitsContinue: hasBody && head.expectsContinue, isBodyComplete: !hasBody)
        let refusal = loop.configuration.visitors?.refusal(of: request)
        let control = loop.control.flatMap { refusal == nil && $0.isMeant(by: request) ? $0 : nil }
        if control == nil { loop.counts.withLock { $0.requests += 1 } }
        let isFaulty = control == nil && refusal == nil && !request.isExempt
        let fault = isFaulty ? loop.faults.inject(request) : nil
        if control == nil, fault == nil, !hasBody, let response = refusal ?? loop.immediately?(request),
            case .bytes(let bytes) = response.content
        {
            let (answer, keeps) = ResponseHead.make(response, to: head, body: .bytes(bytes))
            outbox.append(answer)
            return answered(id, keepsConnection: keeps)
        }
        let record = control == nil && !request.isExempt ? observer?.began(request) : nil
        if let fault { record?.applies(fault) }
        exchange?.record = record
        var handler: LoopbackServer.Handler = loop.handler
        if let refusal { handler = { _ in refusal } } else if let control { handler = { await control.handle($0) } }
        loop.handlerStarted()
        let run = ExchangeRun(
            request: request, id: id, connection: self, outbox: outbox, fault: fault,
            handler: handler, record: record)
        exchange?.task = Task {
            if let record {
                await ExchangeRecord.$current.withValue(record) { await run.run() }
                record.ends(isComplete: false)
            } else {
                await run.run()
            }
            loop.submit(.handlerEnded)
        }
    }

    /// Sends "100 Continue", for which the client waits, once a handler starts to read the body.
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
        // A client waiting for "100 Continue" may or may not send its body now, so the connection cannot continue.
        if current.awaitsContinue || hasInputEnded { return endInOrder() }
        isBodyFull = false
        updateInterest()
    }

    func finishExchange() {
        exchange = nil
        discarded = 0
        if hasInputEnded, held.isEmpty { return endInOrder() }
        let bytes = held
        held = []
        bytes.withUnsafeBytes { if !$0.isEmpty { parse($0) } }
        updateInterest()
    }

    func refuse(_ status: Int) {
        if let exchange, !exchange.isAnswered {
            // The body in progress is invalid; the handler gets the error and answers, or has answered already.
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

    func takeBody(_ piece: UnsafeRawBufferPointer) {
        guard let exchange else { return }
        exchange.record?.received(piece)
        if exchange.isAnswered {
            discarded += piece.count
            if discarded > Self.discardLimit { endInOrder() }
        } else if !exchange.body.offer(piece) {
            isBodyFull = true
        }
    }
}
