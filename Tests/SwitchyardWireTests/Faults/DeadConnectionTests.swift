import SwitchyardTestSupport
import SwitchyardWire
import Testing

/// A pooled connection that dies exactly when it is used again.
@Suite struct DeadConnectionTests {
    /// Answers the first request of a connection, reads the second, and hangs up without a word: the moment at which
    /// no one can know whether the second was acted upon.
    private func treacherousServer(_ requests: Counter) throws -> FaultServer {
        try FaultServer { connection in
            guard connection.readRequest() != nil else { return }
            requests.add(1)
            connection.write(answer("first"))
            guard connection.readRequest() != nil else { return }
            requests.add(1)
        }
    }

    @Test func `An idempotent request is sent again silently`() async throws {
        let transport = CurlTransport()
        let requests = Counter()
        let server = try treacherousServer(requests)
        _ = try await transport.send(HTTPRequest(.get, server.url))
        #expect(try await transport.send(HTTPRequest(.get, server.url)).body == Array("first".utf8))
        #expect(requests.value == 3)
        #expect(server.acceptedCount == 2)
    }

    @Test(arguments: [0, 10, 2_000_000]) func `A request with effects is never sent twice`(size: Int) async throws {
        let transport = CurlTransport()
        let requests = Counter()
        let server = try treacherousServer(requests)
        _ = try await transport.send(HTTPRequest(.get, server.url))
        let body = [UInt8](repeating: 1, count: size)
        let error = try await failure {
            try await transport.send(HTTPRequest(.post, server.url, body: body))
        }
        #expect(error.code == .connectionLost)
        #expect(error.mayHaveBeenSent && !error.isRetryable)
        #expect(requests.value == 2)
    }

    @Test func `A POST that carries a key of its own may be sent again`() async throws {
        let transport = CurlTransport()
        let requests = Counter()
        let server = try treacherousServer(requests)
        _ = try await transport.send(HTTPRequest(.get, server.url))
        let request = HTTPRequest(.post, server.url, body: [1, 2, 3], isIdempotent: true)
        #expect(try await transport.send(request).status == 200)
        #expect(requests.value == 3)
    }

    @Test func `An upload from a source that cannot begin again fails instead of sending half`() async throws {
        let transport = CurlTransport()
        let requests = Counter()
        let server = try treacherousServer(requests)
        _ = try await transport.send(HTTPRequest(.get, server.url))
        let body = RequestBody.produced(length: 4) { writer in try await writer.write([1, 2, 3, 4]) }
        let error = try await failure {
            try await transport.upload(HTTPRequest(.put, server.url), body: body)
        }
        #expect(error.code == .connectionLost)
        #expect(error.mayHaveBeenSent)
        #expect(requests.value == 2)
    }

    @Test func `A connection the server closed while idle is not used`() async throws {
        let transport = CurlTransport()
        let server = try FaultServer { connection in
            guard connection.readRequest() != nil else { return }
            connection.write(answer("x"))
        }
        for round in 1...2 {
            try await eventually("the server has hung up") { server.runningCount == 0 }
            // Newer versions of libcurl check only connections that no one has used for a second.
            if round > 1 { try await Task.sleep(for: .milliseconds(1100)) }
            #expect(try await transport.send(HTTPRequest(.post, server.url, body: [1])).status == 200)
            #expect(server.acceptedCount == round)
        }
    }
}
