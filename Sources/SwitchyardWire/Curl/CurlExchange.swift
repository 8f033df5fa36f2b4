#if os(Linux)
    import CSwitchyardLibraries
    import Synchronization

    /// A request in the loop.
    ///
    /// Sendable by confinement: the creating task uses the mutable state, except `isCancelled`, until it submits the exchange,
    /// and from then on only the loop thread; the lock of the command queue orders the two.
    final class CurlExchange: @unchecked Sendable {
        enum Delivery {
            /// Collected, and delivered together with the head.
            case whole
            /// The head is delivered first, then the body through the pipe.
            case piped(BodyPipe)
        }

        enum Stage {
            case new
            /// Waits for a free slot of the origin.
            case waiting
            case running
            case finished
        }

        typealias Continuation = CheckedContinuation<Result<HTTPResponse, TransportError>, Never>

        let request: HTTPRequest
        let origin: String
        let upload: (any UploadSource)?
        let progress: TransferProgress?
        let delivery: Delivery
        /// When the caller stops waiting.
        let deadline: ContinuousClock.Instant?
        /// Set by any thread; the loop checks it before starting, since a cancellation may overtake the start.
        let isCancelled = Atomic(false)

        var continuation: Continuation?
        var stage = Stage.new {
            didSet {
                if stage == .waiting { waiting.value.add(1, ordering: .relaxed) }
                if oldValue == .waiting { waiting.value.subtract(1, ordering: .relaxed) }
            }
        }
        /// Its index in the loop's list of running exchanges.
        var position = 0
        var easy: ccurl_easy?
        var headerList: ccurl_list?
        var isReceivingPaused = false
        var isSendingPaused = false
        /// How often libcurl was about to write the request to a connection.
        var sendAttempts = 0
        /// Decides when the transfer counts as stalled.
        var idleWatch: IdleWatch?
        /// Why one of the callbacks aborted the transfer; overrides libcurl's own code.
        var abortReason: TransportError?

        private var head: ResponseHeadParser
        private var decoder: ContentDecoder?
        private var body: [UInt8] = []
        private var bodySize: Int64 = 0
        private var uploaded: Int64 = 0
        private let live: LiveCount
        private let waiting: LiveCount

        init(
            _ request: HTTPRequest, origin: String, upload: (any UploadSource)?, progress: TransferProgress? = nil,
            delivery: Delivery, deadline: ContinuousClock.Instant? = nil, loop: CurlLoop
        ) {
            self.request = request
            self.origin = origin
            self.upload = upload
            self.progress = progress
            self.delivery = delivery
            self.deadline = deadline
            live = loop.live
            waiting = loop.waiting
            head = ResponseHeadParser(limit: request.maximumHeadSize)
            live.value.add(1, ordering: .relaxed)
        }

        deinit {
            live.value.subtract(1, ordering: .relaxed)
        }

        var mayHaveBeenSent: Bool { sendAttempts > 0 }
        /// Whether it is a stream without an idle limit, which may stay open forever.
        var staysOpen: Bool { !isBrief && request.idleLimit == nil }
        /// Whether it ends by itself, unlike a stream.
        var isBrief: Bool { if case .whole = delivery { true } else { false } }
        var wasAnsweredInHTTP1: Bool { head.httpVersion.hasPrefix("1.") }

        // MARK: libcurl's callbacks

        /// The request is about to be written to a connection, a second time if the first connection was dead.
        func willSend() -> Bool {
            sendAttempts += 1
            if let limit = request.idleLimit {
                idleWatch = IdleWatch(limit: limit, minimumSpeed: request.minimumSpeed, now: .now)
            }
            guard sendAttempts > 1, !request.isIdempotent else { return true }
            abortReason = TransportError(.connectionLost, "the reused connection was dead", mayHaveBeenSent: true)
            return false
        }

        func receiveHeadLine(_ line: UnsafeRawBufferPointer) -> Bool {
            switch head.take(line) {
            case .going: return true
            case .complete:
                idleWatch?.restart(at: .now)
                guard prepareDecoding() else { return false }
                deliverHead()
                letGoOfUpload()
                return true
            case .tooLarge:
                return abort(.headTooLarge, "the head of the answer exceeds \(request.maximumHeadSize) bytes")
            case .malformed: return abort(.badResponse, "the head of the answer is malformed")
            }
        }

        /// libcurl stops sending after an early refusal, but not while it waits for more data; then it would wait forever.
        /// Resuming makes it check again.
        private func letGoOfUpload() {
            guard isSendingPaused, let easy else { return }
            isSendingPaused = false
            ccurl_pause(easy, isReceivingPaused ? CCURL_PAUSE_RECEIVING : 0)
        }

        enum Taken { case all, none, abort }

        func receiveBody(_ bytes: UnsafeRawBufferPointer) -> Taken {
            guard let decoder else { return take(bytes) }
            switch decoder.decode(bytes, to: take) {
            case .all: return .all
            case .none: return .none
            case .abort: return .abort
            case .damaged: _ = abort(.badContentCoding, "the body cannot be decompressed")
            case .outOfMemory: _ = abort(.outOfResources, "out of memory")
            }
            return .abort
        }

        /// Returns `false` for a coding that was not requested.
        private func prepareDecoding() -> Bool {
            decoder = nil
            guard request.decompresses, request.method != .head else { return true }
            let codings = head.headers.filter { $0.name.isSameHeaderName(as: "Content-Encoding") }
                .flatMap { $0.value.split(separator: ",") }.map { $0.filter { $0 != " " && $0 != "\t" } }
                .filter { !$0.isEmpty && $0.lowercased() != "identity" }
            guard let coding = codings.first else { return true }
            guard codings.count == 1, let coding = ContentDecoder.Coding(name: coding) else {
                return abort(.badContentCoding, "the body has an encoding that was not requested")
            }
            decoder = ContentDecoder(coding)
            return decoder != nil || abort(.badContentCoding, "there is no decoder for the body")
        }

        /// Takes the decoded body.
        private func take(_ bytes: UnsafeRawBufferPointer) -> Taken {
            switch delivery {
            case .whole:
                guard bytes.count <= request.maximumBodySize - body.count else {
                    _ = abort(.bodyTooLarge, "the body exceeds \(request.maximumBodySize) bytes")
                    return .abort
                }
                body.append(contentsOf: bytes)
                idleWatch?.moved(bytes.count)
                return .all
            case .piped(let pipe):
                if let limit = request.maximumStreamedSize, Int64(bytes.count) > limit - bodySize {
                    _ = abort(.bodyTooLarge, "the body exceeds \(limit) bytes")
                    return .abort
                }
                guard pipe.offer(bytes) else { return .none }
                bodySize += Int64(bytes.count)
                idleWatch?.moved(bytes.count)
                return .all
            }
        }

        enum Produced { case bytes(Int), later, end, abort }

        func produceBody(into buffer: UnsafeMutableRawBufferPointer) -> Produced {
            guard let upload else { return .end }
            switch upload.read(into: buffer) {
            case .bytes(let count):
                uploaded += Int64(count)
                idleWatch?.moved(count)
                progress?(uploaded)
                return .bytes(count)
            case .later: return .later
            case .end: return .end
            case .failed(let error):
                abortReason = TransportError(
                    error.code, error.message, mayHaveBeenSent: true, underlying: error.underlying)
                return .abort
            }
        }

        // MARK: Delivery

        /// Delivers the outcome to the waiting caller. The loop calls this once, after libcurl has released the exchange.
        func deliver(_ error: TransportError?) {
            var error = error
            if error == nil, !head.isComplete {
                error = TransportError(
                    .connectionLost, "the connection was closed before the head was complete",
                    isRetryable: request.isIdempotent, mayHaveBeenSent: true)
            }
            if error == nil, let decoder, !decoder.isComplete {
                error = TransportError(
                    .badContentCoding, "the compressed body lacks its end", isRetryable: request.isIdempotent,
                    mayHaveBeenSent: true)
            }
            decoder = nil
            upload?.finish(error)
            if case .piped(let pipe) = delivery { pipe.finish(error) }
            guard let continuation else { return }
            self.continuation = nil
            continuation.resume(
                returning: error.map { .failure($0) } ?? .success(HTTPResponse(head: makeHead(), body: body)))
        }

        private func deliverHead() {
            switch delivery {
            case .whole:
                let declared = head.headers.first { $0.name.isSameHeaderName(as: "Content-Length") }
                if let length = declared.flatMap({ Int($0.value) }), length > 0 {
                    body.reserveCapacity(min(length, request.maximumBodySize, 1 << 20))
                }
            case .piped:
                guard let continuation else { return }
                self.continuation = nil
                continuation.resume(returning: .success(HTTPResponse(head: makeHead())))
            }
        }

        private func makeHead() -> HTTPResponseHead {
            HTTPResponseHead(
                status: head.status, headers: HTTPHeaders(head.headers), url: request.url, httpVersion: head.httpVersion
            )
        }

        private func abort(_ code: TransportError.Code, _ message: String) -> Bool {
            abortReason = TransportError(code, message, mayHaveBeenSent: true)
            return false
        }
    }

    /// A number that several threads may read, such as the number of exchanges.
    final class LiveCount: Sendable {
        let value = Atomic(0)
    }
#endif
