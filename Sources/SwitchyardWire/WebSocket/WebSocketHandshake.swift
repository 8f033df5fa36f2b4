import SwitchyardBytes

/// The client's side of the upgrade: creates the request and validates the answer, without I/O.
struct WebSocketHandshake {
    enum Progress {
        case needsMore
        /// The server has switched protocols; `rest` contains the first bytes after its answer.
        case open(head: HTTPResponseHead, subprotocol: String?, rest: [UInt8])
        case failed(TransportError)
    }

    /// The maximum size read of a head, and of the body of a refusal.
    private static let headLimit = 64 * 1024
    private static let bodyLimit = 64 * 1024
    /// How many answers 1xx may precede the one to the upgrade.
    static let interimLimit = 32

    let requestBytes: [UInt8]
    private let request: WebSocketRequest
    private let expectedAccept: String
    private var received: [UInt8] = []
    private var refusal: Refusal?
    private var interimCount = 0

    private struct Refusal {
        let head: HTTPResponseHead
        let length: Int?
        let isChunked: Bool
    }

    /// - Parameter key: 16 random bytes.
    /// - Throws: `.invalidRequest` for an invalid URL, and for fields that cannot be sent or belong to the handshake.
    init(_ request: WebSocketRequest, key: [UInt8]) throws(TransportError) {
        self.request = request
        let parts = try URLParts(validating: request.url)
        guard let scheme = ["ws": "http", "wss": "https", "http": "http", "https": "https"][parts.scheme] else {
            throw TransportError(.invalidRequest, "the address is not one of a web socket")
        }
        // The same rules for header fields as in any request; the URL is checked above.
        try HTTPRequest(.get, "\(scheme)://\(parts.host)/", headers: request.headers).validate()
        guard request.headers.allSatisfy({ !WebSocketUpgrade.isOwn($0.name) }) else {
            throw TransportError(.invalidRequest, "a header belongs to the handshake")
        }
        guard request.subprotocols.allSatisfy(WebSocketUpgrade.isToken) else {
            throw TransportError(.invalidRequest, "a subprotocol is not a token")
        }
        let encodedKey = Base64.encode(key)
        expectedAccept = WebSocketUpgrade.accept(encodedKey)
        let isDefaultPort = parts.effectivePort == (scheme == "https" ? 443 : 80)
        var lines = [
            "GET \(parts.path.isEmpty ? "/" : parts.path)\(parts.query.map { "?" + $0 } ?? "") HTTP/1.1",
            "Host: \(parts.host)\(isDefaultPort ? "" : ":\(parts.effectivePort)")",
            "Upgrade: websocket",
            "Connection: Upgrade",
            "Sec-WebSocket-Key: \(encodedKey)",
            "Sec-WebSocket-Version: 13",
        ]
        if !request.subprotocols.isEmpty {
            lines.append("Sec-WebSocket-Protocol: \(request.subprotocols.joined(separator: ", "))")
        }
        for field in request.headers { lines.append("\(field.name): \(field.value)") }
        requestBytes = Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
    }

    // MARK: The answer

    mutating func receive(_ bytes: UnsafeRawBufferPointer) -> Progress {
        if refusal != nil {
            received.append(contentsOf: bytes)
            return refusalProgress(atEnd: false)
        }
        // The end of the head may be split between two reads.
        var start = max(0, received.count - 3)
        received.append(contentsOf: bytes)
        while let end = Self.endOfHead(received, from: start) {
            guard let progress = answered(headEndingAt: end) else {
                start = 0
                continue
            }
            return progress
        }
        guard received.count <= Self.headLimit else {
            return .failed(TransportError(.headTooLarge, "the head of the answer is too large"))
        }
        return .needsMore
    }

    /// Takes one head off `received`. Returns `nil` after an interim one, which is skipped.
    private mutating func answered(headEndingAt end: Int) -> Progress? {
        guard let head = Self.parse(received[..<end], url: request.url) else {
            return .failed(TransportError(.badResponse, "the answer to the upgrade is not HTTP"))
        }
        let rest = Array(received[end...])
        if head.status == 101 { return check(head, rest: rest) }
        if (100..<200).contains(head.status) {
            interimCount += 1
            guard interimCount <= Self.interimLimit else {
                return .failed(
                    TransportError(
                        .badResponse,
                        "the server sent more than \(Self.interimLimit) interim answers (1xx) and none to the upgrade",
                        mayHaveBeenSent: true))
            }
            received = rest
            return nil
        }
        refusal = Refusal(
            head: head, length: head.headers["Content-Length"].flatMap { Int($0) },
            isChunked: head.headers["Transfer-Encoding"]?.lowercased() == "chunked")
        received = rest
        return refusalProgress(atEnd: false)
    }

    /// The server has ended the connection.
    func end() -> TransportError {
        if refusal != nil, case .failed(let error) = refusalProgress(atEnd: true) { return error }
        return TransportError(
            .connectionLost, "the connection ended before the upgrade was answered", isRetryable: true)
    }

    private func check(_ head: HTTPResponseHead, rest: [UInt8]) -> Progress {
        guard WebSocketUpgrade.tokens("Upgrade", in: head.headers).contains("websocket"),
            WebSocketUpgrade.tokens("Connection", in: head.headers).contains("upgrade")
        else { return broken("does not switch to a web socket", head) }
        guard head.headers.values(for: "Sec-WebSocket-Accept") == [expectedAccept] else {
            return broken("does not answer the key", head)
        }
        guard WebSocketUpgrade.tokens("Sec-WebSocket-Extensions", in: head.headers).isEmpty else {
            return broken("chooses an extension that was not offered", head)
        }
        let chosen = head.headers.values(for: "Sec-WebSocket-Protocol")
        guard chosen.isEmpty || (chosen.count == 1 && request.subprotocols.contains(chosen[0])) else {
            return broken("chooses a subprotocol that was not offered", head)
        }
        return .open(head: head, subprotocol: chosen.first, rest: rest)
    }

