import SwitchyardTestSupport
import SwitchyardWire
import Synchronization
import Testing

@Suite struct CurlTransportTests {
    let transport = CurlTransport()

    @Test func `A request arrives as it was written, and its answer too`() async throws {
        let seen = Mutex<(head: String, body: [UInt8])?>(nil)
        let server = try FaultServer { connection in
            seen.withLock { $0 = connection.readRequest() }
            connection.write(
                answer("hello", headers: ["X-One: 1", "x-two:  two words \t", "Set-Cookie: a", "set-cookie: b"]))
        }
        let request = HTTPRequest(
            .post, "\(server.url)/a%20b/../c?q=%41", headers: ["X-Empty": "", "Authorization": "Bearer x"],
            body: Array("body".utf8))
        let response = try await transport.send(request)
        #expect(response.status == 200)
        #expect(response.body == Array("hello".utf8))
        #expect(response.headers["x-one"] == "1")
        #expect(response.headers["X-Two"] == "two words")
        #expect(response.headers.values(for: "Set-Cookie") == ["a", "b"])
        #expect(response.head.httpVersion == "1.1")

        let (head, body) = try #require(seen.withLock { $0 })
        let lines = head.split(separator: "\r\n")
        #expect(lines[0] == "POST /a%20b/../c?q=%41 HTTP/1.1")
        #expect(lines.contains("Content-Length: 4"))
        #expect(lines.contains("Authorization: Bearer x"))
        #expect(lines.contains("X-Empty:"))
        #expect(!lines.contains { $0.hasPrefix("Expect") || $0.hasPrefix("Content-Type") })
        #expect(body == Array("body".utf8))
    }

    @Test(arguments: ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PURGE"])
    func `Every method is sent by its name, without a body`(method: String) async throws {
        let server = try FaultServer { connection in
            guard let (head, body) = connection.readRequest() else { return }
            let line = String(head.split(separator: "\r\n")[0])
            let length = head.contains("Content-Length: 0") ? "0" : "none"
            connection.write(
                answer(method == "HEAD" ? "" : "\(line) \(length) \(body.count)", headers: ["X-Line: \(line)"]))
        }
        let response = try await transport.send(HTTPRequest(HTTPMethod(rawValue: method), server.url))
        #expect(response.headers["X-Line"] == "\(method) / HTTP/1.1")
        let declares = ["POST", "PUT", "PATCH"].contains(method)
        if method != "HEAD" {
            #expect(
                String(decoding: response.body, as: UTF8.self) == "\(method) / HTTP/1.1 \(declares ? "0" : "none") 0")
        }
    }

    @Test func `Connections are kept and reused`() async throws {
        let server = try FaultServer { connection in
            while connection.readRequest() != nil, connection.write(answer("x")) {}
        }
        for _ in 0..<20 { _ = try await transport.send(HTTPRequest(.get, server.url)) }
        #expect(server.acceptedCount == 1)
        var fresh = HTTPRequest(.get, server.url)
        fresh.usesFreshConnection = true
        _ = try await transport.send(fresh)
        #expect(server.acceptedCount == 2)
    }

    @Test func `A stream delivers the head before the body, and the body as it comes`() async throws {
        let go = TurnGate()
        let server = try FaultServer { connection in
            _ = connection.readHead()
            connection.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            go.wait()
            connection.write("3\r\none\r\n")
            go.wait()
            connection.write("3\r\ntwo\r\n0\r\n\r\n")
        }
        let stream = try await transport.stream(HTTPRequest(.get, server.url))
        #expect(stream.status == 200)
        var iterator = stream.body.makeAsyncIterator()
        go.open()
        #expect(try await iterator.next() == Array("one".utf8))
        go.open()
        #expect(try await iterator.next() == Array("two".utf8))
        #expect(try await iterator.next() == nil)
        #expect(try await iterator.next() == nil)
    }

    @Test func `The loop sleeps when there is nothing to do, also when idle limits have passed`() async throws {
        let server = try FaultServer { connection in
            while connection.readRequest() != nil, connection.write(answer("x")) {}
        }
        var request = HTTPRequest(.get, server.url)
        _ = try await transport.send(request)
        request.idleLimit = .milliseconds(20)
        _ = try? await transport.send(request)
        // Longer than the limits: only time can show that nothing happens.
        try await Task.sleep(for: .milliseconds(100))
        let before = transport.loopTurnCount
        try await Task.sleep(for: .milliseconds(300))
        #expect(transport.loopTurnCount - before <= 3)
    }
}
