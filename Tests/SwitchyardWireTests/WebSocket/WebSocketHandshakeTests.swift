import SwitchyardTestSupport
import SwitchyardWire
import Testing

@testable import SwitchyardWire

@Suite struct `A web socket handshake` {
    /// The key of the protocol's own example, and what answers it.
    private static let key = Array("the sample nonce".utf8)
    private static let accept = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="

    private static func handshake(_ request: WebSocketRequest = WebSocketRequest("ws://host/path?q=1")) throws
        -> WebSocketHandshake
    {
        try WebSocketHandshake(request, key: key)
    }

    private static func answer(_ fields: String = "") -> String {
        """
        HTTP/1.1 101 Switching Protocols\r\nupgrade: WebSocket\r\nConnection: keep-alive, Upgrade\r\n\
        Sec-WebSocket-Accept: \(accept)\r\n\(fields)\r\n
        """
    }

    private func feed(_ handshake: inout WebSocketHandshake, _ text: String) -> WebSocketHandshake.Progress {
        Array(text.utf8).withUnsafeBytes { handshake.receive($0) }
    }

    @Test func `The request says what the protocol wants`() throws {
        var request = WebSocketRequest("ws://Host:8080/path?q=1", headers: ["Cookie": "a=b"])
        request.subprotocols = ["one", "two"]
        let text = String(decoding: try Self.handshake(request).requestBytes, as: UTF8.self)
        #expect(text.hasPrefix("GET /path?q=1 HTTP/1.1\r\nHost: host:8080\r\n"))
        for line in [
            "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
            "Sec-WebSocket-Version: 13", "Sec-WebSocket-Protocol: one, two", "Cookie: a=b",
        ] {
            #expect(text.contains("\r\n\(line)\r\n"))
        }
        #expect(text.hasSuffix("\r\n\r\n"))
        #expect(WebSocketUpgrade.accept("dGhlIHNhbXBsZSBub25jZQ==") == Self.accept)
    }

    @Test(arguments: ["ws://h/ x", "ftp://h/", "h", "ws://user@h/", "ws://"])
    func `A bad address is refused`(url: String) {
        #expect(throws: TransportError.self) { try Self.handshake(WebSocketRequest(url)) }
    }

