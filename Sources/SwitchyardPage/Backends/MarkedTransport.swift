import SwitchyardServerKit
import SwitchyardWire

/// Marks the page's own requests, so that they do not stand among those of the apps.
struct MarkedTransport: Transport {
    static let field = "X-Switchyard-Page"

    let base: any Transport
    let mark: String

    private func marked(_ request: HTTPRequest) -> HTTPRequest {
        var request = request
        request.headers[Self.field] = mark
        return request
    }

    func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
        try await base.send(marked(request))
    }

    func send(_ request: HTTPRequest, within deadline: Duration) async throws(TransportError) -> HTTPResponse {
        try await base.send(marked(request), within: deadline)
    }

    func stream(_ request: HTTPRequest) async throws(TransportError) -> HTTPStream {
        try await base.stream(marked(request))
    }

    func upload(
        _ request: HTTPRequest, body: RequestBody, progress: TransferProgress?
    ) async throws(TransportError) -> HTTPResponse {
        try await base.upload(marked(request), body: body, progress: progress)
    }

    func download(
        _ request: HTTPRequest, to file: FileDestination, progress: TransferProgress?
    ) async throws(TransportError) -> HTTPResponse {
        try await base.download(marked(request), to: file, progress: progress)
    }

    func webSocket(_ request: WebSocketRequest) async throws(TransportError) -> any WebSocketConnection {
        var request = request
        request.headers[Self.field] = mark
        return try await base.webSocket(request)
    }

    var executor: (any TaskExecutor)? { base.executor }

    func shutDown() async { await base.shutDown() }
}
