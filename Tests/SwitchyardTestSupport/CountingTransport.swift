package import SwitchyardWire
import Synchronization

/// Counts the answered requests whose address has a certain part.
package final class CountingTransport: Transport {
    private let base: any Transport
    private let part: String
    private let answered = Mutex(0)

    package init(_ base: any Transport, counting part: String) {
        self.base = base
        self.part = part
    }

    package var count: Int { answered.withLock { $0 } }

    package func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
        let response = try await base.send(request)
        if request.url.contains(part) { answered.withLock { $0 += 1 } }
        return response
    }

    package func stream(_ request: HTTPRequest) async throws(TransportError) -> HTTPStream {
        try await base.stream(request)
    }

    package func upload(
        _ request: HTTPRequest, body: RequestBody, progress: TransferProgress?
    ) async throws(TransportError) -> HTTPResponse { try await base.upload(request, body: body, progress: progress) }

    package func download(
        _ request: HTTPRequest, to file: FileDestination, progress: TransferProgress?
    ) async throws(TransportError) -> HTTPResponse { try await base.download(request, to: file, progress: progress) }

    package func webSocket(_ request: WebSocketRequest) async throws(TransportError) -> any WebSocketConnection {
        try await base.webSocket(request)
    }

    package func shutDown() async { await base.shutDown() }
}
