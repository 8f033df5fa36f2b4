import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardTestSupport
import Testing

@Suite struct `Fault switches` {
    private static let request = "GET /page HTTP/1.1\r\nHost: x\r\n\r\n"

    @Test func `A burst of 5xx answers occurs as often as set and then stops`() async throws {
        let server = try LoopbackServer { _ in .text("fine") }
        let rule = server.faults.add(.answer(ServerResponse(status: 503)), times: 2)
        let client = try await PlainClient(server)
        for status in [503, 503, 200] {
            try await client.send(Self.request)
            let answer = try await client.text(until: status == 200 ? "fine" : "\r\n\r\n")
            #expect(answer.hasPrefix("HTTP/1.1 \(status) "))
        }
        #expect(server.faults.strikes(of: rule) == 2)
        await server.stop()
    }

    @Test func `Only requests that meet the condition are affected, after those let through`() async throws {
        let server = try LoopbackServer { _ in .text("fine") }
        server.faults.add(.answer(ServerResponse(status: 500)), times: 1, after: 1) { $0.path == "/page" }
        let client = try await PlainClient(server)
        for (path, status) in [("/other", 200), ("/page", 200), ("/other", 200), ("/page", 500), ("/page", 200)] {
            try await client.send("GET \(path) HTTP/1.1\r\nHost: x\r\n\r\n")
            let answer = try await client.text(until: status == 200 ? "fine" : "\r\n\r\n")
            #expect(answer.hasPrefix("HTTP/1.1 \(status) "))
        }
        await server.stop()
    }

    @Test func `A dropped answer has had its effect`() async throws {
        let effects = WrittenBytes()
        let server = try LoopbackServer { _ in
            effects.add(1)
            return .text("done")
        }
        server.faults.add(.dropAnswer())
        server.faults.add(.dropAnswer(reset: true))
        let client = try await PlainClient(server)
        try await client.send(Self.request)
        #expect(try await client.text() == "")
        let other = try await PlainClient(server)
        try await other.send(Self.request)
        await #expect(throws: PlainClient.Failure.self) { try await other.text() }
        #expect(effects.value == 2)
        await server.stop()
    }

    @Test func `An answer is cut at every byte`() async throws {
        let server = try LoopbackServer { _ in .text("a body") }
        let whole = try await {
            let client = try await PlainClient(server)
            try await client.send(Self.request)
            return try await client.text(until: "a body")
        }()
        for count in 0..<whole.utf8.count {
            server.faults.add(.cutAnswer(after: count))
            let client = try await PlainClient(server)
            try await client.send(Self.request)
            #expect(try await client.text() == String(decoding: Array(whole.utf8)[..<count], as: UTF8.self))
        }
        await server.stop()
    }

    @Test func `An answer is replaced after the handler has run`() async throws {
        let calls = WrittenBytes()
        let server = try LoopbackServer { _ in
            calls.add(1)
            return .text("fine")
        }
        server.faults.add(.replaceAnswer(.text("lost", status: 400)))
        let client = try await PlainClient(server)
        try await client.send(Self.request)
        #expect(try await client.text(until: "lost").hasPrefix("HTTP/1.1 400 "))
        #expect(calls.value == 1)
        await server.stop()
    }

    @Test func `A stream is cut where set`() async throws {
        let failures = WrittenBytes()
        let server = try LoopbackServer { _ in
            .stream { writer in
                defer { failures.add(1) }
                while true { try await writer.write([UInt8](repeating: 65, count: 1000)) }
            }
        }
        server.faults.add(.cutAnswer(after: 300_000))
        let client = try await PlainClient(server)
        try await client.send(Self.request)
        // What was sent before is there also for a client that reads only when the handler has failed. Where the system takes
        // less than that from a server, the handler ends after the reading has begun.
        try? await eventually("the handler has ended", within: .seconds(2)) {
            failures.value == 1 && server.statistics.runningHandlers == 0
        }
        #expect(try await client.receive().count == 300_000)
        await server.stop()
    }

    @Test func `A gate holds the request before its handler, or the answer behind it`() async throws {
        let calls = WrittenBytes()
        let server = try LoopbackServer { _ in
            calls.add(1)
            return .text("fine")
        }
        let gates = [Gate(), Gate()]
        server.faults.add(.holdRequest(gates[0]))
        server.faults.add(.holdAnswer(gates[1]))
        let client = try await PlainClient(server)
        for (gate, callsWhileHeld) in zip(gates, [0, 2]) {
            try await client.send(Self.request)
            try await eventually("it is held") { gate.waiting == 1 }
            #expect(calls.value == callsWhileHeld)
            gate.open()
            #expect(try await client.text(until: "fine").hasPrefix("HTTP/1.1 200 "))
        }
        await server.stop()
    }
}
