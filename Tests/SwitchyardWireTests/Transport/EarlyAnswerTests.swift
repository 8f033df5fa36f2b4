import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardTestSupport
import SwitchyardWire
import Testing

/// A server that answers before it has read the body of an upload.
@Suite struct EarlyAnswerTests {
    enum Body: String, CaseIterable, Sendable {
        case small, large, file, endless, slow, silent

        func make(_ file: TemporaryFile, _ gate: Gate) -> RequestBody {
            switch self {
            case .small: .bytes([1, 2, 3])
            case .large: .bytes([UInt8](repeating: 1, count: 8 << 20))
            case .file: .file(file.path)
            case .endless:
                .produced { writer in while true { try await writer.write([UInt8](repeating: 1, count: 64 * 1024)) } }
            case .slow:
                .produced { writer in
                    try await writer.write([1])
                    try await gate.pass()
                }
            case .silent: .produced(length: 100) { _ in try await gate.pass() }
            }
        }
    }

    @Test(arguments: Body.allCases, [401, 413, 503]) func `A refusal arrives whatever is still to be sent`(
        body: Body, status: Int
    ) async throws {
        let server = try LoopbackServer { request in
            request.method == .put ? .text("no", status: status) : .text("fine")
        }
        let transport = CurlTransport()
        let file = try TemporaryFile([UInt8](repeating: 2, count: 8 << 20))
        let gate = Gate()
        for _ in 0..<3 {
            let response = try await withDeadline(.seconds(20)) { () async throws(TransportError) in
                try await transport.upload(HTTPRequest(.put, server.url("/")), body: body.make(file, gate))
            }
            #expect(response.status == status)
            #expect(response.body == Array("no".utf8))
            // Nothing of the abandoned body is taken for a request.
            let next = try await transport.send(HTTPRequest(.get, server.url("/")))
            #expect(next.status == 200)
        }
        gate.open()
        #expect(server.statistics.requests == 6)
        try await eventually("nothing is left") {
            transport.liveExchangeCount == 0 && server.statistics.runningHandlers == 0
        }
        await transport.shutDown()
        await server.stop()
    }

    @Test(arguments: [Body.small, .large, .file]) func `A success before the body is read is the answer too`(
        body: Body
    ) async throws {
        let server = try LoopbackServer { _ in .text("as you like") }
        let transport = CurlTransport()
        let file = try TemporaryFile([UInt8](repeating: 2, count: 8 << 20))
        let gate = Gate()
        for _ in 0..<3 {
            let response = try await withDeadline(.seconds(20)) { () async throws(TransportError) in
                try await transport.upload(HTTPRequest(.put, server.url("/")), body: body.make(file, gate))
            }
            #expect(response.status == 200)
            #expect(response.body == Array("as you like".utf8))
        }
        await transport.shutDown()
        await server.stop()
    }
}
