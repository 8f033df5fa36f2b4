import Switchyard
import SwitchyardBytes
import SwitchyardWire

/// A bidirectional stream of JSON messages with the server, controlled by a ``WebChannelMachine``.
actor WebChannel {
    /// The timeout of all requests except the back channel; a server may never answer a message that it cannot process.
    static let requestDeadline = Duration.seconds(15)

    private let transport: any Transport
    private let address: String
    private let headers: HTTPHeaders
    private let clock: any Clock<Duration>
    private var machine: WebChannelMachine
    private var backChannel: Task<Void, Never>?
    /// Distinguishes answers of the current back channel from those of an abandoned one.
    private var backChannelNumber = 0
    private var timers: [WebChannelMachine.Timer: Task<Void, Never>] = [:]
    private let incoming = StreamBuffer<JSON, WebChannelEnd>(.all)
    private let trace: Trace?

    /// Called with each event and the machine's actions, for transcripts.
    typealias Trace = @Sendable (WebChannelMachine.Event, [WebChannelMachine.Action]) -> Void

    /// The end of a channel, as the reader gets it.
    struct WebChannelEnd: Error {
        let reason: WebChannelClose
    }

    /// - Parameters:
    ///   - address: The channel's URL without a query.
    ///   - credentials: Header lines for the whole session; another user needs another session.
    init(
        _ address: String, database: String, credentials: [(String, String)], transport: any Transport,
        clock: any Clock<Duration> = ContinuousClock(), trace: Trace? = nil
    ) {
        self.trace = trace
        self.address = address
        self.transport = transport
        self.clock = clock
        headers = HTTPHeaders(credentials.map { HTTPHeaders.Field(name: $0, value: $1) })
        machine = WebChannelMachine(
            database: database, headers: credentials, firstRequestID: Int.random(in: 10_000..<100_000))
    }

    deinit {
        backChannel?.cancel()
        for timer in timers.values { timer.cancel() }
    }

    /// Sends a message; the first one opens the channel.
    func send(_ message: JSON) { handle(.send(message.bytes())) }

    /// The next message from the server. There can be only one reader at a time.
    ///
    /// - Throws: Why the channel has ended.
    nonisolated func next() async throws(WebChannelEnd) -> JSON? { try await incoming.next() }

    /// Ends the session. Messages already sent are still carried out.
    func close() { handle(.terminate) }

    private func handle(_ event: WebChannelMachine.Event) {
        let actions = machine.handle(event)
        trace?(event, actions)
        for action in actions { perform(action) }
    }

    private func perform(_ action: WebChannelMachine.Action) {
        switch action {
        case .handshake(let query, let body):
            Task { [weak self] in await self?.shakeHands(query, body) }
        case .forward(let query, let body):
            Task { [weak self] in await self?.forward(query, body) }
        case .openBackChannel(let query):
            backChannelNumber += 1
            let number = backChannelNumber
            let request = request(.get, query)
            let transport = transport
            backChannel = Task { [weak self] in
                await WebChannel.read(request, transport) { await self?.received($0, on: number) ?? false }
            }
        case .cancelBackChannel:
            backChannelNumber += 1
            backChannel?.cancel()
            backChannel = nil
        case .terminate(let query):
            let request = request(.post, query)
            Task { [transport, clock] in
                _ = try? await transport.send(request, within: WebChannel.requestDeadline, clock: clock)
            }
        case .deliver(let message): incoming.yield(message)
        case .schedule(let timer, let delay):
            timers[timer]?.cancel()
            timers[timer] = Task { [weak self, clock] in
                do { try await clock.sleep(for: delay) } catch { return }
                await self?.handle(.timer(timer))
            }
        case .cancel(let timer): timers.removeValue(forKey: timer)?.cancel()
        case .close(let reason): incoming.finish(.failure(WebChannelEnd(reason: reason)))
        }
    }

    private func shakeHands(_ query: [WebChannelMachine.Parameter], _ body: [UInt8]) async {
        do throws(TransportError) {
            let response = try await post(query, body)
            handle(
                .handshakeAnswered(
                    status: response.status, stickySession: response.headers["X-HTTP-Session-Id"], body: response.body))
        } catch {
            handle(.handshakeFailed(error.message))
        }
    }

    private func forward(_ query: [WebChannelMachine.Parameter], _ body: [UInt8]) async {
        do throws(TransportError) {
            let response = try await post(query, body)
            handle(.forwardAnswered(status: response.status, body: response.body))
        } catch {
            handle(error.code == .deadlineExceeded ? .forwardUnanswered : .forwardFailed(error.message))
        }
    }

    private func post(
        _ query: [WebChannelMachine.Parameter], _ body: [UInt8]
    ) async throws(TransportError) -> HTTPResponse {
        var request = request(.post, query)
        request.headers["Content-Type"] = "application/x-www-form-urlencoded"
        request.body = body
        return try await transport.send(request, within: WebChannel.requestDeadline, clock: clock)
    }

    private func received(_ event: WebChannelMachine.Event, on number: Int) -> Bool {
        guard number == backChannelNumber, !machine.isClosed else { return false }
        handle(event)
        return number == backChannelNumber
    }

    /// Reads one back channel to its end. It runs outside the actor, so that an idle channel does not keep the actor alive.
    private static func read(
        _ request: HTTPRequest, _ transport: any Transport,
        _ handle: (WebChannelMachine.Event) async -> Bool
    ) async {
        do throws(TransportError) {
            let stream = try await transport.stream(request)
            guard await handle(.backChannelOpened(status: stream.status)) else { return }
            for try await bytes in stream.body {
                guard await handle(.backChannelBytes(bytes)) else { return }
            }
            _ = await handle(.backChannelEnded)
        } catch {
            if !Task.isCancelled { _ = await handle(.backChannelFailed(error.message)) }
        }
    }

    private func request(_ method: HTTPMethod, _ query: [WebChannelMachine.Parameter]) -> HTTPRequest {
        let text = query.map { "\($0.name)=\(PercentCoding.encode($0.value))" }.joined(separator: "&")
        // Some servers close the connection after an answer without announcing it, so a pooled connection would be dead.
        var request = HTTPRequest(method, "\(address)?\(text)", headers: headers, isIdempotent: false)
        request.usesFreshConnection = true
        request.isShared = true
        request.decompresses = false
        request.httpVersion = .http1
        if method == .get {
            request.idleLimit = nil
            request.maximumStreamedSize = nil
        }
        return request
    }
}
