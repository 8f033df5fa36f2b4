package import SwitchyardWire

/// Names the app, if known, and this package in every request, unless the request has its own header field; and carries on the
/// trace of the server request that the current task works for.
package struct NamedTransport: Transport {
    private let base: any Transport
    private let userAgent: String

    /// - Parameter program: Such as `MyApp/2.1`. Characters not allowed in header fields are removed.
    package init(_ base: any Transport, program: String?) {
        self.base = base
        let visible = (program ?? "").unicodeScalars.filter { (0x20..<0x7F).contains($0.value) }
        let name = String(String.UnicodeScalarView(visible))
        userAgent = name.isEmpty ? HTTPHeaders.clientName : "\(name) \(HTTPHeaders.clientName)"
    }

    private func named(_ headers: HTTPHeaders) -> HTTPHeaders {
        var headers = headers
        if headers["User-Agent"] == nil { headers["User-Agent"] = userAgent }
        return headers
    }

    private func named(_ request: HTTPRequest) -> HTTPRequest {
        var request = request
        request.headers = named(request.headers)
        request.carryTrace()
        return request
    }

    package func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
        try await base.send(named(request))
    }

    package func send(
        _ request: HTTPRequest, within deadline: Duration
    ) async throws(TransportError) -> HTTPResponse { try await base.send(named(request), within: deadline) }

    package func stream(_ request: HTTPRequest) async throws(TransportError) -> HTTPStream {
        try await base.stream(named(request))
    }

    package func upload(
        _ request: HTTPRequest, body: RequestBody, progress: TransferProgress?
    ) async throws(TransportError) -> HTTPResponse {
        try await base.upload(named(request), body: body, progress: progress)
    }

    package func download(
        _ request: HTTPRequest, to file: FileDestination, progress: TransferProgress?
    ) async throws(TransportError) -> HTTPResponse {
        try await base.download(named(request), to: file, progress: progress)
    }

    package func webSocket(_ request: WebSocketRequest) async throws(TransportError) -> any WebSocketConnection {
        var request = request
        request.headers = named(request.headers)
        return try await base.webSocket(request)
    }

    package var executor: (any TaskExecutor)? { base.executor }
    package func shutDown() async { await base.shutDown() }
}

extension HTTPHeaders {
    /// The program name sent with requests, which appears in a server's logs.
    static let clientName = "switchyard-swift/1.0"

    /// Names this package in a service's own header field; see ``NamedTransport`` for the common one.
    package mutating func nameClient() {
        if self["X-Client-Info"] == nil { self["X-Client-Info"] = HTTPHeaders.clientName }
    }
}
