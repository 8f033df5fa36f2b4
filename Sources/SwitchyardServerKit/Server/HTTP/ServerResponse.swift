package import SwitchyardWire
import Synchronization

/// A handler's answer.
package struct ServerResponse: Sendable {
    enum Content: Sendable {
        case bytes([UInt8])
        case stream(length: Int?, @Sendable (ResponseWriter) async throws -> Void)
        case raw(@Sendable (RawExchange) async throws -> Void)
        case webSocket(WebSocketAcceptance)
        case nothing(reset: Bool)
    }

    package var status: Int
    package var headers: HTTPHeaders
    /// Whether to end the connection after this answer.
    package var closesConnection = false
    let content: Content

    init(status: Int, headers: HTTPHeaders, content: Content) {
        self.status = status
        self.headers = headers
        self.content = content
    }

    package init(status: Int = 200, headers: HTTPHeaders = [:], body: [UInt8] = []) {
        self.init(status: status, headers: headers, content: .bytes(body))
    }

    package static func text(
        _ text: String, status: Int = 200, type: String = "text/plain; charset=utf-8"
    ) -> ServerResponse {
        ServerResponse(status: status, headers: ["Content-Type": type], body: Array(text.utf8))
    }

    package static func json(_ bytes: [UInt8], status: Int = 200) -> ServerResponse {
        ServerResponse(status: status, headers: ["Content-Type": "application/json; charset=utf-8"], body: bytes)
    }

    /// A body written by `produce`, which waits in `write` while the client is slow.
    ///
    /// With `length` the body is sent unchanged, otherwise in chunks. If `produce` throws, or the body does not have `length`
    /// bytes, the connection is reset, so that no client takes it for complete.
    package static func stream(
        status: Int = 200, headers: HTTPHeaders = [:], length: Int? = nil,
        _ produce: @escaping @Sendable (ResponseWriter) async throws -> Void
    ) -> ServerResponse {
        ServerResponse(status: status, headers: headers, content: .stream(length: length, produce))
    }

    /// Passes the connection to `run`, in both directions and byte by byte, without sending a head. It ends with `run`.
    package static func raw(_ run: @escaping @Sendable (RawExchange) async throws -> Void) -> ServerResponse {
        ServerResponse(status: 0, headers: [:], content: .raw(run))
    }

    /// Ends the connection without an answer, normally or with a reset.
    package static func noAnswer(reset: Bool = false) -> ServerResponse {
        ServerResponse(status: 0, headers: [:], content: .nothing(reset: reset))
    }

    /// Upgrades to a web socket and passes it to `run`; it is closed when `run` returns.
    ///
    /// A request without an upgrade is answered with 400 or 426 instead.
    package static func webSocket(
        headers: HTTPHeaders = [:], subprotocol: String? = nil, limits: WebSocketLimits = WebSocketLimits(),
        keepAlive: WebSocketKeepAlive = WebSocketKeepAlive(pingAfter: nil),
        _ run: @escaping @Sendable (any WebSocketConnection) async throws -> Void
    ) -> ServerResponse {
        ServerResponse(
            status: 101, headers: headers,
            content: .webSocket(
                WebSocketAcceptance(subprotocol: subprotocol, limits: limits, keepAlive: keepAlive, run: run)))
    }
}

struct WebSocketAcceptance: Sendable {
    let subprotocol: String?
    let limits: WebSocketLimits
    let keepAlive: WebSocketKeepAlive
    let run: @Sendable (any WebSocketConnection) async throws -> Void
}

/// Receives the bytes of a streamed answer.
package struct ResponseWriter: Sendable {
    let outbox: Outbox
    let isChunked: Bool
    let isSilent: Bool
    let counter: WrittenCount
    var record: ExchangeRecord?

    /// Sends `bytes`, waiting while the client is slow.
    ///
    /// - Throws: `.disconnected` if the client has gone.
    package func write(_ bytes: [UInt8]) async throws(ServerError) {
        guard !bytes.isEmpty else { return }
        counter.add(bytes.count)
        record?.sent(bytes)
        guard !isSilent else { return }
        if isChunked {
            outbox.append { output in
                output.append(contentsOf: String(bytes.count, radix: 16).utf8)
                output.append(contentsOf: [13, 10])
                output.append(contentsOf: bytes)
                output.append(contentsOf: [13, 10])
            }
            try await outbox.waitForRoom()
        } else {
            try await outbox.write(bytes)
        }
    }

    package func write(_ text: String) async throws(ServerError) { try await write(Array(text.utf8)) }
}

/// A connection passed to a handler.
package struct RawExchange: Sendable {
    let input: BytePipe
    let outbox: Outbox
    let end: @Sendable (_ reset: Bool?) -> Void

    /// The next bytes, or `nil` if the client has ended its side.
    package func read() async throws(ServerError) -> [UInt8]? { try await input.next() }

    /// Reads and drops everything until the client has ended its side.
    package func drain() async throws(ServerError) { while try await input.next() != nil {} }

    package func write(_ bytes: [UInt8]) async throws(ServerError) { try await outbox.write(bytes) }

    package func write(_ text: String) async throws(ServerError) { try await outbox.write(Array(text.utf8)) }

    /// Ends the server's side after what has been written; reading continues.
    package func finishWriting() { end(nil) }

    /// Ends both sides with a reset; unsent bytes are lost.
    package func reset() { end(true) }
}

/// The number of bytes of a streamed body that a handler has produced.
final class WrittenCount: Sendable {
    private let count = Atomic(0)

    func add(_ more: Int) { count.add(more, ordering: .relaxed) }
    var value: Int { count.load(ordering: .relaxed) }
}
