import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@Suite struct `Fault control over HTTP` {
    private func server(_ handler: @escaping LoopbackServer.Handler = { _ in .text("fine") }) throws -> LoopbackServer {
        var configuration = ServerConfiguration()
        configuration.faultControlPath = "/_faults"
        return try LoopbackServer(configuration, handler: handler)
    }

    /// One request on a connection of its own; status and body.
    private func ask(
        _ server: LoopbackServer, _ method: String, _ path: String, _ body: String = ""
    ) async throws -> (status: Int, body: String) {
        let client = try await PlainClient(server)
        try await client.send(
            "\(method) \(path) HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
        )
        let answer = try await client.text()
        let end = answer.firstRange(of: "\r\n\r\n")
        return (
            Int(answer.dropFirst(9).prefix(3)) ?? 0, end.map { String(answer[$0.upperBound...]) } ?? ""
        )
    }

    @Test func `A rule is added, affects what it is meant for, and reports it`() async throws {
        let server = try server()
        let added = try await ask(
            server, "POST", "/_faults",
            #"{"fault":"answer","status":429,"headers":{"Retry-After":"7"},"body":"slow down","method":"GET","#
                + #""path":"/v1/{name}","times":2,"after":1}"#)
        #expect(added.status == 201)
        let id = try #require(try JSON(parsing: added.body)["id"]?.int)
        for (path, status) in [("/v1/a", 200), ("/v1/a", 429), ("/other", 200), ("/v1/b", 429), ("/v1/a", 200)] {
            #expect(try await ask(server, "GET", path).status == status)
        }
        let rules = try JSON(parsing: try await ask(server, "GET", "/_faults").body)
        #expect(rules[0]?["id"]?.int == id)
        #expect(rules[0]?["strikes"] == 2)
        #expect(rules[0]?["active"] == false)
        #expect(server.statistics.requests == 5)
        await server.stop()
    }

    @Test func `A held request goes on when its rule is opened or removed`() async throws {
        let server = try server()
        for (rule, method, path) in [(1, "POST", "/_faults/1/open"), (2, "DELETE", "/_faults/2")] {
            #expect(try await ask(server, "POST", "/_faults", #"{"fault":"holdAnswer"}"#).status == 201)
            async let held = ask(server, "GET", "/page")
            try await eventually("the answer is held") {
                let rules = try JSON(parsing: try await ask(server, "GET", "/_faults").body)
                return rules.array?.contains { $0["id"]?.int == rule && $0["held"] == 1 } == true
            }
            #expect(try await ask(server, method, path).status == 204)
            #expect(try await held.body == "fine")
        }
        #expect(try await ask(server, "POST", "/_faults/99/open").status == 404)
        await server.stop()
    }

    @Test func `Removing all rules ends every fault`() async throws {
        let server = try server()
        _ = try await ask(server, "POST", "/_faults", #"{"fault":"answer","times":null}"#)
        _ = try await ask(server, "POST", "/_faults", #"{"fault":"drop","times":null}"#)
        #expect(try await ask(server, "GET", "/page").status == 503)
        #expect(try await ask(server, "DELETE", "/_faults").status == 204)
        #expect(try await ask(server, "GET", "/page").status == 200)
        #expect(try await ask(server, "GET", "/_faults").body == "[]")
        await server.stop()
    }

    @Test(arguments: [
        "{", "[]", "{}", #"{"fault":"burn"}"#, #"{"fault":"drop","resett":true}"#, #"{"fault":"cut","bytes":-1}"#,
        #"{"fault":"answer","status":99}"#, #"{"fault":"answer","headers":{"A":"b\r\nC: d"}}"#,
        #"{"fault":"pace","milliseconds":"ten"}"#, #"{"fault":"drop","reset":1}"#, #"{"fault":7}"#,
    ])
    func `A rule with a mistake is refused, and nothing changes`(text: String) async throws {
        let server = try server()
        #expect(try await ask(server, "POST", "/_faults", text).status == 400)
        #expect(try await ask(server, "GET", "/_faults").body == "[]")
        #expect(try await ask(server, "GET", "/page").status == 200)
        await server.stop()
    }

    @Test func `Every other connection can be ended`() async throws {
        let server = try server { _ in
            .stream { writer in
                try await writer.write("begun")
                // Longer than the test: only the cut ends it.
                try await Task.sleep(for: .seconds(60))
            }
        }
        let client = try await PlainClient(server)
        try await client.send("GET /page HTTP/1.1\r\nHost: x\r\n\r\n")
        _ = try await client.text(until: "begun\r\n")
        #expect(try await ask(server, "POST", "/_faults/disconnect").status == 204)
        await #expect(throws: PlainClient.Failure.self) { try await client.text() }
        try await eventually("the handler has ended") { server.statistics.runningHandlers == 0 }
        await server.stop()
    }

    @Test func `Without a path for it nothing can be switched`() async throws {
        let server = try LoopbackServer { _ in .text("mine") }
        #expect(try await ask(server, "POST", "/_faults", #"{"fault":"drop"}"#).body == "mine")
        await server.stop()
    }

    @Test func `A paced answer leaves in pieces, whole, and the next one at full speed`() async throws {
        let server = try server()
        _ = try await ask(server, "POST", "/_faults", #"{"fault":"pace","bytes":8,"milliseconds":2}"#)
        let client = try await PlainClient(server)
        let start = ContinuousClock.now
        try await client.send("GET /page HTTP/1.1\r\nHost: x\r\n\r\n")
        let slow = try await client.text(until: "fine")
        let pieces = slow.utf8.count / 8
        #expect(ContinuousClock.now - start >= .milliseconds(2 * (pieces - 1)))
        let pace = server.faults.add(.paceAnswer(Pace(bytes: 1, every: .seconds(3600))))
        server.faults.remove(pace)
        try await client.send("GET /page HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(try await client.text(until: "fine") == slow)
        await server.stop()
    }

    @Test func `A delayed answer is late`() async throws {
        let server = try server()
        server.faults.add(.delayAnswer(.milliseconds(30)))
        let start = ContinuousClock.now
        #expect(try await ask(server, "GET", "/page").body == "fine")
        #expect(ContinuousClock.now - start >= .milliseconds(30))
        await server.stop()
    }

    #if os(Linux)
        @Test func `A web socket can be paced and cut`() async throws {
            let server = try server { _ in
                .webSocket { socket in
                    while let message = try await socket.receive() { try await socket.send(message) }
                }
            }
            let transport = CurlTransport()
            server.faults.add(.paceAnswer(Pace(bytes: 3, every: .milliseconds(1))))
            let socket = try await transport.webSocket(WebSocketRequest(server.url("/")))
            for text in ["one", "two", String(repeating: "x", count: 200)] {
                try await socket.send(.text(text))
                #expect(try await socket.receive() == .text(text))
            }
            await socket.close(.normal)

            server.faults.add(.cutAnswer(after: 1000))
            let other = try await transport.webSocket(WebSocketRequest(server.url("/")))
            try await other.send(.text(String(repeating: "x", count: 2000)))
            await #expect(throws: TransportError.self) { _ = try await other.receive() }
            await transport.shutDown()
            await server.stop()
        }
    #endif
}
