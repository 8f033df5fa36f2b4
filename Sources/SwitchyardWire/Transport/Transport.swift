/// Transfers bytes: the only interface between this package's protocols and the network.
///
/// Each operation ends promptly with `.cancelled` if its task is cancelled, and reports in `mayHaveBeenSent` whether the server
/// may have seen the request. A transport never repeats a request, except as described for `HTTPRequest.isIdempotent`.
package protocol Transport: Sendable {
    /// Returns the complete answer, at most `request.maximumBodySize` bytes of it.
    func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse

    /// The same with a deadline by the system's clock. It has a default; a transport with its own timers needs no task per
    /// call.
    ///
    /// - Throws: `.deadlineExceeded` after the deadline; retryable if the request was not sent or is idempotent.
    func send(_ request: HTTPRequest, within deadline: Duration) async throws(TransportError) -> HTTPResponse

    /// Returns the head of the answer at once, and the body as it arrives.
    func stream(_ request: HTTPRequest) async throws(TransportError) -> HTTPStream

    /// Sends `body` (instead of `request.body`), and returns the complete answer.
    ///
    /// - Parameter progress: Called now and then with the number of bytes passed to the connection; never concurrently.
    func upload(
        _ request: HTTPRequest, body: RequestBody, progress: TransferProgress?
    ) async throws(TransportError) -> HTTPResponse

    /// Writes the body of a successful answer to `file`; any other answer is returned with its body.
    ///
    /// - Parameter progress: Called now and then with the number of bytes written; never concurrently.
    func download(
        _ request: HTTPRequest, to file: FileDestination, progress: TransferProgress?
    ) async throws(TransportError) -> HTTPResponse

    /// Opens a web socket and returns after the upgrade.
    ///
    /// - Throws: `.webSocketRefused`, with the answer, if the server did not switch protocols.
    func webSocket(_ request: WebSocketRequest) async throws(TransportError) -> any WebSocketConnection

    /// Runs tasks on the thread that transfers the bytes, if the transport has one.
    ///
    /// Receiving and sending in such a task needs no thread switch, which halves the time of a small round trip
    /// (`Task(executorPreference:)`). But everything that runs there holds up all transfers of this transport: use it only for
    /// tasks that pass messages on, never for work or a caller's code.
    var executor: (any TaskExecutor)? { get }

    /// Ends everything in progress with `.shutDown`, and returns when all of it has ended. Later calls fail the same way.
    func shutDown() async
}

/// The number of bytes transferred so far.
package typealias TransferProgress = @Sendable (Int64) -> Void

/// The destination of a download.
package struct FileDestination: Sendable, Hashable {
    package var path: String
    /// Whether to append to the file (the caller requests the matching `Range`) instead of emptying it.
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

    /// The same with another clock.
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
