import Foundation
import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardTestSupport
import SwitchyardURLSession
import SwitchyardWire
import Synchronization
import Testing

/// The behaviour every transport has, over `URLSession`.
///
/// What Foundation cannot do on Linux is written down as tests that are left out there, so that the list is the code.
@Suite struct URLSessionTransportTests {
    let transport = URLSessionTransport()

    private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    @Test(arguments: ["GET", "POST", "PUT", "PATCH", "DELETE"])
    func `A request arrives as it was written, and its answer too`(method: String) async throws {
        let server = try LoopbackServer { request in
            let body = (try? await request.body.collect()) ?? []
            let seen = "\(request.method) \(request.target) \(request.headers["X-Key"] ?? "") \(body.count)"
            return ServerResponse(status: 201, headers: ["X-Answer": "yes"], body: Array(seen.utf8))
        }
        let sendsBody = method != "GET" && method != "DELETE"
        let request = HTTPRequest(
            HTTPMethod(rawValue: method), server.url("/a%20b?q=%41"), headers: ["X-Key": "value"],
            body: sendsBody ? [1, 2, 3] : [])
        let response = try await transport.send(request)
        #expect(response.status == 201)
        #expect(response.headers["x-answer"] == "yes")
        #expect(text(response.body) == "\(method) /a%20b?q=%41 value \(sendsBody ? 3 : 0)")
    }

    @Test func `A stream delivers pieces as they come`() async throws {
        let gate = Gate()
        let server = try LoopbackServer { _ in
            .stream { writer in
                try await writer.write("one")
                try await gate.pass()
                try await writer.write("two")
            }
        }
        let stream = try await transport.stream(HTTPRequest(.get, server.url("/")))
        var iterator = stream.body.makeAsyncIterator()
        #expect(try await iterator.next().map(text) == "one")
        gate.open()
        #expect(try await iterator.next().map(text) == "two")
        #expect(try await iterator.next() == nil)
    }

    @Test func `Bodies from memory, files, parts of files and producers arrive`() async throws {
        let server = try LoopbackServer { request in
            .text("\((try? await request.body.collect())?.map(Int.init).reduce(0, +) ?? -1)")
        }
        let path = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
        try Data([1, 2, 3, 4]).write(to: URL(fileURLWithPath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        let bodies: [(RequestBody, String)] = [
            (.bytes([5, 6]), "11"), (.file(path), "10"), (.file(path, range: 1..<3), "5"),
            (
                .produced(length: 2) { writer in
                    try await writer.write([7])
                    try await writer.write([8])
                }, "15"
            ),
        ]
        for (body, sum) in bodies {
            let response = try await transport.upload(HTTPRequest(.put, server.url("/")), body: body)
            #expect(text(response.body) == sum)
        }
    }

    @Test func `A download lands in the file`() async throws {
        let bytes = [UInt8](repeating: 9, count: 1_000_000)
        let server = try LoopbackServer { _ in ServerResponse(body: bytes) }
        let path = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let response = try await transport.download(HTTPRequest(.get, server.url("/")), to: FileDestination(path))
        #expect(response.isSuccess && response.body.isEmpty)
        #expect(FileManager.default.contents(atPath: path).map { Array($0) } == bytes)
    }

    @Test func `Redirects are followed by the shared rules`() async throws {
        let other = try LoopbackServer { request in .text("\(request.headers["Authorization"] ?? "none")") }
        let server = try LoopbackServer { request in
            switch request.path {
            case "/loop": ServerResponse(status: 302, headers: ["Location": "/loop"])
            case "/away": ServerResponse(status: 302, headers: ["Location": other.url("/")])
            case "/here": ServerResponse(status: 302, headers: ["Location": "/end"])
            default: .text(request.headers["Authorization"] ?? "none")
            }
        }
        let headers: HTTPHeaders = ["Authorization": "secret"]
        #expect(
            text(try await transport.send(HTTPRequest(.get, server.url("/here"), headers: headers)).body) == "secret")
        #expect(text(try await transport.send(HTTPRequest(.get, server.url("/away"), headers: headers)).body) == "none")
        await #expect { try await transport.send(HTTPRequest(.get, server.url("/loop"))) } throws: { error in
            (error as? TransportError)?.code == .tooManyRedirects
        }
    }

