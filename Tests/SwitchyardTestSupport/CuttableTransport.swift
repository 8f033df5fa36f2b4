package import SwitchyardWire
import Synchronization

/// A real connection that can be cut for good.
package final class CuttableTransport: Transport {
    private let base = CurlTransport()
    private let state = Mutex<(sent: Int64, limit: Int64?)>((0, nil))

    package init() {}

    package func cut(afterBytes count: Int64) { state.withLock { $0 = (0, count) } }

    private func check() throws(TransportError) {
        guard state.withLock({ $0.sent < $0.limit ?? .max }) else {
            throw TransportError(.connectionLost, "the connection is cut", isRetryable: true)
        }
    }

    package func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
        try check()
        return try await base.send(request)
    }

    package func stream(_ request: HTTPRequest) async throws(TransportError) -> HTTPStream {
        try check()
        return try await base.stream(request)
    }

    package func upload(
        _ request: HTTPRequest, body: RequestBody, progress: TransferProgress?
    ) async throws(TransportError) -> HTTPResponse {
        try check()
        let last = Mutex<Int64>(0)
        return try await base.upload(request, body: body) { count in
            let added = last.withLock { last in
                defer { last = count }
                return count - last
            }
            self.state.withLock { $0.sent += added }
            progress?(count)
        }
    }

    package func download(
        _ request: HTTPRequest, to file: FileDestination, progress: TransferProgress?
    ) async throws(TransportError) -> HTTPResponse {
        try check()
        return try await base.download(request, to: file, progress: progress)
    }

    package func webSocket(_ request: WebSocketRequest) async throws(TransportError) -> any WebSocketConnection {
        try await base.webSocket(request)
    }

    package func shutDown() async { await base.shutDown() }
}
