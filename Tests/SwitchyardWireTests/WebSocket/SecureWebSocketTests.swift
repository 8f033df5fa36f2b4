import SwitchyardServerKit
import SwitchyardTestSupport
import SwitchyardWire
import Testing

/// Web sockets over TLS: the same client, with records and decrypted bytes in between.
@Suite(.needs(.openssl, .python)) struct `A web socket over TLS` {
    private static func echoServer() throws -> LoopbackServer {
        try LoopbackServer { _ in
            .webSocket { socket in
                while let message = try await socket.receive() { try await socket.send(message) }
            }
        }
    }

    private func trusting(_ certificates: TestCertificates) -> CurlTransport {
        var configuration = CurlConfiguration()
        configuration.trust = .bundle(path: certificates.authority)
        return CurlTransport(configuration)
    }

    @Test func `Messages of every size come back in order`() async throws {
        let certificates = try TestCertificates.make()
        defer { certificates.remove() }
        let server = try Self.echoServer()
        let relay = try TLSRelay(certificates, "good", toPort: Int(server.port))
        let transport = trusting(certificates)
        var request = WebSocketRequest("wss://localhost:\(relay.port)/")
        request.fragmentSize = 60_000
        let socket = try await transport.webSocket(request)
        for size in [0, 1, 125, 126, 16_000, 16_384, 16_385, 65_535, 65_536, 300_000, 4_000_000] {
            let message = WebSocketMessage.binary((0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) })
            try await socket.send(message)
            #expect(try await socket.receive() == message, "\(size)")
        }
        try await socket.ping()
        await socket.close(.normal)
        #expect(socket.closed == .normal)
        await transport.shutDown()
        await server.stop()
    }

    @Test func `Thousands of small messages are sent while their echoes are read`() async throws {
        let certificates = try TestCertificates.make()
        defer { certificates.remove() }
        let server = try Self.echoServer()
        let relay = try TLSRelay(certificates, "good", toPort: Int(server.port))
        let transport = trusting(certificates)
        let socket = try await transport.webSocket(WebSocketRequest("wss://localhost:\(relay.port)/"))
        async let sending: Void = {
            for number in 0..<5000 { try await socket.send(.text("message \(number)")) }
        }()
        for number in 0..<5000 { #expect(try await socket.receive() == .text("message \(number)")) }
        try await sending
        await socket.close(.normal)
        await transport.shutDown()
        await server.stop()
    }

    @Test func `A certificate of an unknown authority, or for another host, is refused before the upgrade`()
        async throws
    {
        let certificates = try TestCertificates.make()
        defer { certificates.remove() }
        let server = try Self.echoServer()
        let good = try TLSRelay(certificates, "good", toPort: Int(server.port))
        let other = try TLSRelay(certificates, "other", toPort: Int(server.port))
        for (transport, port) in [(CurlTransport(), good.port), (trusting(certificates), other.port)] {
            let error = try await failure {
                try await transport.webSocket(WebSocketRequest("wss://localhost:\(port)/"))
            }
            #expect(error.code == .untrustedPeer)
            #expect(!error.mayHaveBeenSent)
            await transport.shutDown()
        }
        #expect(server.statistics.requests == 0)
        await server.stop()
    }

    @Test func `A peer that vanishes is a failure, after what had arrived`() async throws {
        let certificates = try TestCertificates.make()
        defer { certificates.remove() }
        let server = try LoopbackServer { _ in
            .webSocket { socket in
                try await socket.send(.text("last"))
                _ = try await socket.receive()
            }
        }
        let relay = try TLSRelay(certificates, "good", toPort: Int(server.port))
        let transport = trusting(certificates)
        let socket = try await transport.webSocket(WebSocketRequest("wss://localhost:\(relay.port)/"))
        #expect(try await socket.receive() == .text("last"))
        server.dropConnections()
        let error = try await failure { try await socket.receive() }
        #expect(error.code == .connectionLost)
        await transport.shutDown()
        await server.stop()
    }

    @Test func `A peer that takes nothing any more holds no connection once it is given up`() async throws {
        let certificates = try TestCertificates.make()
        defer { certificates.remove() }
        let goes = TurnGate()
        let server = try FaultServer { connection in
            guard let head = connection.readHead() else { return }
            connection.write(upgradeAnswer(to: head))
            goes.wait()
        }
        defer { goes.open() }
        let relay = try TLSRelay(certificates, "good", toPort: server.port)
        let transport = trusting(certificates)
        var request = WebSocketRequest("wss://localhost:\(relay.port)/")
        request.keepAlive = WebSocketKeepAlive(pingAfter: .milliseconds(500), answerWithin: .milliseconds(500))
        let socket = try await transport.webSocket(request)
        // More than the system takes on the way: the rest is stuck in a record that TLS has begun.
        let error = try await failure {
            while true { try await socket.send(.binary([UInt8](repeating: 1, count: 1 << 20))) }
        }
        #expect(error.code == .stalled)
        try await eventually("the connection is gone") { transport.liveExchangeCount == 0 }
        await transport.shutDown()
    }
}