    @Test func `Failures to connect are told apart, and limits are enforced`() async throws {
        let server = try LoopbackServer { _ in ServerResponse(body: [UInt8](repeating: 1, count: 100_000)) }
        let gone = try LoopbackServer { _ in .text("") }
        await gone.stop()
        var small = HTTPRequest(.get, server.url("/"))
        small.maximumBodySize = 1000
        let cases: [(HTTPRequest, TransportError.Code, String)] = [
            (HTTPRequest(.post, gone.url("/")), .cannotConnect, "could not connect to 127.0.0.1:\(gone.port) (is the"),
            (HTTPRequest(.get, "http://no-such-host.invalid/"), .hostNotFound, "“no-such-host.invalid” could not"),
            (small, .bodyTooLarge, ""),
            (HTTPRequest(.get, server.url("/"), headers: ["A": "b\r\nC: d"]), .invalidRequest, ""),
        ]
        for (request, code, words) in cases {
            let error = await #expect(throws: TransportError.self) { try await transport.send(request) }
            #expect(error?.code == code)
            #expect(words.isEmpty || error?.message.contains(words) == true, "\(error as Any)")
        }
    }

    @Test func `Cancelling ends an exchange at once`() async throws {
        let gate = Gate()
        let server = try LoopbackServer { _ in
            try? await gate.pass()
            return .text("late")
        }
        let task = Task { try await transport.send(HTTPRequest(.get, server.url("/"))) }
        try await eventually("the request has arrived") { gate.waiting == 1 }
        task.cancel()
        await #expect { try await task.value } throws: { ($0 as? TransportError)?.code == .cancelled }
        await #expect {
            try await withDeadline(.milliseconds(50)) { () throws(TransportError) in
                try await transport.send(HTTPRequest(.get, server.url("/")))
            }
        } throws: { ($0 as? TransportError)?.code == .deadlineExceeded }
    }

    @Test(arguments: [false, true])
    func `Shutting down ends what is under way and refuses what comes later`(isFresh: Bool) async throws {
        let gate = Gate()
        let server = try LoopbackServer { _ in
            try? await gate.pass()
            return .text("late")
        }
        let transport = URLSessionTransport()
        var request = HTTPRequest(.get, server.url("/"))
        request.usesFreshConnection = isFresh
        let asked = request
        let task = Task { try await transport.send(asked) }
        try await eventually("the request has arrived") { gate.waiting == 1 }
        await transport.shutDown()
        await #expect { try await task.value } throws: { ($0 as? TransportError)?.code == .shutDown }
        await #expect { try await transport.send(asked) } throws: { error in
            (error as? TransportError)?.code == .shutDown
        }
    }

    // MARK: Not on Linux

    #if canImport(FoundationNetworking)
        private static let isLimited = true
    #else
        private static let isLimited = false
    #endif

    @Test(.disabled(if: isLimited, "Foundation has no web sockets on this platform"))
    func `URLSession: a web socket carries messages both ways`() async throws {
        let server = try LoopbackServer { _ in ServerResponse(status: 404) }
        // A server without web sockets refuses; that alone needs the platform's web socket.
        await #expect { try await transport.webSocket(WebSocketRequest(server.url("/"))) } throws: { error in
            (error as? TransportError)?.code == .webSocketRefused
        }
    }

    @Test(.disabled(if: isLimited, "Foundation's suspend does not stop what is queued on this platform"))
    func `URLSession: a consumer that does not read holds the server back`() async throws {
        let written = Mutex(0)
        let server = try LoopbackServer { _ in
            .stream(length: 200_000_000) { writer in
                for _ in 0..<2000 {
                    try await writer.write([UInt8](repeating: 1, count: 100_000))
                    written.withLock { $0 += 100_000 }
                }
            }
        }
        let stream = try await transport.stream(HTTPRequest(.get, server.url("/")))
        // Time enough for all of it, were no one held back.
        try await Task.sleep(for: .seconds(1))
        #expect(written.withLock { $0 } < 64_000_000)
        stream.body.cancel()
    }

    @Test(.disabled(if: isLimited, "Foundation knows no certificate authorities of one's own on this platform"))
    func `URLSession: a certificate of an unknown authority is refused, of a given one believed`() async throws {
        let strict = URLSessionTransport(trust: .anchors([]))
        await #expect { try await strict.send(HTTPRequest(.get, "https://localhost/")) } throws: { error in
            error is TransportError
        }
    }
}
