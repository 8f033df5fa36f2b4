import Foundation
import Glibc
import SwitchyardServerKit
import SwitchyardTestSupport
import SwitchyardWire
import Testing

/// HTTP/2 against `nghttpd`, a server of its own; our own server speaks HTTP/1.1 only.
@Suite struct HTTP2Tests {
    /// `nghttpd` in a process of its own, serving a folder, behind a relay that counts connections.
    private final class Server: Sendable {
        private let folder: String
        private let process: ServerProcess
        private let relay: FaultServer

        static let small = Array("a small answer".utf8)
        static let large = (0..<8_000_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }

        init(_ certificates: TestCertificates? = nil) async throws {
            folder = FileManager.default.temporaryDirectory.appendingPathComponent("http2-\(UUID().uuidString)").path
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            try Data(Self.small).write(to: URL(fileURLWithPath: folder + "/small"))
            try Data(Self.large).write(to: URL(fileURLWithPath: folder + "/large"))
            let port = try freePort()
            let security = certificates.map { ["\($0.folder)/good.key", "\($0.folder)/good.crt"] } ?? ["--no-tls"]
            process = try ServerProcess(
                ["nghttpd", "--address=127.0.0.1", "--htdocs=\(folder)", "--echo-upload"]
                    + (certificates == nil ? security + ["\(port)"] : ["\(port)"] + security),
                logFile: folder + ".log")
            relay = try FaultServer { $0.relay(toPort: port) }
            try await eventually("nghttpd listens") { (try? FaultServer.reach(port)).map { close($0) } != nil }
        }

        deinit {
            process.kill()
            try? FileManager.default.removeItem(atPath: folder)
            try? FileManager.default.removeItem(atPath: folder + ".log")
        }

        var port: Int { relay.port }
        var connectionCount: Int { relay.acceptedCount }
    }

    private func trusting(_ certificates: TestCertificates) -> CurlTransport {
        var configuration = CurlConfiguration()
        configuration.trust = .bundle(path: certificates.authority)
        return CurlTransport(configuration)
    }

    @Test(.needs(.openssl, .nghttpd)) func `Over TLS it is chosen by itself, and a cold burst shares one connection`()
        async throws
    {
        let certificates = try TestCertificates.make()
        defer { certificates.remove() }
        let server = try await Server(certificates)
        let transport = trusting(certificates)
        let request = HTTPRequest(.get, "https://localhost:\(server.port)/small")
        let versions = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<200 {
                group.addTask {
                    let response = try await transport.send(request)
                    #expect(response.body == Server.small)
                    return response.head.httpVersion
                }
            }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(versions == ["2"])
        #expect(server.connectionCount == 1)
        await transport.shutDown()
    }

    @Test(.needs(.openssl, .python)) func `Asked for HTTP 1, and for a download to a file, it is not even offered`()
        async throws
    {
        let certificates = try TestCertificates.make()
        defer { certificates.remove() }
        // Takes HTTP/2 when it is offered, and does not speak it.
        let server = try TLSServer(certificates, "good", protocols: ["h2", "http/1.1"])
        let transport = trusting(certificates)
        var request = HTTPRequest(.get, "https://localhost:\(server.port)/")
        #expect(try await failure { try await transport.send(request) }.code == .connectionLost)
        let file = try TemporaryFile()
        let saved = try await transport.download(request, to: FileDestination(file.path))
        #expect(saved.head.httpVersion == "1.1")
        #expect(file.bytes == Array("GET /".utf8))
        request.httpVersion = .http1
        #expect(try await transport.send(request).head.httpVersion == "1.1")
        await transport.shutDown()
    }

    @Test(.needs(.nghttpd)) func `In clear text it has to be asked for`() async throws {
        let server = try await Server()
        let transport = CurlTransport()
        var request = HTTPRequest(.get, "http://localhost:\(server.port)/small")
        request.httpVersion = .http2
        for _ in 0..<3 {
            let response = try await transport.send(request)
            #expect(response.head.httpVersion == "2")
            #expect(response.body == Server.small)
        }
        await transport.shutDown()
    }

    @Test(.needs(.openssl, .nghttpd)) func `Bodies go both ways, whole`() async throws {
        let certificates = try TestCertificates.make()
        defer { certificates.remove() }
        let server = try await Server(certificates)
        let transport = trusting(certificates)
        let request = HTTPRequest(.get, "https://localhost:\(server.port)/large")
        let response = try await transport.send(request)
        #expect(response.head.httpVersion == "2")
        #expect(response.body.checksum == Server.large.checksum)

        let upload = HTTPRequest(.post, "https://localhost:\(server.port)/anything")
        let body = Array(Server.large.prefix(1_000_000))
        #expect(try await transport.upload(upload, body: .bytes(body)).body == body)
        let produced = RequestBody.produced { writer in
            for start in stride(from: 0, to: body.count, by: 100_000) {
                try await writer.write(Array(body[start..<start + 100_000]))
            }
        }
        #expect(try await transport.upload(upload, body: produced).body == body)
        await transport.shutDown()
    }

    @Test(.needs(.openssl, .nghttpd))
    func `A consumer that does not read, or a cancelled exchange, leaves the others on the connection alone`()
        async throws
    {
        let certificates = try TestCertificates.make()
        defer { certificates.remove() }
        let server = try await Server(certificates)
        let transport = trusting(certificates)
        let large = HTTPRequest(.get, "https://localhost:\(server.port)/large")
        let small = HTTPRequest(.get, "https://localhost:\(server.port)/small")
        let stalled = try await transport.stream(large)
        for _ in 0..<100 {
            let cancelled = Task { try await transport.send(large) }
            #expect(try await transport.send(small).body == Server.small)
            cancelled.cancel()
            _ = await cancelled.result
        }
        #expect(server.connectionCount == 1)
        #expect(try await stalled.body.collect(upTo: .max).checksum == Server.large.checksum)
        try await eventually("nothing is left") { transport.liveExchangeCount == 0 }
        await transport.shutDown()
    }
}
