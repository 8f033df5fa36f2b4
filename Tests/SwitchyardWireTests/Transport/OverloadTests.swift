import Glibc
import SwitchyardBytes
import SwitchyardTestSupport
import SwitchyardWire
import Testing

/// What happens to more calls than one server is asked at a time.
@Suite struct OverloadTests {
    /// A server that answers nothing before `go`, but begins the bodies of streams at once.
    private static func server(_ arrived: Counter, _ go: Gate) throws -> FaultServer {
        try FaultServer { connection in
            while let head = connection.readHead() {
                if head.contains("/stream") {
                    guard connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nx") else { return }
                    connection.drain()
                    return
                }
                arrived.add(1)
                while !go.isOpen { usleep(1000) }
                guard connection.write(answer("x")) else { return }
            }
        }
    }

    private static func transport(underWay: Int, waiting: Int, streams: Int = 8) -> CurlTransport {
        var configuration = CurlConfiguration()
        configuration.maximumExchangesPerOrigin = underWay
        configuration.maximumWaitingPerOrigin = waiting
        configuration.maximumOpenStreamsPerOrigin = streams
        return CurlTransport(configuration)
    }

    private static func stream(_ url: String) -> HTTPRequest {
        var request = HTTPRequest(.get, url + "/stream")
        request.idleLimit = nil
        return request
    }

    @Test func `A call beyond those that wait is refused at once, unsent, and may be made again`() async throws {
        let (arrived, go) = (Counter(), Gate())
        let server = try Self.server(arrived, go)
        let transport = Self.transport(underWay: 2, waiting: 3)
        let tasks = (0..<5).map { _ in Task { try await transport.send(HTTPRequest(.post, server.url)).status } }
        try await eventually("two are under way") { arrived.value == 2 && transport.waitingExchangeCount == 3 }

        let error = try await failure { try await transport.send(HTTPRequest(.post, server.url)) }
        #expect(error.code == .overloaded && error.isRetryable && !error.mayHaveBeenSent)
        #expect(error.message.contains("127.0.0.1"))
        // Another server is another matter.
        let other = try FaultServer { connection in
            while connection.readHead() != nil { connection.write(answer("y")) }
        }
        #expect(try await transport.send(HTTPRequest(.get, other.url)).body == Array("y".utf8))

        go.open()
        for task in tasks { #expect(try await task.value == 200) }
        #expect(arrived.value == 5)
        #expect(try await transport.send(HTTPRequest(.post, server.url)).status == 200)
    }

    @Test func `A waiting call that is cancelled, or runs out of time, makes room at once`() async throws {
        let (arrived, go) = (Counter(), Gate())
        let server = try Self.server(arrived, go)
        let transport = Self.transport(underWay: 1, waiting: 2)
        let first = Task { try await transport.send(HTTPRequest(.get, server.url)).status }
        try await eventually("one is under way") { arrived.value == 1 }
        // More in all than anybody keeps in a list of two.
        for _ in 0..<200 {
            let waiting = (0..<2).map { _ in Task { try await transport.send(HTTPRequest(.get, server.url)) } }
            try await eventually("two wait") { transport.waitingExchangeCount == 2 }
            let refusal = try await failure { try await transport.send(HTTPRequest(.get, server.url)) }
            #expect(refusal.code == .overloaded)
            for task in waiting { task.cancel() }
            for task in waiting { #expect(try await failure { try await task.value }.code == .cancelled) }
        }
        let late = try await failure {
            try await transport.send(HTTPRequest(.get, server.url), within: .milliseconds(50))
        }
        #expect(late.code == .deadlineExceeded && !late.mayHaveBeenSent)
        let last = (0..<2).map { _ in Task { try await transport.send(HTTPRequest(.get, server.url)).status } }
        try await eventually("two wait") { transport.waitingExchangeCount == 2 }
        go.open()
        for task in [first] + last { #expect(try await task.value == 200) }
        #expect(arrived.value == 3)
        try await eventually("nothing is left") { transport.liveExchangeCount == 0 }
    }

    @Test func `Streams that stay open keep no call from its place, and have places of their own`() async throws {
        let (arrived, go) = (Counter(), Gate())
        go.open()
        let server = try Self.server(arrived, go)
        let transport = Self.transport(underWay: 1, waiting: 1, streams: 2)
        var streams = [try await transport.stream(Self.stream(server.url))]
        streams.append(try await transport.stream(Self.stream(server.url)))
        for _ in 0..<10 { #expect(try await transport.send(HTTPRequest(.get, server.url)).status == 200) }

        let third = Task { try await transport.stream(Self.stream(server.url)) }
        try await eventually("the third waits") { transport.waitingExchangeCount == 1 }
        #expect(try await failure { try await transport.stream(Self.stream(server.url)) }.code == .overloaded)
        #expect(try await transport.send(HTTPRequest(.get, server.url)).status == 200)
        streams.removeFirst().body.cancel()
        streams.append(try await third.value)
        #expect(try await transport.send(HTTPRequest(.get, server.url)).status == 200)
        for stream in streams { stream.body.cancel() }
        try await eventually("nothing is left") { transport.liveExchangeCount == 0 }
    }

    @Test func `Calls that wait while the transport is shut down end with it`() async throws {
        let (arrived, go) = (Counter(), Gate())
        let server = try Self.server(arrived, go)
        let transport = Self.transport(underWay: 1, waiting: 4)
        let tasks = (0..<3).map { _ in Task { try await transport.send(HTTPRequest(.get, server.url)) } }
        try await eventually("one is under way") { arrived.value == 1 && transport.waitingExchangeCount == 2 }
        await transport.shutDown()
        for task in tasks { #expect(try await failure { try await task.value }.code == .shutDown) }
        go.open()
    }
}
