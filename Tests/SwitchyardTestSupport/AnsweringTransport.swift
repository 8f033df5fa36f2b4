package import SwitchyardWire
import Synchronization

/// A transport that has the same answer for the same question, however often that is asked.
package final class AnsweringTransport: Transport {
    package typealias Answer = @Sendable (HTTPRequest) throws(TransportError) -> HTTPResponse

    private let answer: Answer
    private let sockets: (any Transport)?
    private let asked = Mutex<[HTTPRequest]>([])

    /// - Parameter sockets: Opens web sockets; without it they are refused with the answer to the same address.
    package init(sockets: (any Transport)? = nil, _ answer: @escaping Answer) {
        self.answer = answer
        self.sockets = sockets
    }

    package var requests: [HTTPRequest] { asked.withLock { $0 } }

    private func take(_ request: HTTPRequest) throws(TransportError) -> HTTPResponse {
        asked.withLock { $0.append(request) }
        return try answer(request)
    }

    package func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse { try take(request) }

    package func stream(_ request: HTTPRequest) async throws(TransportError) -> HTTPStream {
        let response = try take(request)
        return HTTPStream(head: response.head, body: HTTPBody(Pieces(response.body)))
    }

    package func upload(
        _ request: HTTPRequest, body: RequestBody, progress: TransferProgress?
    ) async throws(TransportError) -> HTTPResponse { try take(request) }

    package func download(
        _ request: HTTPRequest, to file: FileDestination, progress: TransferProgress?
    ) async throws(TransportError) -> HTTPResponse { try take(request) }

    package func webSocket(_ request: WebSocketRequest) async throws(TransportError) -> any WebSocketConnection {
        if let sockets { return try await sockets.webSocket(request) }
        throw TransportError(
            .webSocketRefused, "no web socket here", response: try take(HTTPRequest(.get, request.url)))
    }

    package func shutDown() async { await sockets?.shutDown() }

    /// A body in one piece.
    private final class Pieces: HTTPBodySource {
        private let bytes: Mutex<[UInt8]?>

        init(_ bytes: [UInt8]) { self.bytes = Mutex(bytes.isEmpty ? nil : bytes) }

        func next() async throws(TransportError) -> [UInt8]? {
            bytes.withLock { bytes in
                defer { bytes = nil }
                return bytes
            }
        }

        func cancel() {}
    }
}

extension HTTPResponse {
    package static func text(_ text: String, status: Int = 200, headers: HTTPHeaders = [:]) -> HTTPResponse {
        HTTPResponse(status: status, headers: headers, body: Array(text.utf8))
    }
}