    private func broken(_ what: String, _ head: HTTPResponseHead) -> Progress {
        .failed(
            TransportError(.webSocketRefused, "the answer to the upgrade \(what)", response: HTTPResponse(head: head)))
    }

    /// The refusal, once its body is complete or long enough.
    private func refusalProgress(atEnd: Bool) -> Progress {
        guard let refusal else { return .needsMore }
        var body = received
        var isComplete = atEnd || body.count >= Self.bodyLimit
        if refusal.isChunked {
            let (decoded, hasEnded) = ChunkedBody.decode(received)
            body = decoded
            isComplete = isComplete || hasEnded
        } else if let length = refusal.length {
            isComplete = isComplete || body.count >= length
            body = Array(body.prefix(max(length, 0)))
        }
        guard isComplete else { return .needsMore }
        return .failed(
            TransportError(
                .webSocketRefused, "the server refused the upgrade with status \(refusal.head.status)",
                response: HTTPResponse(head: refusal.head, body: Array(body.prefix(Self.bodyLimit)))))
    }

    // MARK: Heads

    private static func endOfHead(_ bytes: [UInt8], from start: Int) -> Int? {
        guard bytes.count >= 4 else { return nil }
        for index in start...(bytes.count - 4)
        where bytes[index] == 13 && bytes[index + 1] == 10 && bytes[index + 2] == 13 && bytes[index + 3] == 10 {
            return index + 4
        }
        return nil
    }

    private static func parse(_ bytes: ArraySlice<UInt8>, url: String) -> HTTPResponseHead? {
        var parser = ResponseHeadParser(limit: headLimit)
        for line in bytes.dropLast(2).split(separator: 10) {
            let progress = Array(line).withUnsafeBytes { parser.take($0) }
            guard case .going = progress else { return nil }
        }
        guard parser.status >= 100 else { return nil }
        return HTTPResponseHead(
            status: parser.status, headers: HTTPHeaders(parser.headers), url: url, httpVersion: parser.httpVersion)
    }
}

/// The part of a chunked body that has arrived.
private enum ChunkedBody {
    static func decode(_ bytes: [UInt8]) -> (body: [UInt8], hasEnded: Bool) {
        var body: [UInt8] = []
        var rest = bytes[...]
        while let newline = rest.firstIndex(of: 10) {
            let digits = rest[..<newline].prefix { $0 != 13 && $0 != UInt8(ascii: ";") }
            guard let size = Int(String(decoding: digits, as: UTF8.self), radix: 16), size > 0 else {
                return (body, true)
            }
            let data = rest[(newline + 1)...]
            body += data.prefix(size)
            // The server chooses the size, which must not cause an overflow.
            guard data.count - 2 >= size else { return (body, false) }
            rest = data.dropFirst(size + 2)
        }
        return (body, false)
    }
}

/// The upgrade rules for both sides, and the server's answer.
package enum WebSocketUpgrade {
    /// The value with which a server proves that it has read the key.
    package static func accept(_ key: String) -> String {
        Base64.encode(SHA1.digest(of: Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8)))
    }

    /// The head of a server's answer, whether it switches or refuses.
    ///
    /// - Parameters:
    ///   - request: The fields of a GET request.
    ///   - subprotocol: Included in the answer if the client has offered it.
    package static func answer(
        to request: HTTPHeaders, subprotocol: String? = nil, headers: HTTPHeaders = [:]
    ) -> HTTPResponseHead {
        guard tokens("Upgrade", in: request).contains("websocket"),
            tokens("Connection", in: request).contains("upgrade"),
            let key = request["Sec-WebSocket-Key"], Base64.decode(key)?.count == 16
        else { return HTTPResponseHead(status: 400) }
        guard request["Sec-WebSocket-Version"] == "13" else {
            return HTTPResponseHead(status: 426, headers: ["Sec-WebSocket-Version": "13", "Upgrade": "websocket"])
        }
        var answer = HTTPHeaders()
        answer.add("Upgrade", "websocket")
        answer.add("Connection", "Upgrade")
        answer.add("Sec-WebSocket-Accept", accept(key))
        if let subprotocol, offers(in: request).contains(subprotocol) {
            answer.add("Sec-WebSocket-Protocol", subprotocol)
        }
        for field in headers { answer.add(field.name, field.value) }
        return HTTPResponseHead(status: 101, headers: answer)
    }

    /// The subprotocols that a client offers, in its order.
    package static func offers(in request: HTTPHeaders) -> [String] {
        list("Sec-WebSocket-Protocol", in: request)
    }

    /// The members of a list field, in lower case.
    static func tokens(_ name: String, in headers: HTTPHeaders) -> [String] {
        list(name, in: headers).map { $0.lowercased() }
    }

    private static func list(_ name: String, in headers: HTTPHeaders) -> [String] {
        headers.values(for: name).flatMap { value in
            value.split(separator: ",").map { String($0.filter { $0 != " " && $0 != "\t" }) }
        }.filter { !$0.isEmpty }
    }

    static func isOwn(_ name: String) -> Bool {
        let name = name.lowercased()
        return name == "upgrade" || name.hasPrefix("sec-websocket-")
    }

    static func isToken(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { byte in
                byte > 0x20 && byte < 0x7F && !"()<>@,;:\\\"/[]?={}".utf8.contains(byte)
            }
    }
}
