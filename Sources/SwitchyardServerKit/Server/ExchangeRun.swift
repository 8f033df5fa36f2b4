import SwitchyardBytes
import SwitchyardWire

/// Answers one request, in the handler's task.
struct ExchangeRun: Sendable {
    let request: ServerRequest
    let id: Int
    let connection: ServerConnection
    let outbox: Outbox
    let fault: Fault?
    let handler: LoopbackServer.Handler
    var record: ExchangeRecord?

    private var loop: ServerLoop { connection.loop }

    func run() async {
        if case .holdRequest(let gate) = fault { await gate.wait() }
        let response: ServerResponse
        if case .answer(let replacement) = fault {
            response = replacement
        } else {
            response = await handler(request)
        }
        switch fault {
        case .holdAnswer(let gate): await gate.wait()
        case .dropAnswer(let reset): return loop.submit(.end(connection, reset: reset))
        case .replaceAnswer(let replacement): return await send(replacement)
        // The delay is the fault itself. A client that goes away ends it early.
        case .delayAnswer(let duration): try? await Task.sleep(for: duration)
        case .cutAnswer(let count, let reset): loop.submit(.cut(connection, after: count, reset: reset))
        case .paceAnswer(let pace): loop.submit(.slowDown(connection, pace))
        default: break
        }
        await send(response)
    }

    private func send(_ response: ServerResponse) async {
        if case .nothing = response.content {} else { record?.answers(response.status, response.headers) }
        switch response.content {
        case .bytes(let bytes):
            record?.sent(bytes)
            let (answer, keeps) = ResponseHead.make(response, to: request.head, body: .bytes(bytes))
            outbox.append(answer)
            record?.ends(isComplete: true)
            loop.submit(.answered(connection, exchange: id, keepsConnection: keeps))
        case .stream(let length, let produce):
            await stream(response, length: length, produce)
        case .raw(let run):
            await takeOver(run)
        case .webSocket(let acceptance):
            await upgrade(response, acceptance)
        case .nothing(let reset):
            loop.submit(.end(connection, reset: reset))
        }
    }

    private func stream(
        _ response: ServerResponse, length: Int?, _ produce: @Sendable (ResponseWriter) async throws -> Void
    ) async {
        let isChunked = length == nil && request.head.minorVersion > 0
        let body: ResponseHead.Body = length.map { .length($0) } ?? (isChunked ? .chunked : .untilEnd)
        let (head, keeps) = ResponseHead.make(response, to: request.head, body: body)
        outbox.append(head)
        let isSilent = request.method == .head || [204, 304].contains(response.status)
        let writer = ResponseWriter(
            outbox: outbox, isChunked: isChunked, isSilent: isSilent, counter: WrittenCount(), record: record)
        do {
            if !isSilent { try await produce(writer) }
        } catch {
            // If no one reads anymore, the connection is already ending: a reset would take away what was sent.
            if !outbox.isBroken { loop.submit(.end(connection, reset: true)) }
            return
        }
        if let length, !isSilent, writer.counter.value != length {
            return loop.submit(.end(connection, reset: true))
        }
        if isChunked, !isSilent { outbox.append(Array("0\r\n\r\n".utf8)) }
        record?.ends(isComplete: true)
        loop.submit(.answered(connection, exchange: id, keepsConnection: keeps))
    }

    private func takeOver(_ run: @Sendable (RawExchange) async throws -> Void) async {
        let loop = loop
        let connection = connection
        let pipe = BytePipe { loop.submit(.resumeReading(connection)) }
        loop.submit(.takeOver(connection, pipe))
        let exchange = RawExchange(input: pipe, outbox: outbox) { reset in
            switch reset {
            case nil: loop.submit(.finishSending(connection))
            case let reset?: loop.submit(.end(connection, reset: reset))
            }
        }
        try? await run(exchange)
        record?.ends(isComplete: true)
        loop.submit(.end(connection, reset: false))
    }

    private func upgrade(_ response: ServerResponse, _ acceptance: WebSocketAcceptance) async {
        let answer = WebSocketUpgrade.answer(
            to: request.headers, subprotocol: acceptance.subprotocol, headers: response.headers)
        guard answer.status == 101, request.method == .get else {
            return await send(ServerResponse(status: answer.status, headers: answer.headers))
        }
        let response = ServerResponse(status: 101, headers: answer.headers)
        outbox.append(ResponseHead.make(response, to: request.head, body: .upgrade).bytes)
        let session = WebSocketSession(
            role: .server, limits: acceptance.limits, keepAlive: acceptance.keepAlive, inboxLimit: 1 << 20)
        loop.submit(.startSession(connection, session))
        let handle = WebSocketHandle(
            session, head: answer, subprotocol: answer.headers["Sec-WebSocket-Protocol"])
        do {
            try await acceptance.run(handle)
            await handle.close(.normal)
            record?.ends(isComplete: true)
        } catch {
            await handle.close(.internalError)
        }
    }
}
