import Foundation
import Glibc
import SwitchyardTestSupport
import SwitchyardWire
import Testing

/// What can go wrong before a request is on its way.
@Suite struct ConnectionFaultTests {
    private func error(
        _ url: String, _ change: (inout HTTPRequest) -> Void = { _ in }
    ) async throws -> TransportError {
        let transport = CurlTransport()
        var request = HTTPRequest(.post, url, body: [1])
        change(&request)
        let error = try await failure { try await transport.send(request) }
        return error
    }

    @Test func `An unknown host is told apart, and nothing was sent`() async throws {
        let error = try await error("http://no-such-host.invalid/")
        #expect(error.code == .hostNotFound)
        #expect(error.message.contains("“no-such-host.invalid” could not be resolved; check the address"))
        #expect(error.isRetryable && !error.mayHaveBeenSent)
    }

    @Test func `A refused connection may be tried again, even for a POST`() async throws {
        let (descriptor, port) = try FaultServer.listen(ipv6: false, backlog: 1)
        close(descriptor)
        let error = try await error("http://127.0.0.1:\(port)/")
        #expect(error.code == .cannotConnect)
        #expect(error.message.hasPrefix("could not connect to 127.0.0.1:\(port) (is the local server running?"))
        #expect(error.message.hasSuffix("Start it with “switchyard emulator”)"))
        #expect(error.isRetryable && !error.mayHaveBeenSent)
    }

    @Test func `A black hole is given up at the connect deadline`() async throws {
        // A full backlog leaves further connections without an answer.
        let (descriptor, port) = try FaultServer.listen(ipv6: false, backlog: 0)
        defer { close(descriptor) }
        let fillers = (0..<4).map { _ in Self.beginConnecting(port) }
        defer { for filler in fillers { close(filler) } }

        let start = ContinuousClock.now
        let error = try await error("http://127.0.0.1:\(port)/") { $0.connectDeadline = .milliseconds(300) }
        #expect(error.code == .connectDeadlineExceeded)
        #expect(error.isRetryable && !error.mayHaveBeenSent)
        #expect(ContinuousClock.now - start >= .milliseconds(290))
    }

    @Test func `IPv6 addresses work`() async throws {
        let server = try FaultServer(ipv6: true) { connection in
            guard let head = connection.readHead() else { return }
            connection.write(answer(head.contains("\r\nHost: [::1]:") ? "six" : "?"))
        }
        let response = try await CurlTransport().send(HTTPRequest(.get, "http://[::1]:\(server.port)/"))
        #expect(response.body == Array("six".utf8))
    }

    @Test func `A server that never answers is given up at the idle limit`() async throws {
        let server = try FaultServer { connection in
            _ = connection.readHead()
            connection.drain()
        }
        let error = try await error(server.url) { $0.idleLimit = .milliseconds(300) }
        #expect(error.code == .stalled)
        #expect(!error.isRetryable && error.mayHaveBeenSent)
    }

    @Test(.needs(.openssl, .python)) func `The idle limit holds also where connecting takes longer than it`()
        async throws
    {
        let certificates = try TestCertificates.make()
        defer { certificates.remove() }
        let mute = try FaultServer { connection in
            _ = connection.readHead()
            connection.drain()
        }
        let relay = try TLSRelay(certificates, "good", toPort: mute.port)
        defer { withExtendedLifetime(relay) {} }
        let port = relay.port
        let server = try FaultServer { connection in
            // The handshake of TLS takes longer than the limit, which begins when the request is written.
            usleep(700_000)
            connection.relay(toPort: port)
        }
        var configuration = CurlConfiguration()
        configuration.trust = .bundle(path: certificates.authority)
        let transport = CurlTransport(configuration)
        var request = HTTPRequest(.get, "https://localhost:\(server.port)/")
        request.idleLimit = .milliseconds(300)
        let error = try await failure {
            try await withDeadline(.seconds(10)) { [request] () throws(TransportError) in
                try await transport.send(request)
            }
        }
        // At the deadline the limit would have been forgotten.
        #expect(error.code == .stalled)
    }

    @Test func `A slow-loris server is given up although it keeps sending`() async throws {
        let server = try FaultServer { connection in
            _ = connection.readHead()
            connection.write("HTTP/1.1 200 OK\r\n")
            while connection.write("X: y\r\n") { usleep(50_000) }
        }
        let error = try await error(server.url) { $0.idleLimit = .milliseconds(300) }
        #expect(error.code == .stalled)
        try await eventually("the server notices") { server.runningCount == 0 }
    }

    @Test func `A deadline ends an exchange that only creeps`() async throws {
        let server = try FaultServer { connection in
            _ = connection.readHead()
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
            while connection.write("x") { usleep(5_000) }
        }
        let transport = CurlTransport()
        let error = try await failure {
            try await withDeadline(.milliseconds(200)) { () throws(TransportError) in
                try await transport.send(HTTPRequest(.get, server.url))
            }
        }
        #expect(error.code == .deadlineExceeded)
        #expect(error.mayHaveBeenSent && !error.isRetryable)
        try await eventually("nothing is left") { transport.liveExchangeCount == 0 && server.runningCount == 0 }
    }

    private static func beginConnecting(_ port: Int) -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                _ = connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        return descriptor
    }
}
