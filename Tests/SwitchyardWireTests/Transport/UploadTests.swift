import Foundation
import SwitchyardTestSupport
import SwitchyardWire
import Synchronization
import Testing

@Suite struct UploadTests {
    let transport = CurlTransport()

    /// Answers with the framing and a digest of what it got.
    private func server() throws -> FaultServer {
        try FaultServer { connection in
            while let (head, body) = connection.readRequest() {
                let framing = head.lowercased().contains("transfer-encoding: chunked") ? "chunked" : "length"
                guard connection.write(answer("\(framing) \(body.count) \(body.checksum)")) else { return }
            }
        }
    }

    @Test func `Bytes, files, parts of files and produced bodies arrive unchanged`() async throws {
        let server = try server()
        let bytes = (0..<1_000_003).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let file = try TemporaryFile(bytes)
        let chunked = RequestBody.produced { writer in
            for start in stride(from: 0, to: bytes.count, by: 70_000) {
                try await writer.write(Array(bytes[start..<min(start + 70_000, bytes.count)]))
            }
        }
        for method in [HTTPMethod.put, .post, .patch] {
            let sequence = RequestBody.sequence(
                AsyncStream { continuation in
                    continuation.yield(bytes)
                    continuation.finish()
                }, length: Int64(bytes.count))
            let cases: [(RequestBody, String, [UInt8])] = [
                (.bytes(bytes), "length", bytes),
                (.bytes([]), "length", []),
                (.file(file.path), "length", bytes),
                (.file(file.path, range: 1000..<500_000), "length", Array(bytes[1000..<500_000])),
                (chunked, "chunked", bytes),
                (sequence, "length", bytes),
            ]
            for (body, framing, expected) in cases {
                let sent = Mutex<Int64>(0)
                let response = try await transport.upload(HTTPRequest(method, server.url), body: body) { count in
                    sent.withLock { $0 = count }
                }
                #expect(
                    String(decoding: response.body, as: UTF8.self)
                        == "\(framing) \(expected.count) \(expected.checksum)")
                #expect(sent.withLock { $0 } == Int64(expected.count))
            }
        }
    }

    @Test func `A producer is held back by a server that does not read`() async throws {
        let go = TurnGate()
        let server = try FaultServer { connection in
            _ = connection.readHead()
            go.wait()
            connection.drain()
        }
        let produced = Counter()
        let body = RequestBody.produced { writer in
            let chunk = [UInt8](repeating: 1, count: 64 * 1024)
            while true {
                try await writer.write(chunk)
                produced.add(chunk.count)
            }
        }
        let task = Task { try await transport.upload(HTTPRequest(.put, server.url), body: body) }
        var last = -1
        try await eventually("the producer stands still") {
            let now = produced.value
            defer { last = now }
            guard now > 0, now == last else { return false }
            // Standing still shows over a while only.
            try await Task.sleep(for: .milliseconds(50))
            return produced.value == now
        }
        #expect(produced.value < 32 * 1024 * 1024)
        go.open()
        let before = produced.value
        try await eventually("the producer goes on") { produced.value > before + 10_000_000 }
        task.cancel()
        let error = try await failure { try await task.value }
        #expect(error.code == .cancelled && error.mayHaveBeenSent)
        try await eventually("nothing is left") { transport.liveExchangeCount == 0 }
    }

    struct ProducerFailure: Error {}

    @Test func `A producer that fails or breaks its word ends the exchange`() async throws {
        let server = try FaultServer { connection in connection.drain() }
        let bodies: [RequestBody] = [
            .produced { writer in
                try await writer.write([1])
                throw ProducerFailure()
            },
            .produced(length: 10) { writer in try await writer.write([1]) },
            .produced(length: 1) { writer in try await writer.write([1, 2]) },
        ]
        for body in bodies {
            let error = try await failure { try await transport.upload(HTTPRequest(.put, server.url), body: body) }
            #expect(error.code == .requestBodyFailed)
            #expect(!error.isRetryable)
        }
        try await eventually("the server notices") { server.runningCount == 0 }
    }

    @Test func `A file that cannot be read is reported before anything is sent`() async throws {
        let server = try FaultServer { connection in connection.drain() }
        let file = try TemporaryFile([1, 2, 3])
        for body in [
            RequestBody.file("/nonexistent"), .file("/"), .file(file.path, range: 0..<4),
            .file(file.path, range: -1..<2),
        ] {
            let error = try await failure { try await transport.upload(HTTPRequest(.put, server.url), body: body) }
            #expect(error.code == .requestBodyFailed)
            #expect(!error.mayHaveBeenSent)
        }
        #expect(server.acceptedCount == 0)
    }

    @Test func `An early refusal is the answer, not a lost connection`() async throws {
        let server = try FaultServer { connection in
            _ = connection.readHead()
            connection.write(answer("too much", status: "413 Content Too Large", headers: ["Connection: close"]))
            connection.drain()
        }
        let body = RequestBody.produced { writer in
            let chunk = [UInt8](repeating: 1, count: 64 * 1024)
            while true { try await writer.write(chunk) }
        }
        let response = try await transport.upload(HTTPRequest(.put, server.url), body: body)
        #expect(response.status == 413)
        #expect(response.body == Array("too much".utf8))
    }
}