    @Test func `Fields that smuggle or belong to the handshake are refused`() {
        for (name, value) in [
            ("X", "a\r\nY: b"), ("Sec-WebSocket-Key", "mine"), ("upgrade", "h2c"), ("Host", "other"), ("a b", "c"),
        ] {
            var headers = HTTPHeaders()
            headers.add(name, value)
            #expect(throws: TransportError.self) { try Self.handshake(WebSocketRequest("ws://h/", headers: headers)) }
        }
        for subprotocol in ["", "a b", "a,b", "ü"] {
            #expect(throws: TransportError.self) {
                try Self.handshake(WebSocketRequest("ws://h/", subprotocols: [subprotocol]))
            }
        }
    }

    @Test func `The answer is understood however it is cut, and what follows it is preserved`() throws {
        let bytes = Array((Self.answer() + "rest").utf8)
        for cut in 1..<bytes.count {
            var handshake = try Self.handshake()
            var rest: [UInt8] = []
            var isOpen = false
            for piece in [bytes[..<cut], bytes[cut...]] {
                if isOpen {
                    rest += piece
                } else if case .open(let head, nil, let more) = Array(piece).withUnsafeBytes({ handshake.receive($0) })
                {
                    #expect(head.status == 101)
                    isOpen = true
                    rest = more
                }
            }
            #expect(isOpen && rest == Array("rest".utf8), "cut at \(cut)")
        }
    }

    @Test(arguments: [
        "HTTP/1.1 101 X\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n",
        "HTTP/1.1 101 X\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n",
        "HTTP/1.1 101 X\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
        "HTTP/1.1 101 X\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: AAAA\r\n\r\n",
        answer("Sec-WebSocket-Extensions: permessage-deflate\r\n"), answer("Sec-WebSocket-Protocol: never-offered\r\n"),
        answer("Sec-WebSocket-Accept: \(accept)\r\n"),
    ])
    func `An answer that does not fit is refused`(answer: String) throws {
        var handshake = try Self.handshake()
        guard case .failed(let error) = feed(&handshake, answer) else {
            Issue.record("it was taken")
            return
        }
        #expect(error.code == .webSocketRefused)
    }

    @Test(arguments: [
        ("HTTP/1.1 403 No\r\nContent-Length: 4\r\n\r\nno!!", 403, "no!!"),
        ("HTTP/1.1 500 No\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x\r\nde\r\n0\r\n\r\n", 500, "abcde"),
        ("HTTP/1.1 502 No\r\nTransfer-Encoding: chunked\r\n\r\n7fffffffffffffff\r\nabc", 502, "abc"),
        ("HTTP/1.1 103 Early\r\nLink: x\r\n\r\nHTTP/1.1 401 No\r\nContent-Length: 0\r\n\r\n", 401, ""),
        ("HTTP/1.1 426 No\r\n\r\nuntil the end", 426, "until the end"),
        ("HTTP/1.1 400 No\r\nContent-Length: 100\r\n\r\ncut off", 400, "cut off"),
    ])
    func `A refusal keeps status and body`(answer: String, status: Int, body: String) throws {
        for size in [1, 7, 1000] {
            var handshake = try Self.handshake()
            let bytes = Array(answer.utf8)
            var result: TransportError?
            for start in stride(from: 0, to: bytes.count, by: size) where result == nil {
                let piece = Array(bytes[start..<min(start + size, bytes.count)])
                if case .failed(let error) = piece.withUnsafeBytes({ handshake.receive($0) }) { result = error }
            }
            let error = result ?? handshake.end()
            #expect(error.code == .webSocketRefused)
            #expect(error.response?.status == status)
            #expect(error.response.map { String(decoding: $0.body, as: UTF8.self) } == body)
        }
    }

    @Test func `What is not HTTP, or has no end, is refused`() throws {
        var handshake = try Self.handshake()
        guard case .failed(let error) = feed(&handshake, "SSH-2.0-OpenSSH\r\n\r\n") else {
            Issue.record("it was taken")
            return
        }
        #expect(error.code == .badResponse)
        var endless = try Self.handshake()
        var last = feed(&endless, "HTTP/1.1 101 X\r\n")
        for _ in 0..<3000 where { if case .needsMore = last { true } else { false } }() {
            last = feed(&endless, "X-Long: \(String(repeating: "a", count: 100))\r\n")
        }
        guard case .failed(let tooLarge) = last else {
            Issue.record("it was taken")
            return
        }
        #expect(tooLarge.code == .headTooLarge)
        #expect(try Self.handshake().end().code == .connectionLost)
    }

    @Test func `Interim answers are skipped, and too many of them are an error however they arrive`() throws {
        let interim = "HTTP/1.1 103 Early\r\nLink: x\r\n\r\n"
        var patient = try Self.handshake()
        let few = String(repeating: interim, count: WebSocketHandshake.interimLimit)
        guard case .open(let head, _, let rest) = feed(&patient, few + Self.answer() + "rest") else {
            Issue.record("it was not taken")
            return
        }
        #expect(head.status == 101 && rest == Array("rest".utf8))
        for isAtOnce in [true, false] {
            var handshake = try Self.handshake()
            var last = WebSocketHandshake.Progress.needsMore
            if isAtOnce {
                last = feed(&handshake, String(repeating: interim, count: 200_000))
            } else {
                for _ in 0...WebSocketHandshake.interimLimit { last = feed(&handshake, interim) }
            }
            guard case .failed(let error) = last else {
                Issue.record("it was taken")
                return
            }
            #expect(error.code == .badResponse)
            #expect(error.message == "the server sent more than 32 interim answers (1xx) and none to the upgrade")
        }
    }

    @Test func `A server refuses what asks for no upgrade, or for another version`() {
        var fields: HTTPHeaders = [
            "Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
            "Sec-WebSocket-Version": "13", "Sec-WebSocket-Protocol": "one, two",
        ]
        let answer = WebSocketUpgrade.answer(to: fields, subprotocol: "two")
        #expect(answer.status == 101)
        #expect(answer.headers["Sec-WebSocket-Accept"] == Self.accept)
        #expect(answer.headers["Sec-WebSocket-Protocol"] == "two")
        #expect(WebSocketUpgrade.answer(to: fields, subprotocol: "three").headers["Sec-WebSocket-Protocol"] == nil)
        fields["Sec-WebSocket-Version"] = "8"
        #expect(WebSocketUpgrade.answer(to: fields).status == 426)
        for name in ["Upgrade", "Connection", "Sec-WebSocket-Key"] {
            var other = fields
            other["Sec-WebSocket-Version"] = "13"
            other[name] = nil
            #expect(WebSocketUpgrade.answer(to: other).status == 400)
        }
    }
}
