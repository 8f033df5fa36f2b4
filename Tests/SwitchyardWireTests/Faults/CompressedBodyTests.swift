import SwitchyardTestSupport
import SwitchyardWire
import Testing

/// Compressed bodies that are whole, cut, damaged, or longer than they should be, over the real transport.
@Suite(.needs(.python)) struct CompressedBodyTests {
    static let text = (0..<20_000).map { "line \($0 % 977) of a text that shrinks\n" }.joined()

    private static func packed(_ coding: String) throws -> [UInt8] {
        try CompressedSamples.pack(text, coding)
    }

    private func answer(_ body: [UInt8], _ coding: String, _ framing: Framing) -> [UInt8] {
        let head = "HTTP/1.1 200 OK\r\nContent-Encoding: \(coding)\r\n"
        switch framing {
        case .length: return Array("\(head)Content-Length: \(body.count)\r\n\r\n".utf8) + body
        case .end: return Array("\(head)Connection: close\r\n\r\n".utf8) + body
        case .chunks:
            var bytes = Array("\(head)Transfer-Encoding: chunked\r\n\r\n".utf8)
            for start in stride(from: 0, to: body.count, by: 1000) {
                let piece = body[start..<min(start + 1000, body.count)]
                bytes += Array("\(String(piece.count, radix: 16))\r\n".utf8) + piece + Array("\r\n".utf8)
            }
            return bytes + Array("0\r\n\r\n".utf8)
        }
    }

    enum Framing: CaseIterable, Sendable { case length, end, chunks }

    private func fetch(
        _ answer: [UInt8], as coding: String = "", isStreamed: Bool, limit: Int = 32 << 20
    ) async throws -> [UInt8] {
        let server = try FaultServer { connection in
            guard connection.readHead() != nil else { return }
            connection.write(answer)
        }
        defer { server.stop() }
        let transport = CurlTransport()
        var request = HTTPRequest(.get, server.url)
        request.maximumBodySize = limit
        guard isStreamed else { return try await transport.send(request).body }
        return try await transport.stream(request).body.collect(upTo: limit)
    }

    @Test(arguments: ["gzip", "br"], Framing.allCases) func `A whole body is decoded, in every framing`(
        coding: String, framing: Framing
    ) async throws {
        let bytes = answer(try Self.packed(coding), coding, framing)
        for isStreamed in [false, true] {
            let body = try await fetch(bytes, isStreamed: isStreamed)
            #expect(body == Array(Self.text.utf8))
        }
    }

    @Test(arguments: ["gzip", "br"], Framing.allCases) func `A body cut within its compression is an error`(
        coding: String, framing: Framing
    ) async throws {
        let whole = try Self.packed(coding)
        for count in [1, 9, whole.count / 2, whole.count - 9, whole.count - 4, whole.count - 1] {
            let bytes = answer(Array(whole.prefix(count)), coding, framing)
            for isStreamed in [false, true] {
                let error = try await failure { try await fetch(bytes, isStreamed: isStreamed) }
                #expect(error.code == .badContentCoding, "\(count) of \(whole.count)")
                #expect(error.mayHaveBeenSent)
            }
        }
    }

    @Test func `A wrong checksum or length at the end is an error`() async throws {
        let whole = try Self.packed("gzip")
        for position in [whole.count - 8, whole.count - 5, whole.count - 4, whole.count - 1] {
            var bytes = whole
            bytes[position] ^= 1
            let error = try await failure { try await fetch(answer(bytes, "gzip", .length), isStreamed: true) }
            #expect(error.code == .badContentCoding && !error.isRetryable)
        }
    }

    @Test(arguments: ["gzip", "br"]) func `Anything behind the end is an error`(coding: String) async throws {
        let whole = try Self.packed(coding)
        for rubbish in [[UInt8(0)], Array("more".utf8), [UInt8](repeating: 0, count: 70_000)] {
            let error = try await failure {
                try await fetch(answer(whole + rubbish, coding, .length), isStreamed: false)
            }
            #expect(error.code == .badContentCoding)
        }
    }

    @Test func `Members of a gzip follow one another, and each needs its end`() async throws {
        let one = try CompressedSamples.pack("one,", "gzip")
        let two = try CompressedSamples.pack("two", "gzip")
        #expect(try await fetch(answer(one + two, "gzip", .chunks), isStreamed: false) == Array("one,two".utf8))
        #expect(try await fetch(answer(one + two, "X-Gzip", .length), isStreamed: true) == Array("one,two".utf8))
        let cut = one + two.dropLast()
        let error = try await failure { try await fetch(answer(cut, "gzip", .length), isStreamed: true) }
        #expect(error.code == .badContentCoding)
    }

    @Test func `No body is no cut body`() async throws {
        #expect(try await fetch(answer([], "gzip", .length), isStreamed: false) == [])
        let server = try FaultServer { connection in
            while let head = connection.readHead() {
                let status = head.hasPrefix("HEAD") ? "200 OK\r\nContent-Length: 100" : "304 Not Modified"
                connection.write("HTTP/1.1 \(status)\r\nContent-Encoding: gzip\r\n\r\n")
            }
        }
        defer { server.stop() }
        let transport = CurlTransport()
        #expect(try await transport.send(HTTPRequest(.head, server.url)).status == 200)
        #expect(try await transport.send(HTTPRequest(.get, server.url)).status == 304)
    }

    @Test(arguments: ["compress", "gzip, br", "zstd"]) func `A coding that was not asked for is an error`(
        coding: String
    ) async throws {
        let error = try await failure { try await fetch(answer([1, 2], coding, .length), isStreamed: false) }
        #expect(error.code == .badContentCoding)
    }

    @Test func `What is offered is what can be decoded, unless the caller says otherwise`() async throws {
        let server = try FaultServer { connection in
            while let head = connection.readHead() {
                let line = head.split(separator: "\r\n").first { $0.lowercased().hasPrefix("accept-encoding:") }
                connection.write(SwitchyardWireTests.answer(line.map(String.init) ?? "none"))
            }
        }
        defer { server.stop() }
        let transport = CurlTransport()
        var request = HTTPRequest(.get, server.url)
        #expect(try await transport.send(request).body == Array("Accept-Encoding: gzip, br".utf8))
        request.headers["Accept-Encoding"] = "identity"
        #expect(try await transport.send(request).body == Array("Accept-Encoding: identity".utf8))
        request.headers = [:]
        request.decompresses = false
        #expect(try await transport.send(request).body == Array("none".utf8))
    }

    @Test(arguments: ["gzip", "br"]) func `A bomb goes off within the limit of whoever reads it`(coding: String)
        async throws
    {
        let bomb = try CompressedSamples.zeros(40_000_000, coding)
        #expect(bomb.count < 200_000)
        for isStreamed in [false, true] {
            let bytes = answer(bomb, coding, .length)
            let error = try await failure { try await fetch(bytes, isStreamed: isStreamed, limit: 1_000_000) }
            #expect(error.code == .bodyTooLarge)
        }
        // A reader that takes its time is waited for, in the middle of a piece of input too.
        let server = try FaultServer { [bytes = answer(bomb, coding, .length)] connection in
            guard connection.readHead() != nil else { return }
            connection.write(bytes)
        }
        defer { server.stop() }
        var count = 0
        let transport = CurlTransport()
        for try await bytes in try await transport.stream(HTTPRequest(.get, server.url)).body {
            #expect(bytes.count <= 512 * 1024)
            count += bytes.count
            await Task.yield()
        }
        #expect(count == 40_000_000)
    }
}
