import Foundation
import Glibc
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@Suite struct TLSTests {
    private func trusting(_ certificates: TestCertificates) -> CurlTransport {
        var configuration = CurlConfiguration()
        configuration.trust = .bundle(path: certificates.authority)
        return CurlTransport(configuration)
    }

    @Test(.needs(.openssl, .python)) func `A given authority is believed, as a file and as text, and no one else is`()
        async throws
    {
        let certificates = try TestCertificates.make()
        defer { certificates.remove() }
        let server = try TLSServer(certificates, "good")
        let request = HTTPRequest(.post, "https://localhost:\(server.port)/path", body: [1, 2, 3])
        #expect(try await trusting(certificates).send(request).body == Array("POST /path".utf8))
        #expect(
            try await trusting(certificates).send(HTTPRequest(.get, "https://127.0.0.1:\(server.port)/")).status == 200)

        var inMemory = CurlConfiguration()
        inMemory.trust = .pem(Array(try Data(contentsOf: URL(fileURLWithPath: certificates.authority))))
        #expect(try await CurlTransport(inMemory).send(request).status == 200)

        // The system's roots do not include ours.
        let error = try await failure { try await CurlTransport().send(request) }
        #expect(error.code == .untrustedPeer)
        #expect(!error.isRetryable && !error.mayHaveBeenSent)
    }

    @Test(.needs(.openssl, .python), arguments: ["other", "old"])
    func `A certificate for another host, or expired, is refused before anything is sent`(name: String) async throws {
        let certificates = try TestCertificates.make()
        defer { certificates.remove() }
        let server = try TLSServer(certificates, name)
        let transport = trusting(certificates)
        let error = try await failure {
            try await transport.send(HTTPRequest(.post, "https://localhost:\(server.port)/", body: [1]))
        }
        #expect(error.code == .untrustedPeer)
        #expect(!error.isRetryable && !error.mayHaveBeenSent)
    }

    @Test(.needs(.openssl, .python)) func `A connection that is being closed keeps nothing awake`() async throws {
        let certificates = try TestCertificates.make()
        defer { certificates.remove() }
        let server = try TLSServer(certificates, "good")
        let transport = trusting(certificates)
        for _ in 0..<3 {
            let request = HTTPRequest(.get, "https://localhost:\(server.port)/close")
            #expect(try await transport.send(request).body == Array("GET /close".utf8))
        }
        // Newer versions of libcurl say goodbye after the answer and wait for the peer's. Only time can show that the loop
        // does not turn meanwhile.
        let before = transport.loopTurnCount
        try await Task.sleep(for: .milliseconds(500))
        #expect(transport.loopTurnCount - before <= 20)
        await transport.shutDown()
    }

    @Test(.needs(.openssl, .python)) func `A missing bundle of authorities is said to be that`() async throws {
        let certificates = try TestCertificates.make()
        defer { certificates.remove() }
        let server = try TLSServer(certificates, "good")
        var configuration = CurlConfiguration()
        configuration.trust = .bundle(path: "/nonexistent.pem")
        let transport = CurlTransport(configuration)
        let error = try await failure {
            try await transport.send(HTTPRequest(.get, "https://localhost:\(server.port)/"))
        }
        #expect(error.code == .tlsFailed)
        #expect(error.message.contains("ca-certificates"))
    }

    @Test func `A server that speaks no TLS is a failed handshake`() async throws {
        let server = try FaultServer { connection in
            _ = connection.read(1)
            connection.write(answer("plain"))
        }
        let error = try await failure {
            try await CurlTransport().send(HTTPRequest(.get, "https://127.0.0.1:\(server.port)/"))
        }
        #expect(error.code == .tlsFailed)
        #expect(!error.mayHaveBeenSent)
    }

    @Test(.needs(.openssl, .python)) func `Writing to a TLS connection that was reset does not end the process`()
        async throws
    {
        let certificates = try TestCertificates.make()
        defer { certificates.remove() }
        let server = try TLSServer(certificates, "good")
        let transport = trusting(certificates)
        let endless = RequestBody.produced { writer in
            let chunk = [UInt8](repeating: 1, count: 64 * 1024)
            while true { try await writer.write(chunk) }
        }
        for _ in 0..<20 {
            let error = try await failure {
                try await transport.upload(HTTPRequest(.put, "https://localhost:\(server.port)/abort"), body: endless)
            }
            #expect(error.code == .connectionLost)
        }
        #expect(try await transport.send(HTTPRequest(.get, "https://localhost:\(server.port)/")).status == 200)
    }
}
