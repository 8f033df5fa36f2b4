import SwitchyardBytes
import SwitchyardTestSupport
import SwitchyardWire
import Testing

/// Cancelling at every point of an exchange.
@Suite struct CancellationTests {
    /// A point the server can hold the exchange at.
    enum Point: String, CaseIterable, Sendable {
        case beforeStart, resolving, connecting, handshaking, requestSent, withinHead, afterHead, withinBody,
            whilePaused
        case withinUpload, withinDownload, upgrading, receiving
    }

    /// Plays its part up to `point`, signals `arrived`, and stays until the client goes.
    private func server(_ point: Point, _ arrived: Counter) throws -> FaultServer {
        try FaultServer { connection in
            if point == .handshaking {
                // The client's hello, to which nothing is said.
                _ = connection.read(5)
                arrived.add(1)
                connection.drain()
                return
            }
            guard let head = connection.readHead() else { return }
            switch point {
            case .receiving: connection.write(upgradeAnswer(to: head))
            case .withinHead: connection.write("HTTP/1.1 200 OK\r\nX-Half")
            case .afterHead: connection.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n")
            case .withinBody, .withinDownload: connection.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
            case .whilePaused:
                connection.write("HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n")
                connection.write([UInt8](repeating: 1, count: 1_000_000))
            default: break
            }
            arrived.add(1)
            // A closing handshake would take its time.
            if point == .receiving { _ = connection.read(1) } else { connection.drain() }
        }
    }

    private func exchange(_ transport: CurlTransport, _ point: Point, _ url: String) async throws {
        switch point {
        case .withinUpload:
            let endless = RequestBody.produced { writer in
                while true { try await writer.write([UInt8](repeating: 1, count: 1000)) }
            }
            _ = try await transport.upload(HTTPRequest(.put, url), body: endless)
        case .whilePaused:
            let stream = try await transport.stream(HTTPRequest(.get, url))
            try await Gate().pass()
            _ = try await stream.body.collect(upTo: .max)
        case .resolving: _ = try await transport.send(HTTPRequest(.get, "http://host.invalid/"))
        case .handshaking:
            _ = try await transport.send(HTTPRequest(.get, "https" + url.dropFirst(4)))
        case .withinDownload:
            let file = try TemporaryFile()
            _ = try await transport.download(HTTPRequest(.get, url), to: FileDestination(file.path))
        case .upgrading: _ = try await transport.webSocket(WebSocketRequest(url))
        case .receiving: _ = try await transport.webSocket(WebSocketRequest(url)).receive()
        case .afterHead, .withinBody: _ = try await transport.stream(HTTPRequest(.get, url)).body.collect(upTo: .max)
        default: _ = try await transport.send(HTTPRequest(.get, url))
        }
    }

    @Test(arguments: Point.allCases) func `A cancelled exchange ends at once and leaves nothing`(point: Point)
        async throws
    {
        let transport = CurlTransport()
        let arrived = Counter()
        let server = try server(point, arrived)
        let waitsForServer = ![.beforeStart, .connecting, .resolving].contains(point)
        for round in 1...RunSize.full(100, part: 20) {
            let task = Task { try await exchange(transport, point, server.url) }
            if waitsForServer { try await eventually("the server is there") { arrived.value == round } }
            if point == .connecting || point == .resolving { await Task.yield() }
            task.cancel()
            let error = try await failure { try await task.value }
            // A name may be found missing before the cancellation is noticed.
            #expect(error.code == .cancelled || (point == .resolving && error.code == .hostNotFound))
            if waitsForServer { #expect(error.mayHaveBeenSent == (point != .handshaking)) }
            if point == .resolving { try await eventually("it is gone") { transport.liveExchangeCount == 0 } }
        }
        try await eventually("nothing is left") { transport.liveExchangeCount == 0 && server.runningCount == 0 }
    }

    @Test func `Thousands of exchanges cancelled at random moments neither hang nor leak`() async throws {
        let transport = CurlTransport()
        let server = try FaultServer { connection in
            while let (head, _) = connection.readRequest() {
                guard connection.write(answer(String(repeating: "x", count: head.contains("/large") ? 300_000 : 10)))
                else { return }
            }
        }
        let outcomes = try await withThrowingTaskGroup(of: Bool.self) { group in
            for index in 0..<RunSize.full(6000, part: 1500) {
                if index >= 48 { _ = try await group.next() }
                group.addTask {
                    var random = SplitMix(seed: UInt64(index))
                    let task = Task {
                        switch index % 4 {
                        case 0: _ = try await transport.send(HTTPRequest(.get, server.url))
                        case 1:
                            let stream = try await transport.stream(HTTPRequest(.get, "\(server.url)/large"))
                            for try await _ in stream.body {}
                        case 2:
                            let body = RequestBody.produced { writer in
                                for _ in 0..<20 { try await writer.write([UInt8](repeating: 1, count: 9000)) }
                            }
                            _ = try await transport.upload(HTTPRequest(.put, server.url), body: body)
                        default: _ = try await transport.send(HTTPRequest(.post, server.url, body: [1, 2, 3]))
                        }
                    }
                    for _ in 0..<random.next() % 40 { await Task.yield() }
                    task.cancel()
                    do {
                        try await task.value
                        return true
                    } catch .cancelled {
                        return false
                    }
                }
            }
            return true
        }
        #expect(outcomes)
        try await eventually("nothing is left") { transport.liveExchangeCount == 0 }
        #expect(try await transport.send(HTTPRequest(.get, server.url)).status == 200)
    }

    @Test func `Shutting down ends everything, waits for it, and refuses what comes later`() async throws {
        let transport = CurlTransport(.init())
        let arrived = Counter()
        let server = try server(.requestSent, arrived)
        let tasks = (0..<20).map { _ in Task { try await transport.send(HTTPRequest(.get, server.url)) } }
        try await eventually("all are under way") { arrived.value == 20 }
        await transport.shutDown()
        for task in tasks {
            let error = try await failure { try await task.value }
            #expect(error.code == .shutDown && error.mayHaveBeenSent)
        }
        let late = try await failure { try await transport.send(HTTPRequest(.get, server.url)) }
        #expect(late.code == .shutDown && !late.mayHaveBeenSent)
        await transport.shutDown()
        try await eventually("nothing is left") { transport.liveExchangeCount == 0 && server.runningCount == 0 }
    }

    @Test func `A transport that is let go of ends what is under way`() async throws {
        let arrived = Counter()
        let server = try server(.withinBody, arrived)
        var transport: CurlTransport? = CurlTransport()
        let stream = try await transport?.stream(HTTPRequest(.get, server.url))
        transport = nil
        let error = try await failure { try await stream?.body.collect(upTo: 100) }
        #expect(error.code == .shutDown)
        try await eventually("the server notices") { server.runningCount == 0 }
    }
}

/// A small reproducible generator.
struct SplitMix: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}
