import Foundation
package import SwitchyardWire
import Synchronization

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The transport for Apple platforms, with `URLSession`.
///
/// Differences from the libcurl transport, due to `URLSession`:
/// - `connectDeadline` has no separate effect; the idle limit covers connecting as well.
/// - Only failures to connect show that a request was not sent; otherwise `mayHaveBeenSent` is true. `URLSession` itself
///   decides when to repeat a request after a dead connection, by method alone.
/// - Compressed answers are always decoded; without `decompresses`, none are requested.
/// - Produced bodies, and parts of files, are written to a temporary file before they are sent.
///
/// On Linux, where only tests and measurements use it, Foundation also has no web sockets, no custom certificate authorities,
/// and no back-pressure: `suspend` does not stop what is already queued.
package final class URLSessionTransport: Transport {
    private let state: Mutex<URLSession?>
    private let delegate: SessionDelegate
    private let trust: Trust
    private let connectionsPerHost: Int

    /// The trusted certificates.
    package enum Trust: Sendable {
        case system
        /// Only chains that end in one of these DER certificates. Apple platforms only.
        case anchors([[UInt8]])
    }

    /// - Parameters:
    ///   - trust: Applies to every connection.
    ///   - connectionsPerHost: Further requests wait in Foundation, without a limit.
    package init(trust: Trust = .system, connectionsPerHost: Int = 256) {
        self.trust = trust
        self.connectionsPerHost = connectionsPerHost
        delegate = SessionDelegate(trust: trust)
        state = Mutex(Self.makeSession(delegate, connectionsPerHost))
    }

    deinit {
        state.withLock { $0?.invalidateAndCancel() }
    }

    package func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
        try await followingRedirects(request, body: nil) { attempt, _ throws(TransportError) in
            let answer = try await self.begin(attempt, .inMemory)
            return HTTPResponse(
                head: answer.head, body: try await answer.body.collect(upTo: attempt.maximumBodySize))
        }
    }

    package func stream(_ request: HTTPRequest) async throws(TransportError) -> HTTPStream {
        let last = Mutex<HTTPStream?>(nil)
        _ = try await followingRedirects(request, body: nil) { attempt, _ throws(TransportError) in
            let answer = try await self.begin(attempt, .inMemory)
            last.withLock { $0 = answer }
            return HTTPResponse(head: answer.head)
        }
        guard let stream = last.withLock({ $0 }) else { throw TransportError(.unknown, "there was no exchange") }
        return stream
    }

    package func upload(
        _ request: HTTPRequest, body: RequestBody, progress: TransferProgress?
    ) async throws(TransportError) -> HTTPResponse {
        let spool = try await UploadSpool(body)
        return try await followingRedirects(request, body: body) { attempt, sendsBody throws(TransportError) in
            let content: SessionBody = sendsBody ? .file(spool.path) : .inMemory
            let answer = try await self.begin(attempt, content, progress: progress)
            return HTTPResponse(
                head: answer.head, body: try await answer.body.collect(upTo: attempt.maximumBodySize))
        }
    }

    package func download(
        _ request: HTTPRequest, to file: FileDestination, progress: TransferProgress?
    ) async throws(TransportError) -> HTTPResponse {
        let answer = try await stream(request)
        guard answer.head.isSuccess else {
            return HTTPResponse(head: answer.head, body: try await answer.body.collect(upTo: request.maximumBodySize))
        }
        try await FileSink.write(answer.body, to: file, progress: progress)
        return HTTPResponse(head: answer.head)
    }

    package func webSocket(_ request: WebSocketRequest) async throws(TransportError) -> any WebSocketConnection {
        #if canImport(FoundationNetworking)
            throw TransportError(.unsupported, "Foundation has no web sockets on this platform")
        #else
            guard let session = state.withLock({ $0 }) else { throw Self.shutDown }
            return try await SessionWebSocket.open(request, session: session, delegate: delegate)
        #endif
    }

    package func shutDown() async {
        let session = state.withLock { state in
            defer { state = nil }
            return state
        }
        guard let session else { return }
        delegate.markShutDown()
        session.invalidateAndCancel()
        await delegate.waitUntilInvalid()
    }

    // MARK: One exchange

    private func followingRedirects(
        _ request: HTTPRequest, body: RequestBody?,
        run: (HTTPRequest, Bool) async throws(TransportError) -> HTTPResponse
    ) async throws(TransportError) -> HTTPResponse {
        var follower = RedirectFollower(request)
        while true {
            let response = try await run(follower.request, follower.sendsBody)
            // All bodies are spooled, so each can be sent again.
            let goesOn = try follower.follow(response.head, hasBody: body != nil || !request.body.isEmpty)
            if !goesOn { return response }
        }
    }

    private func begin(
        _ request: HTTPRequest, _ body: SessionBody, progress: TransferProgress? = nil
    ) async throws(TransportError) -> HTTPStream {
        try request.validate()
        guard let shared = state.withLock({ $0 }) else { throw Self.shutDown }
        let urlRequest = try URLRequest(request)
        let fresh = request.usesFreshConnection ? Self.makeSession(delegate.sibling(), connectionsPerHost) : nil
        let session = fresh ?? shared
        let task =
            switch body {
            case .inMemory: session.dataTask(with: urlRequest)
            case .file(let path): session.uploadTask(with: urlRequest, fromFile: URL(fileURLWithPath: path))
            }
        let exchange = SessionExchange(request, task: task, progress: progress)
        (session.delegate as? SessionDelegate)?.add(exchange, for: task)
        defer { fresh?.finishTasksAndInvalidate() }
        let head = try await exchange.start()
        return HTTPStream(head: head, body: HTTPBody(exchange))
    }

    private static func makeSession(_ delegate: SessionDelegate, _ connectionsPerHost: Int) -> URLSession {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpMaximumConnectionsPerHost = connectionsPerHost
        configuration.httpCookieStorage = nil
        configuration.urlCache = nil
        configuration.urlCredentialStorage = nil
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        return URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
    }

    private static let shutDown = TransportError(.shutDown, "the transport is shut down")
}

/// The source of a task's body.
private enum SessionBody {
    /// `HTTPRequest.body`.
    case inMemory
    case file(String)
}

extension URLRequest {
    fileprivate init(_ request: HTTPRequest) throws(TransportError) {
        guard let url = URL(string: request.url) else {
            throw TransportError(.invalidRequest, "the address cannot be used")
        }
        self.init(url: url)
        httpMethod = request.method.rawValue
        // Foundation always has a timeout; a year is practically unlimited.
        let idle = request.idleLimit ?? .seconds(31_536_000)
        timeoutInterval = Double(idle.components.seconds) + Double(idle.components.attoseconds) * 1e-18
        for field in request.headers { addValue(field.value, forHTTPHeaderField: field.name) }
        if !request.decompresses { setValue("identity", forHTTPHeaderField: "Accept-Encoding") }
        if !request.body.isEmpty { httpBody = Data(request.body) }
    }
}
