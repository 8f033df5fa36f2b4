/// Moves bytes. The one seam between the protocols of this package and a network.
///
/// Every operation ends promptly when its task is cancelled, with `.cancelled`, and says in `mayHaveBeenSent` whether
/// the server may have seen the request. A transport never repeats a request, except as `HTTPRequest.isIdempotent` says.
package protocol Transport: Sendable {
    /// The whole answer, at most `request.maximumBodySize` bytes of it.
    func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse

    /// The same, waited for no longer than `deadline` by the system's clock. Has a default; a transport that keeps its own
    /// time does without a task for each call.
    ///
    /// - Throws: `.deadlineExceeded` when time ran out; retryable if the request was not sent or is idempotent.
    func send(_ request: HTTPRequest, within deadline: Duration) async throws(TransportError) -> HTTPResponse

    /// The head of the answer as soon as it is there, and the body as it arrives.
    func stream(_ request: HTTPRequest) async throws(TransportError) -> HTTPStream

    /// Sends `body` (in place of `request.body`), and answers with the whole response.
    ///
    /// - Parameter progress: called now and then with the number of bytes handed to the connection; never concurrently.
    func upload(
        _ request: HTTPRequest, body: RequestBody, progress: TransferProgress?
    ) async throws(TransportError) -> HTTPResponse

    /// Writes the body of a successful answer to `file`; any other answer is returned with its body instead.
    ///
    /// - Parameter progress: called now and then with the number of bytes written; never concurrently.
    func download(
        _ request: HTTPRequest, to file: FileDestination, progress: TransferProgress?
    ) async throws(TransportError) -> HTTPResponse

    /// An open web socket: the upgrade has been answered.
    ///
    /// - Throws: `.webSocketRefused`, with the answer, when the server did not switch protocols.
    func webSocket(_ request: WebSocketRequest) async throws(TransportError) -> any WebSocketConnection

    /// Runs tasks on the thread that moves the bytes, where the transport has such a thread.
    ///
    /// What reaches a task there, and what it sends, changes no thread, which halves the time of a small round trip
    /// (`Task(executorPreference:)`). Whatever runs there holds up every transfer of this transport meanwhile: it is for
    /// pumps that take a message and pass it on, never for work, and never for the code of a caller.
    var executor: (any TaskExecutor)? { get }

    /// Ends everything under way with `.shutDown`, and returns when nothing of it is left. Later calls fail likewise.
    func shutDown() async
}

/// Bytes moved so far.
package typealias TransferProgress = @Sendable (Int64) -> Void

/// Where a download goes.
package struct FileDestination: Sendable, Hashable {
    package var path: String
    /// Continues behind what the file holds (the caller asks for the matching `Range`) instead of emptying it.
    package var appends: Bool

    package init(_ path: String, appends: Bool = false) {
        self.path = path
        self.appends = appends
    }
}

extension Transport {
    package var executor: (any TaskExecutor)? { nil }

    package func send(_ request: HTTPRequest, within deadline: Duration) async throws(TransportError) -> HTTPResponse {
        try await withDeadline(deadline, isIdempotent: request.isIdempotent) {
            () throws(TransportError) in try await send(request)
        }
    }

    /// The same by another clock.
    package func send(
        _ request: HTTPRequest, within deadline: Duration, clock: any Clock<Duration>
    ) async throws(TransportError) -> HTTPResponse {
        if clock is ContinuousClock { return try await send(request, within: deadline) }
        return try await withDeadline(deadline, clock: clock, isIdempotent: request.isIdempotent) {
            () throws(TransportError) in try await send(request)
        }
    }

    package func upload(_ request: HTTPRequest, body: RequestBody) async throws(TransportError) -> HTTPResponse {
        try await upload(request, body: body, progress: nil)
    }

    package func download(_ request: HTTPRequest, to file: FileDestination) async throws(TransportError) -> HTTPResponse
    {
        try await download(request, to: file, progress: nil)
    }
}
