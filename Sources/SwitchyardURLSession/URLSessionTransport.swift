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
    private struct Sessions {
        /// The session that requests share; `nil` after the shutdown.
        var shared: URLSession?
        /// Those of requests on a connection of their own.
        var fresh: [ObjectIdentifier: URLSession] = [:]
    }

    private final class SessionBox: Sendable {
        let sessions = Mutex(Sessions())
    }

    private let state = SessionBox()
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
        state.sessions.withLock { $0.shared = Self.makeSession(delegate, connectionsPerHost) }
    }

    deinit {
        state.sessions.withLock { sessions in
            sessions.shared?.invalidateAndCancel()
            for session in sessions.fresh.values { session.invalidateAndCancel() }
        }
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
            guard let session = state.sessions.withLock({ $0.shared }) else { throw Self.shutDown }
            let task = session.webSocketTask(with: try URLRequest(request))
            task.maximumMessageSize = request.maximumMessageSize
            let waits = SessionWebSocket.Waits()
            delegate.add(waits, for: task)
            return try await SessionWebSocket.open(
                SystemSocketTask(task, url: request.url), waits, to: request.url, within: request.connectDeadline)
        #endif
    }

    package func shutDown() async {
        let (shared, fresh) = state.sessions.withLock { sessions in
            defer { sessions = Sessions() }
            return (sessions.shared, sessions.fresh.values)
        }
        guard let shared else { return }
        for session in [shared] + fresh {
            let delegate = session.delegate as? SessionDelegate
            delegate?.markShutDown()
            session.invalidateAndCancel()
            await delegate?.waitUntilInvalid()
        }
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
        let urlRequest = try URLRequest(request)
        let session = try request.usesFreshConnection ? freshSession() : sharedSession()
        let task =
            switch body {
            case .inMemory: session.dataTask(with: urlRequest)
            case .file(let path): session.uploadTask(with: urlRequest, fromFile: URL(fileURLWithPath: path))
            }
        let exchange = SessionExchange(request, task: task, progress: progress)
        (session.delegate as? SessionDelegate)?.add(exchange, for: task)
        defer { if request.usesFreshConnection { session.finishTasksAndInvalidate() } }
        let head = try await exchange.start()
        return HTTPStream(head: head, body: HTTPBody(exchange))
    }

    private func sharedSession() throws(TransportError) -> URLSession {
        guard let session = state.sessions.withLock({ $0.shared }) else { throw Self.shutDown }
        return session
    }

    /// A session of its own, known until it has ended: task numbers are unique only within one session.
    private func freshSession() throws(TransportError) -> URLSession {
        let delegate = SessionDelegate(trust: trust) { [weak state] delegate in
            state?.sessions.withLock { _ = $0.fresh.removeValue(forKey: ObjectIdentifier(delegate)) }
        }
        let session = Self.makeSession(delegate, connectionsPerHost)
        let isOpen = state.sessions.withLock { sessions in
            guard sessions.shared != nil else { return false }
            sessions.fresh[ObjectIdentifier(delegate)] = session
            return true
        }
        guard isOpen else {
            session.invalidateAndCancel()
            throw Self.shutDown
        }
        return session
    }

    private static func makeSession(_ delegate: SessionDelegate, _ connectionsPerHost: Int) -> URLSession {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpMaximumConnectionsPerHost = connectionsPerHost
        configuration.httpCookieStorage = nil
        configuration.urlCache = nil
        configuration.urlCredentialStorage = nil
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        // Each request has its own idle limit, and the session's own, a minute, would end streams and web sockets.
        configuration.timeoutIntervalForRequest = URLRequest.unlimited
        configuration.timeoutIntervalForResource = URLRequest.unlimited
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
    /// Foundation always has a timeout; a year is practically unlimited.
    fileprivate static let unlimited: TimeInterval = 31_536_000

    fileprivate init(_ request: WebSocketRequest) throws(TransportError) {
        guard let url = URL(string: request.url) else {
            throw TransportError(.invalidRequest, "the address cannot be used")
        }
        self.init(url: url)
        timeoutInterval = Self.unlimited
        for field in request.headers { addValue(field.value, forHTTPHeaderField: field.name) }
        if !request.subprotocols.isEmpty {
            setValue(request.subprotocols.joined(separator: ", "), forHTTPHeaderField: "Sec-WebSocket-Protocol")
        }
    }

    fileprivate init(_ request: HTTPRequest) throws(TransportError) {
        guard let url = URL(string: request.url) else {
            throw TransportError(.invalidRequest, "the address cannot be used")
        }
        self.init(url: url)
        httpMethod = request.method.rawValue
        timeoutInterval =
            request.idleLimit.map { Double($0.components.seconds) + Double($0.components.attoseconds) * 1e-18 }
            ?? Self.unlimited
        for field in request.headers { addValue(field.value, forHTTPHeaderField: field.name) }
        if !request.decompresses { setValue("identity", forHTTPHeaderField: "Accept-Encoding") }
        if !request.body.isEmpty { httpBody = Data(request.body) }
    }
}
