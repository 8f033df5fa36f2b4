import SwitchyardServerKit
import SwitchyardTestSupport
import SwitchyardWire
import Testing

/// Requests through a proxy, and what proxies do wrong.
@Suite struct ProxyTests {
    private func transport(
        _ proxy: CurlConfiguration.Proxy, trusting certificates: TestCertificates? = nil
    ) -> CurlTransport {
        var configuration = CurlConfiguration()
        configuration.proxy = proxy
        if let certificates { configuration.trust = .bundle(path: certificates.authority) }
        return CurlTransport(configuration)
    }

    @Test func `A plain request is handed to the proxy with its whole address`() async throws {
        let proxy = try TestProxy()
        let transport = transport(.address(proxy.url))
        let response = try await transport.send(HTTPRequest(.get, "http://somewhere.invalid/path?x=1"))
        #expect(response.body == Array("by the proxy".utf8))
        #expect(proxy.requestLines == ["GET http://somewhere.invalid/path?x=1 HTTP/1.1"])
    }

    @Test func `Without a proxy the connection is direct`() async throws {
        let server = try FaultServer(answering: answer("direct"))
        #expect(try await transport(.none).send(HTTPRequest(.get, server.url)).body == Array("direct".utf8))
    }

    @Test(.needs(.openssl, .python)) func `TLS goes through a tunnel, and the proxy sees host and port only`()
        async throws
    {
        let certificates = try TestCertificates.make()
        defer { certificates.remove() }
        let server = try TLSServer(certificates, "good")
        let proxy = try TestProxy()
        let transport = transport(.address(proxy.url), trusting: certificates)
        let address = "https://localhost:\(server.port)/secret"
        let response = try await transport.send(
            HTTPRequest(.post, address, headers: ["Authorization": "Bearer hush"], body: [1]))
        #expect(response.status == 200 && response.body == Array("POST /secret".utf8))
        // The proxy's own answer is no part of ours.
        #expect(!response.headers.contains("Connection"))
        #expect(proxy.requestLines == ["CONNECT localhost:\(server.port) HTTP/1.1"])
        #expect(!proxy.text.contains("hush") && !proxy.text.contains("secret"))
    }

    @Test func `A web socket goes through a tunnel, without TLS too`() async throws {
        let server = try LoopbackServer { _ in
            .webSocket { socket in
                while let message = try await socket.receive() { try await socket.send(message) }
            }
        }
        let proxy = try TestProxy()
        let transport = transport(.address(proxy.url))
        let socket = try await transport.webSocket(WebSocketRequest("ws://127.0.0.1:\(server.port)/"))
        try await socket.send(.text("through"))
        #expect(try await socket.receive() == .text("through"))
        await socket.close(.normal)
        #expect(proxy.requestLines == ["CONNECT 127.0.0.1:\(server.port) HTTP/1.1"])
        await transport.shutDown()
        await server.stop()
    }

    @Test(arguments: ["403 Forbidden", "407 Proxy Authentication Required", "502 Bad Gateway"])
    func `A proxy that makes no tunnel is no connection, and nothing was sent`(status: String) async throws {
        let proxy = try TestProxy(tunnelAnswer: "HTTP/1.1 \(status)\r\nContent-Length: 0\r\n\r\n")
        let transport = transport(.address(proxy.url))
        let error = try await failure {
            try await transport.send(HTTPRequest(.post, "https://localhost:1/", body: [1]))
        }
        #expect(error.code == .cannotConnect)
        #expect(!error.mayHaveBeenSent)
        let refused = try await failure { try await transport.webSocket(WebSocketRequest("ws://localhost:1/")) }
        #expect(refused.code == .cannotConnect)
        #expect(!refused.mayHaveBeenSent)
    }

    @Test func `A proxy that is not there, or has no address, is told apart`() async throws {
        let gone = try await failure {
            try await transport(.address("http://127.0.0.1:1")).send(HTTPRequest(.get, "http://localhost/"))
        }
        #expect(gone.code == .cannotConnect && gone.isRetryable && !gone.mayHaveBeenSent)
        let unknown = try await failure {
            try await transport(.address("http://no-such-proxy.invalid:80")).send(
                HTTPRequest(.get, "http://localhost/"))
        }
        #expect(unknown.code == .hostNotFound && !unknown.mayHaveBeenSent)
    }
}
