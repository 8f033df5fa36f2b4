import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@Suite struct `A loopback server` {
    private static func echoServer() throws -> LoopbackServer {
        try LoopbackServer { request in
            do {
                switch request.path {
                case "/hello": return .text("hello")
                case "/echo": return ServerResponse(body: try await request.body.collect())
                case "/stream":
                    return .stream { writer in
                        for word in ["one", "two", "three"] { try await writer.write(word) }
                    }
                case "/exact":
                    return .stream(length: 6) { try await $0.write("sixsix") }
                case "/short":
                    return .stream(length: 60) { try await $0.write("sixsix") }
                case "/raw":
                    return .raw { exchange in
                        try await exchange.write("not HTTP at all")
                        while let bytes = try await exchange.read() { try await exchange.write(bytes) }
                    }
                default: return .text("no such page", status: 404)
                }
            } catch {
                return .text("\(error)", status: 400)
            }
        }
    }

    private static func get(_ path: String, extra: String = "") -> String {
        "GET \(path) HTTP/1.1\r\nHost: x\r\n\(extra)\r\n"
    }

    @Test func `A request is answered and the connection kept`() async throws {
        let server = try Self.echoServer()
        let client = try await PlainClient(server)
        for _ in 0..<3 {
            try await client.send(Self.get("/hello"))
            let answer = try await client.text(until: "\r\n\r\nhello")
            #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n"))
            #expect(answer.contains("Content-Length: 5\r\n"))
        }
        #expect(server.statistics.acceptedConnections == 1)
        #expect(server.statistics.requests == 3)
        await server.stop()
    }

    @Test func `Pipelined requests are answered in order`() async throws {
        let server = try Self.echoServer()
        let client = try await PlainClient(server)
        try await client.send(
            Self.get("/hello") + Self.get("/stream") + "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc"
                + Self.get("/hello", extra: "Connection: close\r\n"))
        let all = try await client.text()
        let positions = ["hello", "three\r\n0\r\n\r\n", "abc", "hello"].map { all.ranges(of: $0) }
        #expect(positions[0].count == 2)
        #expect(positions[0][0].lowerBound < positions[1][0].lowerBound)
        #expect(positions[1][0].lowerBound < positions[2][0].lowerBound)
        #expect(all.hasSuffix("hello"))
        await server.stop()
    }

    @Test func `A request is understood however it is cut`() async throws {
        let server = try Self.echoServer()
        let request =
            "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n2\r\nde\r\n0\r\nA: b\r\n\r\n"
        for cut in 1..<request.utf8.count {
            let client = try await PlainClient(server)
            let bytes = Array(request.utf8)
            try await client.send(Array(bytes[..<cut]))
            try await client.send(Array(bytes[cut...]))
            #expect(try await client.text(until: "\r\n\r\nabcde").hasPrefix("HTTP/1.1 200 OK"))
        }
        await server.stop()
    }

    @Test func `A streamed answer is sent in chunks, or as it is when its length is known`() async throws {
        let server = try Self.echoServer()
        let client = try await PlainClient(server)
        try await client.send(Self.get("/stream"))
        let chunked = try await client.text(until: "0\r\n\r\n")
        #expect(chunked.contains("Transfer-Encoding: chunked\r\n"))
        #expect(chunked.hasSuffix("3\r\none\r\n3\r\ntwo\r\n5\r\nthree\r\n0\r\n\r\n"))
        try await client.send(Self.get("/exact"))
        #expect(try await client.text(until: "\r\n\r\nsixsix").contains("Content-Length: 6\r\n"))
        await server.stop()
    }

    @Test func `A streamed answer that is too short ends in a reset`() async throws {
        let server = try Self.echoServer()
        let client = try await PlainClient(server)
        try await client.send(Self.get("/short"))
        await #expect(throws: PlainClient.Failure.self) { try await client.receive() }
        await server.stop()
    }

    @Test func `An HTTP 1.0 client gets a streamed answer that ends with the connection`() async throws {
        let server = try Self.echoServer()
        let client = try await PlainClient(server)
        try await client.send("GET /stream HTTP/1.0\r\n\r\n")
        let all = try await client.text()
        #expect(all.hasSuffix("\r\n\r\nonetwothree"))
        #expect(!all.contains("chunked"))
        await server.stop()
    }

    @Test func `HEAD gets the head alone`() async throws {
        let server = try Self.echoServer()
        let client = try await PlainClient(server)
        try await client.send(
            "HEAD /hello HTTP/1.1\r\nHost: x\r\n\r\n" + Self.get("/hello", extra: "Connection: close\r\n"))
        let all = try await client.text()
        #expect(all.ranges(of: "Content-Length: 5").count == 2)
        #expect(all.ranges(of: "hello").count == 1)
        await server.stop()
    }

    @Test func `A handler that reads the body makes the server send 100 Continue`() async throws {
        let server = try Self.echoServer()
        let client = try await PlainClient(server)
        let head = "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n"
        try await client.send(head)
        #expect(try await client.text(until: "\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n")
        try await client.send("abc")
        #expect(try await client.text(until: "abc").hasPrefix("HTTP/1.1 200"))
        await server.stop()
    }

    @Test func `A handler that does not want the body answers without 100 Continue`() async throws {
        let server = try Self.echoServer()
        let client = try await PlainClient(server)
        try await client.send("POST /no HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n")
        let all = try await client.text()
        #expect(all.hasPrefix("HTTP/1.1 404"))
        await server.stop()
    }

    @Test func `A half-closed client still gets its answer`() async throws {
        let server = try Self.echoServer()
        let client = try await PlainClient(server)
        try await client.send(Self.get("/hello"))
        client.finishSending()
        #expect(try await client.text().hasSuffix("hello"))
        await server.stop()
    }

    @Test func `A raw exchange has the connection to itself`() async throws {
        let server = try Self.echoServer()
        let client = try await PlainClient(server)
        try await client.send(Self.get("/raw") + "more")
        #expect(try await client.text(until: "more") == "not HTTP at allmore")
        client.finishSending()
        #expect(try await client.text() == "")
        await server.stop()
    }

    @Test(arguments: [
        ("GET / HTTP/1.1\r\n\r\n", 400), ("GET / HTTP/1.1\nHost: x\n\n", 400),
        ("GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n", 400), ("GET  / HTTP/1.1\r\nHost: x\r\n\r\n", 400),
        ("GET / HTTP/2.0\r\nHost: x\r\n\r\n", 505), ("nonsense\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: x\r\nA : b\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost: x\r\n a: b\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n", 501),
        ("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2000\r\n\r\n", 413),
        ("GET /<9000> HTTP/1.1\r\nHost: x\r\n\r\n", 431),
    ])
    func `A malformed request is refused and the connection ended`(request: String, status: Int) async throws {
        var configuration = ServerConfiguration()
        configuration.limits.headSize = 8192
        configuration.limits.bodySize = 1000
        let server = try LoopbackServer(configuration) { _ in .text("reached") }
        let client = try await PlainClient(server)
        let long = String(repeating: "a", count: 9000)
        let parts = request.split(separator: "<9000>", omittingEmptySubsequences: false)
        try await client.send(parts.joined(separator: long))
        #expect(try await client.text().hasPrefix("HTTP/1.1 \(status) "))
        await server.stop()
    }

    @Test func `A bad chunk fails the body that the handler reads`() async throws {
        let server = try Self.echoServer()
        let client = try await PlainClient(server)
        try await client.send("POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n")
        let all = try await client.text()
        #expect(all.hasPrefix("HTTP/1.1 400"))
        #expect(all.hasSuffix("badRequestBody"))
        await server.stop()
    }

    @Test func `It listens on both loopback addresses and on no other`() async throws {
        let server = try Self.echoServer()
        for address in server.addresses {
            let client = try await PlainClient(server, address: address)
            try await client.send(Self.get("/hello"))
            #expect(try await client.text(until: "hello").hasPrefix("HTTP/1.1 200"))
        }
        for text in ["0.0.0.0", "::", "192.168.1.1", "10.0.0.1", "localhost", "example.com", "::ffff:127.0.0.1"] {
            #expect(throws: ServerError.notLoopback(text)) { try LoopbackAddress(validating: text) }
        }
        #expect(try LoopbackAddress(validating: "127.0.0.1") == .ipv4)
        #expect(try LoopbackAddress(validating: "::1") == .ipv6)
        await server.stop()
    }

    @Test func `A taken port is an error`() async throws {
        let server = try Self.echoServer()
        var configuration = ServerConfiguration()
        configuration.port = server.port
        #expect(throws: ServerError.self) { try LoopbackServer(configuration) { _ in .text("") } }
        await server.stop()
    }

    @Test func `A writer waits while the client does not read`() async throws {
        let chunk = [UInt8](repeating: 7, count: 64 * 1024)
        let written = WrittenBytes()
        let server = try LoopbackServer { _ in
            .stream(length: 1000 * chunk.count) { writer in
                for _ in 0..<1000 {
                    try await writer.write(chunk)
                    written.add(chunk.count)
                }
            }
        }
        let client = try await PlainClient(server, receiveBuffer: 64 * 1024)
        try await client.send(Self.get("/"))
        try await eventually("the writer has stopped") {
            let before = written.value
            // Standing still shows over a while only.
            try await Task.sleep(for: .milliseconds(50))
            return before > 0 && written.value == before
        }
        // What the kernel's buffers hold, and no more.
        #expect(written.value < 16 << 20)
        let total = try await client.receive(until: { $0.count >= 1000 * chunk.count })
        #expect(total.count > 1000 * chunk.count)
        await server.stop()
    }

    @Test func `A client waits while the handler does not read its body`() async throws {
        let gate = Gate()
        let server = try LoopbackServer { request in
            await gate.wait()
            var count = 0
            do {
                for try await piece in request.body { count += piece.count }
            } catch {
                return .text("\(error)", status: 400)
            }
            return .text("\(count)")
        }
        let client = try await PlainClient(server)
        let size = 64 << 20
        let sent = WrittenBytes()
        async let sending: Void = {
            try await client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: \(size)\r\n\r\n")
            let piece = [UInt8](repeating: 1, count: 1 << 20)
            for _ in 0..<64 {
                try await client.send(piece)
                sent.add(piece.count)
            }
        }()
        try await eventually("the handler is held") { gate.waiting == 1 }
        try await eventually("the client has stopped") {
            let before = sent.value
            // Standing still shows over a while only.
            try await Task.sleep(for: .milliseconds(50))
            return sent.value == before
        }
        #expect(sent.value < 32 << 20)
        gate.open()
        try await sending
        #expect(try await client.text(until: "\(size)").hasPrefix("HTTP/1.1 200"))
        await server.stop()
    }

    @Test func `A client that goes away cancels its handler`() async throws {
        let gate = Gate()
        let server = try LoopbackServer { _ in
            await gate.wait()
            return .text(Task.isCancelled ? "cancelled" : "not")
        }
        do {
            let client = try await PlainClient(server)
            try await client.send(Self.get("/"))
            try await eventually("the handler runs") { gate.waiting == 1 }
        }
        try await eventually("the handler has ended") { server.statistics.runningHandlers == 0 }
        await server.stop()
    }

    @Test func `Stopping ends handlers, connections and descriptors`() async throws {
        let gate = Gate()
        let server = try LoopbackServer { _ in
            await gate.wait()
            return .text("late")
        }
        let clients = try await [PlainClient(server), PlainClient(server), PlainClient(server)]
        for client in clients { try await client.send(Self.get("/")) }
        try await eventually("the handlers run") { gate.waiting == 3 }
        await server.stop()
        await server.stop()
        #expect(server.statistics.openConnections == 0)
        #expect(server.statistics.runningHandlers == 0)
        for client in clients { #expect(try await client.text() == "") }
        await #expect(throws: PlainClient.Failure.self) { try await PlainClient(server) }
    }
}
