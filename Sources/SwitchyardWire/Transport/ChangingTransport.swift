/// A transport that passes everything on to another one, with other header fields.
package protocol ChangingTransport: Transport {
    var base: any Transport { get }

    func changed(_ headers: HTTPHeaders) -> HTTPHeaders
    func changed(_ request: HTTPRequest) -> HTTPRequest
}

extension ChangingTransport {
    package func changed(_ request: HTTPRequest) -> HTTPRequest {
        var request = request
        request.headers = changed(request.headers)
        return request
    }

    package func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
        try await base.send(changed(request))
    }

    package func send(
        _ request: HTTPRequest, within deadline: Duration
    ) async throws(TransportError) -> HTTPResponse { try await base.send(changed(request), within: deadline) }

    package func stream(_ request: HTTPRequest) async throws(TransportError) -> HTTPStream {
        try await base.stream(changed(request))
    }

    package func upload(
        _ request: HTTPRequest, body: RequestBody, progress: TransferProgress?
    ) async throws(TransportError) -> HTTPResponse {
        try await base.upload(changed(request), body: body, progress: progress)
    }

    package func download(
        _ request: HTTPRequest, to file: FileDestination, progress: TransferProgress?
    ) async throws(TransportError) -> HTTPResponse {
        try await base.download(changed(request), to: file, progress: progress)
    }

    package func webSocket(_ request: WebSocketRequest) async throws(TransportError) -> any WebSocketConnection {
        var request = request
        request.headers = changed(request.headers)
        return try await base.webSocket(request)
    }

    package var executor: (any TaskExecutor)? { base.executor }
    package func shutDown() async { await base.shutDown() }
}
