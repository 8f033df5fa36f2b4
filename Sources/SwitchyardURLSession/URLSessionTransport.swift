import Foundation
package import SwitchyardWire
import Synchronization

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The same protocol over `URLSession`: what ships on Apple platforms.
///
/// Differences from the libcurl transport, which follow from what `URLSession` offers:
/// - `connectDeadline` cannot be told apart from idling; the idle limit covers both.
/// - Whether a request left the machine is known only for failures to connect; otherwise `mayHaveBeenSent` is true.
///   `URLSession` decides by itself when to repeat a request on a connection that proved dead, by method alone.
/// - Compressed answers are always decoded; without `decompresses` none is asked for.
/// - Produced bodies, and parts of files, are spooled to a temporary file before they are sent.
///
/// On Linux, where only tests and measurements use it, Foundation moreover has no web sockets, no own certificate
/// authorities, and no back-pressure: `suspend` does not stop what is queued already.
package final class URLSessionTransport: Transport {
    private let state: Mutex<URLSession?>
    private let delegate: SessionDelegate
    private let trust: Trust
    private let connectionsPerHost: Int

    /// Which certificates are believed.
    package enum Trust: Sendable {
        case system
        /// Only chains that end in one of these, each in DER form. Apple platforms only.
        case anchors([[UInt8]])
    }

    /// - Parameters:
    ///   - trust: For every connection.
    ///   - connectionsPerHost: Foundation lets further requests wait, however many.
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
            // Everything is spooled, so every body can be sent again.
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

/// Where a task takes its body from.
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
        // Foundation knows no requests without any limit; a year is one nobody will notice.
        let idle = request.idleLimit ?? .seconds(31_536_000)
        timeoutInterval = Double(idle.components.seconds) + Double(idle.components.attoseconds) * 1e-18
        for field in request.headers { addValue(field.value, forHTTPHeaderField: field.name) }
        if !request.decompresses { setValue("identity", forHTTPHeaderField: "Accept-Encoding") }
        if !request.body.isEmpty { httpBody = Data(request.body) }
    }
}
