import SwitchyardBytes
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@Suite struct ScriptedTransportTests {
    private let url = "https://a.example/x"
    private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    @Test func `A script is played in order and each exchange once`() async throws {
        let transport = ScriptedTransport([
            .on(.get, url, .text("first")),
            .on(.post, url, check: { $0.text == "body" ? nil : "the body is \($0.text)" }, .json("{}", status: 201)),
        ])
        #expect(text(try await transport.send(HTTPRequest(.get, url)).body) == "first")
        let second = try await transport.send(HTTPRequest(.post, url, body: Array("body".utf8)))
        #expect(second.status == 201 && second.headers["content-type"] == "application/json")
        try transport.verify()
        let error = try await failure { try await transport.send(HTTPRequest(.get, url)) }
        #expect(error.code == .unexpectedRequest)
        #expect(error.message.contains("the script is at its end"))
        #expect(throws: ScriptFailure.self) { try transport.verify() }
        #expect(transport.requests.count == 3)
    }

    @Test func `A wrong request says what was expected, and what is left over too`() async throws {
        let transport = ScriptedTransport([.on(.get, url, .text("x"))])
        let error = try await failure { try await transport.send(HTTPRequest(.delete, url)) }
        #expect(error.message.contains("expected GET \(url)") && error.message.contains("the method is DELETE"))
        #expect { try transport.verify() } throws: { "\($0)".contains("never requested: GET \(url)") }
    }

    @Test func `In any order each request takes its own exchange`() async throws {
        let transport = ScriptedTransport(order: .any, [.on(.get, url, .text("g")), .on(.delete, url, .text("d"))])
        #expect(text(try await transport.send(HTTPRequest(.delete, url)).body) == "d")
        #expect(text(try await transport.send(HTTPRequest(.get, url)).body) == "g")
        try transport.verify()
    }

    @Test func `Answers can be cut, truncated, corrupted, and sent byte by byte`() async throws {
        let reply = ScriptedReply.text("hello")
        let transport = ScriptedTransport([
            .on(.get, url, reply.cut(after: 2)), .on(.get, url, reply.truncated(to: 3)),
            .on(.get, url, reply.corrupted(at: 1, bits: 0x20)), .on(.get, url, reply.inSingleBytes()),
            .on(.get, url, .failure(TransportError(.cannotConnect, "no", isRetryable: true))),
        ])
        let request = HTTPRequest(.get, url)
        let cut = try await transport.stream(request)
        var iterator = cut.body.makeAsyncIterator()
        #expect(try await iterator.next() == Array("he".utf8))
        let error = try await failure { try await iterator.next() }
        #expect(error.code == .connectionLost && error.mayHaveBeenSent)
        #expect(text(try await transport.send(request).body) == "hel")
        #expect(text(try await transport.send(request).body) == "hEllo")
        var pieces: [[UInt8]] = []
        for try await piece in try await transport.stream(request).body { pieces.append(piece) }
        #expect(pieces == Array("hello".utf8).map { [$0] })
        let refused = try await failure { try await transport.send(request) }
        #expect(refused.code == .cannotConnect && refused.isRetryable)
        try transport.verify()
    }

    @Test func `Gates hold an answer back before its head and within its body`() async throws {
        let head = Gate()
        let rest = Gate()
        let transport = ScriptedTransport([
            .on(.get, url, ScriptedReply.text("hello").pausing(after: 2, until: rest).delayed(until: head))
        ])
        let task = Task { try await transport.stream(HTTPRequest(.get, url)) }
        try await eventually("the exchange waits") { head.waiting == 1 }
        head.open()
        var iterator = try await task.value.body.makeAsyncIterator()
        #expect(try await iterator.next() == Array("he".utf8))
        rest.open()
        #expect(try await iterator.next() == Array("llo".utf8))
        #expect(try await iterator.next() == nil)
    }

    @Test func `A hanging exchange ends by cancellation`() async throws {
        let transport = ScriptedTransport([.on(.get, url, .hang)])
        let task = Task { try await transport.send(HTTPRequest(.get, url)) }
        try await eventually("the request is there") { transport.requests.count == 1 }
        task.cancel()
        let error = try await failure { try await task.value }
        #expect(error.code == .cancelled)
    }

    @Test func `A scripted web socket expects, delivers and closes`() async throws {
        let address = "wss://a.example/socket"
        let transport = ScriptedTransport([
            .webSocket(
                address,
                [
                    .deliver(.text("welcome")), .expect(.text("hello")), .deliver(.binary([1])),
                    .close(WebSocketClose(code: 4000, reason: "done")),
                ]),
            .webSocket(address, refusedWith: HTTPResponse(status: 401, body: [7])),
        ])
        let socket = try await transport.webSocket(WebSocketRequest(address))
        #expect(try await socket.receive() == .text("welcome"))
        let waiting = Task { try await socket.receive() }
        try await socket.send(.text("hello"))
        #expect(try await waiting.value == .binary([1]))
        #expect(try await socket.receive() == nil)
        #expect(socket.closed?.code == 4000)
        let closed = try await failure { try await socket.send(.text("late")) }
        #expect(closed.code == .webSocketClosed)
        let refused = try await failure { try await transport.webSocket(WebSocketRequest(address)) }
        #expect(refused.code == .webSocketRefused && refused.response?.status == 401 && refused.response?.body == [7])
        try transport.verify()
    }

    @Test func `A wrong or missing message fails the script`() async throws {
        let address = "wss://a.example/socket"
        let transport = ScriptedTransport([.webSocket(address, [.expect(.text("a")), .expect(.text("b"))])])
        let socket = try await transport.webSocket(WebSocketRequest(address))
        try await socket.send(.text("wrong"))
        #expect { try transport.verify() } throws: { error in
            "\(error)".contains("where the script expects") && "\(error)".contains("never sent")
        }
    }
}
