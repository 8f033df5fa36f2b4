#if os(Linux)
    import SwitchyardBytes
    import Synchronization

    /// HTTP with libcurl: all transfers run on one separate thread, with an async interface.
    ///
    /// The library is loaded and the thread started by the first request. Releasing the last reference ends everything in
    /// progress with `.shutDown`; `shutDown()` also waits for that.
    package final class CurlTransport: Transport, RawConnector {
        private let loop: CurlLoop

        package init(_ configuration: CurlConfiguration = CurlConfiguration()) {
            loop = CurlLoop(configuration, startThread: LoopThread.start)
        }

        /// For tests of a system that cannot start threads.
        init(_ configuration: CurlConfiguration, startThread: @escaping CurlLoop.ThreadStart) {
            loop = CurlLoop(configuration, startThread: startThread)
        }

        deinit {
            loop.stop()
        }

        package var executor: (any TaskExecutor)? { loop }

        /// The number of exchanges and raw connections, including those whose answer is still being read: for leak checks.
        package var liveExchangeCount: Int { loop.live.value.load(ordering: .relaxed) }

        /// The number of exchanges waiting for their origin: for tests of its limits.
        package var waitingExchangeCount: Int { loop.waiting.value.load(ordering: .relaxed) }

        /// The number of loop iterations: for tests that it sleeps when idle.
        package var loopTurnCount: Int { loop.turns.value.load(ordering: .relaxed) }

        package func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
            try await send(request, until: nil)
        }

        package func send(
            _ request: HTTPRequest, within deadline: Duration
        ) async throws(TransportError) -> HTTPResponse {
            try await send(request, until: ContinuousClock.now + deadline)
        }

        private func send(
            _ request: HTTPRequest, until deadline: ContinuousClock.Instant?
        ) async throws(TransportError) -> HTTPResponse {
            try await followingRedirects(request, body: nil) { attempt throws(TransportError) in
                try await self.run(attempt, delivery: .whole, until: deadline)
            }
        }

        package func stream(_ request: HTTPRequest) async throws(TransportError) -> HTTPStream {
            let pipe = Mutex<BodyPipe?>(nil)
            let response = try await followingRedirects(request, body: nil) { attempt throws(TransportError) in
                let fresh = BodyPipe()
                let abandoned = pipe.withLock { pipe in
                    defer { pipe = fresh }
                    return pipe
                }
                abandoned?.cancel()
                return try await self.run(attempt, delivery: .piped(fresh))
            }
            guard let body = pipe.withLock({ $0 }) else { throw TransportError(.unknown, "there was no exchange") }
            return HTTPStream(head: response.head, body: HTTPBody(body))
        }

        package func upload(
            _ request: HTTPRequest, body: RequestBody, progress: TransferProgress?
        ) async throws(TransportError) -> HTTPResponse {
            try await followingRedirects(request, body: body) { attempt throws(TransportError) in
                guard let content = attempt.body else { return try await self.run(attempt, delivery: .whole) }
                return try await self.runUpload(attempt.request, content, progress)
            }
        }

        package func download(
            _ request: HTTPRequest, to file: FileDestination, progress: TransferProgress?
        ) async throws(TransportError) -> HTTPResponse {
            var request = request
            // A file is written more slowly than HTTP/2's window fills.
            if request.httpVersion == .automatic { request.httpVersion = .http1 }
            let answer = try await stream(request)
            guard answer.head.isSuccess else {
                return HTTPResponse(
                    head: answer.head, body: try await answer.body.collect(upTo: request.maximumBodySize))
            }
            try await FileSink.write(answer.body, to: file, progress: progress)
            return HTTPResponse(head: answer.head)
        }

        @discardableResult
        package func open(
            _ address: String, connectDeadline: Duration, handler: any RawConnectionHandler
        ) -> any RawConnection {
            let connection = CurlRawConnection(address, connectDeadline: connectDeadline, loop: loop, handler: handler)
            do throws(TransportError) {
                let scheme = try URLParts(validating: address).scheme
                guard ["http", "https", "ws", "wss"].contains(scheme) else {
                    throw TransportError(.invalidRequest, "the address has another scheme")
                }
                if !loop.submit(.open(connection)) { throw loop.refusal.withLock { $0 } }
            } catch {
                connection.deliverClosed(error)
            }
            return connection
        }

        package func shutDown() async {
            loop.stop()
            await loop.waitUntilEnded()
        }

        // MARK: One exchange

        private struct Attempt {
            var request: HTTPRequest
            var body: RequestBody?
        }

        private func followingRedirects(
            _ request: HTTPRequest, body: RequestBody?,
            run: (Attempt) async throws(TransportError) -> HTTPResponse
        ) async throws(TransportError) -> HTTPResponse {
            var follower = RedirectFollower(request)
            while true {
                let attempt = Attempt(request: follower.request, body: follower.sendsBody ? body : nil)
                let response = try await run(attempt)
                let goesOn = try follower.follow(
                    response.head, hasBody: body != nil || !request.body.isEmpty,
                    isReplayable: body?.isReplayable ?? true)
                if !goesOn { return response }
            }
        }

        private func run(
            _ attempt: Attempt, delivery: CurlExchange.Delivery, until deadline: ContinuousClock.Instant? = nil
        ) async throws(TransportError) -> HTTPResponse {
            let origin = try attempt.request.validate().origin
            // Send a large body in pieces, to report progress and avoid a copy.
            let body = attempt.request.body
            let upload = body.count > 64 * 1024 ? BytesUploadSource(body) : nil
            return try await perform(
                CurlExchange(
                    attempt.request, origin: origin, upload: upload, delivery: delivery, deadline: deadline, loop: loop)
            )
        }

        private func runUpload(
            _ request: HTTPRequest, _ body: RequestBody, _ progress: TransferProgress?
        ) async throws(TransportError) -> HTTPResponse {
            let origin = try request.validate().origin
            func exchange(_ source: any UploadSource) -> CurlExchange {
                CurlExchange(
                    request, origin: origin, upload: source, progress: progress, delivery: .whole, loop: loop)
            }
            switch body.content {
            case .bytes(let bytes): return try await perform(exchange(BytesUploadSource(bytes)))
            case .file(let path, let range):
                return try await perform(exchange(FileUploadSource(try FileReader(path, range: range))))
            case .produced(let produce):
                let starved = ResumeSending(loop)
                let pipe = UploadPipe(length: body.length) { starved.fire() }
                let exchange = exchange(pipe)
                starved.attach(exchange)
                let producer = Task { await Self.fill(pipe, by: produce) }
                defer { producer.cancel() }
                return try await perform(exchange)
            }
        }

        private static func fill(
            _ pipe: UploadPipe, by produce: @Sendable (RequestBodyWriter) async throws -> Void
        ) async {
            do {
                try await produce(RequestBodyWriter { bytes throws(TransportError) in try await pipe.push(bytes) })
                pipe.complete(.success(()))
            } catch let error as TransportError where error.code == .requestBodyFailed {
                pipe.complete(.failure(error))
            } catch {
                pipe.complete(
                    .failure(
                        TransportError(.requestBodyFailed, "the producer of the body failed", underlying: error)))
            }
        }

        private func perform(_ exchange: CurlExchange) async throws(TransportError) -> HTTPResponse {
            if case .piped(let pipe) = exchange.delivery { pipe.attach(PipeControl(loop, exchange)) }
            let result = await withTaskCancellationHandler {
                await withCheckedContinuation { (continuation: CurlExchange.Continuation) in
                    exchange.continuation = continuation
                    if !loop.submit(.start(exchange)) { exchange.deliver(loop.refusal.withLock { $0 }) }
                }
            } onCancel: {
                exchange.isCancelled.store(true, ordering: .relaxed)
                _ = loop.submit(.cancel(exchange))
            }
            return try result.get()
        }
    }

    /// Lets a body's reader control its exchange.
    private final class PipeControl: BodyPipe.Control {
        private let loop: CurlLoop
        private let exchange: CurlExchange

        init(_ loop: CurlLoop, _ exchange: CurlExchange) {
            self.loop = loop
            self.exchange = exchange
        }

        func resumeReceiving() {
            _ = loop.submit(.resumeReceiving(exchange))
        }

        func cancel() {
            exchange.isCancelled.store(true, ordering: .relaxed)
            _ = loop.submit(.cancel(exchange))
        }
    }

    /// Makes libcurl read an upload pipe again. The reference is weak, since the exchange retains the pipe that retains this.
    private final class ResumeSending: Sendable {
        private struct State {
            weak var exchange: CurlExchange?
        }

        private let loop: CurlLoop
        private let state = Mutex(State())

        init(_ loop: CurlLoop) {
            self.loop = loop
        }

        func attach(_ exchange: CurlExchange) {
            state.withLock { $0.exchange = exchange }
        }

        func fire() {
            guard let exchange = state.withLock({ $0.exchange }) else { return }
            _ = loop.submit(.resumeSending(exchange))
        }
    }
#endif
