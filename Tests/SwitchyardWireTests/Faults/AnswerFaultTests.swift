import SwitchyardTestSupport
import SwitchyardWire
import Testing

/// What a server can do wrong while answering, each against the real transport.
@Suite struct AnswerFaultTests {
    struct Fault: Sendable, CustomTestStringConvertible {
        let name: String
        let answer: String
        let code: TransportError.Code
        /// The same for a POST: never, for the server has seen it.
        let isRetryableGet: Bool

        init(_ name: String, _ answer: String, _ code: TransportError.Code, retryable: Bool = false) {
            self.name = name
            self.answer = answer
            self.code = code
            isRetryableGet = retryable
        }

        var testDescription: String { name }
    }

    static let faults = [
        Fault("closes before the head", "", .connectionLost, retryable: true),
        Fault("closes within the status line", "HTTP/1.1 20", .connectionLost, retryable: true),
        Fault("closes within the head", "HTTP/1.1 200 OK\r\nContent-Type: te", .connectionLost, retryable: true),
        Fault(
            "closes after the head", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", .connectionLost, retryable: true),
        Fault(
            "closes within the body", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab", .connectionLost, retryable: true
        ),
        Fault(
            "half a chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab", .connectionLost,
            retryable: true),
        Fault(
            "no last chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n", .connectionLost,
            retryable: true),
        Fault(
            "a chunk size that is no number", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nab\r\n",
            .connectionLost, retryable: true),
        Fault("not HTTP", "SSH-2.0-OpenSSH_9.2\r\n\r\n", .badResponse),
        Fault("a status that is no number", "HTTP/1.1 abc OK\r\n\r\n", .badResponse),
        Fault("a header without a colon", "HTTP/1.1 200 OK\r\nnonsense\r\n\r\n", .badResponse),
        Fault(
            "invalid gzip", "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 12\r\n\r\nnot gzip, no",
            .badContentCoding),
        Fault(
            "a length that is no number", "HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\nabc", .badResponse),
    ]

    @Test(arguments: faults) func `A broken answer is an error of its own kind`(fault: Fault) async throws {
        let transport = CurlTransport()
        let server = try FaultServer(answering: fault.answer)
        let error = try await failure {
            try await transport.send(HTTPRequest(.get, server.url))
        }
        #expect(error.code == fault.code, "\(error)")
        #expect(error.isRetryable == fault.isRetryableGet)
        #expect(error.mayHaveBeenSent)

        let posted = try await failure {
            try await transport.send(HTTPRequest(.post, server.url, body: [1]))
        }
        #expect(posted.code == fault.code)
        #expect(!posted.isRetryable)
        #expect(posted.mayHaveBeenSent)

        let third = try await failure {
            _ = try await transport.stream(HTTPRequest(.get, server.url)).body.collect(upTo: 1000)
        }
        #expect(third.code == fault.code)
        try await eventually("nothing is left") { transport.liveExchangeCount == 0 }
    }

    @Test func `A body longer than its declared length is cut at the length`() async throws {
        let transport = CurlTransport()
        let server = try FaultServer(answering: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nabcdef")
        #expect(try await transport.send(HTTPRequest(.get, server.url)).body == Array("ab".utf8))
    }

    @Test func `Interim answers and trailers are left out`() async throws {
        let transport = CurlTransport()
        let server = try FaultServer(
            answering: "HTTP/1.1 103 Early Hints\r\nLink: <x>\r\n\r\nHTTP/1.1 200 OK\r\nA: b\r\n"
                + "Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\nTrailer-Field: t\r\n\r\n")
        let response = try await transport.send(HTTPRequest(.get, server.url))
        #expect(response.status == 200)
        #expect(response.body == Array("x".utf8))
        #expect(response.headers.map(\.name) == ["A", "Transfer-Encoding"])
    }

    @Test func `An endless head is refused at the limit`() async throws {
        let transport = CurlTransport()
        let server = try FaultServer { connection in
            _ = connection.readHead()
            connection.write("HTTP/1.1 200 OK\r\n")
            while connection.write("X-Filler: \(String(repeating: "x", count: 1000))\r\n") {}
        }
        let error = try await failure {
            try await transport.send(HTTPRequest(.get, server.url))
        }
        #expect(error.code == .headTooLarge)
        try await eventually("the server notices") { server.runningCount == 0 }
    }

    @Test func `An endless body is refused at the limit, and the server stops early`() async throws {
        let transport = CurlTransport()
        let sent = Counter()
        let server = try FaultServer { connection in
            _ = connection.readHead()
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: 10000000000\r\n\r\n")
            let block = [UInt8](repeating: 7, count: 64 * 1024)
            while connection.write(block) { sent.add(block.count) }
        }
        for isStreamed in [false, true] {
            var request = HTTPRequest(.get, server.url)
            request.maximumBodySize = 1_000_000
            request.maximumStreamedSize = 1_000_000
            let error = try await failure {
                if isStreamed {
                    for try await _ in try await transport.stream(request).body {}
                } else {
                    _ = try await transport.send(request)
                }
            }
            #expect(error.code == .bodyTooLarge)
        }
        try await eventually("the server notices") { server.runningCount == 0 }
        // A limit's worth each time, and what the socket buffers hold.
        #expect(sent.value < 40_000_000)
    }

    @Test(.needs(.python)) func `A small gzip that grows without end is refused at the limit`() async throws {
        let transport = CurlTransport()
        let bomb = try ToolProcess.output(
            "python3", "-c", "import gzip,sys; sys.stdout.buffer.write(gzip.compress(bytes(10_000_000)))")
        let server = try FaultServer { connection in
            while connection.readHead() != nil {
                connection.write("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(bomb.count)\r\n\r\n")
                connection.write(bomb)
            }
        }
        var request = HTTPRequest(.get, server.url)
        request.maximumBodySize = 1_000_000
        let error = try await failure { try await transport.send(request) }
        #expect(error.code == .bodyTooLarge)

        request.maximumBodySize = 10_000_000
        #expect(try await transport.send(request).body.count == 10_000_000)
        request.decompresses = false
        #expect(try await transport.send(request).body == bomb)
    }
}
