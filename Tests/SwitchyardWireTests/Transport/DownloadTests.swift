import Foundation
import SwitchyardTestSupport
import SwitchyardWire
import Synchronization
import Testing

@Suite struct DownloadTests {
    let transport = CurlTransport()
    static let bytes = [UInt8](unsafeUninitializedCapacity: 3_000_001) { buffer, count in
        for index in buffer.indices { buffer[index] = UInt8(truncatingIfNeeded: index &* 17) }
        count = buffer.count
    }

    private func server() throws -> FaultServer {
        // Made now, not while a clock runs.
        let all = Self.bytes
        return try FaultServer { connection in
            while let head = connection.readHead() {
                let offset =
                    head.firstRange(of: "bytes=").map { Int(head[$0.upperBound...].prefix { $0 != "-" }) ?? 0 } ?? 0
                let part = Array(all[offset...])
                let status = offset > 0 ? "206 Partial Content" : "200 OK"
                connection.write("HTTP/1.1 \(status)\r\nContent-Length: \(part.count)\r\n\r\n")
                connection.write(part)
            }
        }
    }

    @Test func `A download lands in the file, from scratch or behind what is there`() async throws {
        let server = try server()
        let file = try TemporaryFile(Array("old content".utf8))
        let written = Mutex<Int64>(0)
        let response = try await transport.download(HTTPRequest(.get, server.url), to: FileDestination(file.path)) {
            count in
            written.withLock { $0 = count }
        }
        #expect(response.status == 200 && response.body.isEmpty)
        #expect(file.bytes == Self.bytes)
        #expect(written.withLock { $0 } == Int64(Self.bytes.count))

        let half = try TemporaryFile(Array(Self.bytes[..<1_000_000]))
        let rest = HTTPRequest(.get, server.url, headers: ["Range": "bytes=1000000-"])
        #expect(try await transport.download(rest, to: FileDestination(half.path, appends: true)).status == 206)
        #expect(half.bytes == Self.bytes)
    }

    @Test func `An unsuccessful answer leaves the file alone`() async throws {
        let server = try FaultServer(answering: answer("gone", status: "404 Not Found"))
        let file = try TemporaryFile([1, 2, 3])
        let response = try await transport.download(HTTPRequest(.get, server.url), to: FileDestination(file.path))
        #expect(response.status == 404 && response.body == Array("gone".utf8))
        #expect(file.bytes == [1, 2, 3])
    }

    @Test func `A file that cannot be written ends the transfer`() async throws {
        let server = try server()
        for path in ["/nonexistent/file", "/dev/full"] {
            let error = try await failure {
                try await transport.download(HTTPRequest(.get, server.url), to: FileDestination(path))
            }
            #expect(error.code == .fileFailed)
        }
        try await eventually("nothing is left") { transport.liveExchangeCount == 0 }
    }

    @Test func `A consumer that does not read holds the server back, and others do not notice`() async throws {
        let sent = Counter()
        let server = try FaultServer { connection in
            guard let head = connection.readHead() else { return }
            if head.hasPrefix("GET /small") {
                connection.write(answer("small"))
                return
            }
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n")
            let block = [UInt8](repeating: 1, count: 64 * 1024)
            while sent.value < 1_000_000_000 {
                let rest = min(block.count, 1_000_000_000 - sent.value)
                guard connection.write(Array(block[..<rest])) else { return }
                sent.add(rest)
            }
        }
        let stream = try await transport.stream(HTTPRequest(.get, server.url))
        var last = -1
        try await eventually("the server stands still") {
            let now = sent.value
            defer { last = now }
            guard now > 0, now == last else { return false }
            // Standing still shows over a while only.
            try await Task.sleep(for: .milliseconds(50))
            return sent.value == now
        }
        #expect(sent.value < 32 * 1024 * 1024)
        #expect(try await transport.send(HTTPRequest(.get, "\(server.url)/small")).body == Array("small".utf8))

        var received = 0
        for try await piece in stream.body {
            received += piece.count
            if received > 100_000_000 { break }
        }
        #expect(received > 100_000_000)
    }

    @Test func `Holding a transfer back does not count as idle`() async throws {
        let server = try server()
        var request = HTTPRequest(.get, server.url)
        request.idleLimit = .milliseconds(800)
        let stream = try await transport.stream(request)
        // Longer than the limit: the one thing here that only time can show.
        try await Task.sleep(for: .milliseconds(1600))
        #expect(try await stream.body.collect(upTo: 4_000_000) == Self.bytes)
    }

    @Test func `A dropped or abandoned body lets go of its connection`() async throws {
        let server = try FaultServer { connection in
            _ = connection.readHead()
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n")
            let block = [UInt8](repeating: 1, count: 64 * 1024)
            while connection.write(block) {}
        }
        for round in 0..<30 {
            let stream = try await transport.stream(HTTPRequest(.get, server.url))
            switch round % 3 {
            case 0: break
            case 1: for try await _ in stream.body { break }
            default: stream.body.cancel()
            }
        }
        try await eventually("nothing is left") { transport.liveExchangeCount == 0 && server.runningCount == 0 }
    }
}
