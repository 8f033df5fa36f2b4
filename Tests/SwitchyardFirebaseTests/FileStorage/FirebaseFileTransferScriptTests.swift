import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardTestSupport
import SwitchyardWire
import Synchronization
import Testing

@testable import SwitchyardFirebase

/// The requests of uploads and downloads, byte for byte.
@Suite struct FirebaseFileTransferScriptTests {
    private static let root = FirebaseFilePitfallTests.root
    private static let session = "https://firebasestorage.googleapis.com/v0/b/demo/o?name=f&upload_id=u"

    private static func bytes(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) } }

    private static func start(_ granularity: String? = "262144", session: String = session) -> ScriptedReply {
        var headers: HTTPHeaders = ["X-Goog-Upload-Status": "active", "X-Goog-Upload-URL": session]
        if let granularity { headers["X-Goog-Upload-Chunk-Granularity"] = granularity }
        return .text("OK", headers: headers)
    }

    private static func status(_ status: String, received: Int? = nil) -> ScriptedReply {
        var headers: HTTPHeaders = ["X-Goog-Upload-Status": status]
        if let received { headers["X-Goog-Upload-Size-Received"] = String(received) }
        return .text("OK", headers: headers)
    }

    private static func final(_ contents: [UInt8]) -> ScriptedReply {
        .json(FirebaseFilePitfallTests.object("f", contents), headers: ["X-Goog-Upload-Status": "final"])
    }

    /// A request of the resumable protocol, with its place and size.
    private static func on(
        _ command: String, offset: Int? = nil, count: Int? = nil, session: String = session, _ reply: ScriptedReply
    ) -> ScriptedExchange {
        .on(
            .post, session,
            check: { recorded in
                let headers = recorded.request.headers
                if headers["X-Goog-Upload-Command"] != command {
                    return "the command is \(headers["X-Goog-Upload-Command"] ?? "missing")"
                }
                if let offset, headers["X-Goog-Upload-Offset"] != String(offset) {
                    return "the offset is \(headers["X-Goog-Upload-Offset"] ?? "missing")"
                }
                if let count, recorded.body.count != count { return "there are \(recorded.body.count) bytes" }
                return headers["Authorization"] == "Firebase old" ? nil : "there is no token"
            }, reply)
    }

    private static let beginning = ScriptedExchange.on(
        .post, root + "?name=f",
        check: { $0.request.headers["X-Goog-Upload-Command"] == "start" ? nil : "it is no start" }, start())

    /// - Parameter clock: One on which no pause is over at once leaves an upload that is given up its time to say so.
    private func client(
        _ exchanges: [ScriptedExchange], clock: any Clock<Duration> = ImpatientClock()
    ) throws -> (ScriptedTransport, FirebaseFileStorageAdapter) {
        let transport = ScriptedTransport(exchanges)
        return (transport, try FirebaseFilePitfallTests.client(transport, clock: clock))
    }

    private func failure(_ body: () async throws -> Void) async -> FileStorageError? {
        do {
            try await body()
            return nil
        } catch {
            return error as? FileStorageError
        }
    }

    @Test func `A small file goes as two parts, JSON first, nothing behind the end`() async throws {
        let (transport, client) = try client([
            .on(
                .post, Self.root + "?name=photos%2Fcat.png",
                .json(FirebaseFilePitfallTests.object("photos/cat.png", [1, 2, 3])))
        ])
        try await client.put(
            Data([1, 2, 3]), at: "photos/cat.png", options: UploadOptions(custom: ["album": "summer"]))
        let request = transport.requests[0]
        #expect(request.request.headers["X-Goog-Upload-Protocol"] == "multipart")
        let type = try #require(request.request.headers["Content-Type"])
        #expect(type.hasPrefix("multipart/related; boundary="))
        let boundary = type.dropFirst(28)
        #expect(
            request.text == "--\(boundary)\r\nContent-Type: application/json; charset=utf-8\r\n\r\n"
                + #"{"name":"photos/cat.png","contentType":"image/png","metadata":{"album":"summer"}}"#
                + "\r\n--\(boundary)\r\nContent-Type: image/png\r\n\r\n\u{1}\u{2}\u{3}\r\n--\(boundary)--")
    }

    @Test func `A large file goes in parts of the server's measure that grow, and its end closes it`() async throws {
        let contents = Self.bytes(1_000_000)
        let (transport, client) = try client([
            Self.beginning,
            Self.on("upload", offset: 0, count: 262_144, Self.status("active")),
            Self.on("upload", offset: 262_144, count: 524_288, Self.status("active")),
            Self.on("upload, finalize", offset: 786_432, count: 213_568, Self.final(contents)),
        ])
        try await client.put(Data(contents), at: "f")
        let start = transport.requests[0]
        #expect(start.request.headers["X-Goog-Upload-Header-Content-Length"] == "1000000")
        #expect(start.request.headers["X-Goog-Upload-Header-Content-Type"] == "application/octet-stream")
        #expect(start.text == #"{"name":"f","contentType":"application/octet-stream"}"#)
        #expect(transport.requests.dropFirst().flatMap(\.body) == contents)
        try transport.verify()
    }

    @Test func `Each part goes with the token of its moment`() async throws {
        let contents = Self.bytes(600_000)
        let session = Self.session
        let transport = ScriptedTransport([
            .on(.post, Self.root + "?name=f", Self.start()), .on(.post, session, Self.status("active")),
            .on(.post, session, Self.final(contents)),
        ])
        let moment = Mutex(0)
        let auth = FixedAuthClient(provider: .firebase) { _ throws(AuthError) in
            moment.withLock { moment in
                moment += 1
                return "token-\(moment)"
            }
        }
        try await FirebaseFilePitfallTests.client(transport, auth: auth).put(Data(contents), at: "f")
        #expect(
            transport.requests.map { $0.request.headers["Authorization"] }
                == ["Firebase token-1", "Firebase token-2", "Firebase token-3"])
        #expect(auth.requests == [false, false, false], "none was requested again")
        try transport.verify()
    }

    @Test func `A measure that the usual parts do not fit is honoured all the same`() async throws {
        let contents = Self.bytes(300_000)
        let (transport, client) = try client([
            .on(.post, Self.root + "?name=f", Self.start("10000")),
            Self.on("upload", offset: 0, count: 260_000, Self.status("active")),
            Self.on("upload, finalize", offset: 260_000, count: 40_000, Self.final(contents)),
        ])
        try await client.put(Data(contents), at: "f")
        try transport.verify()
    }

    @Test func `After a failure the server is asked, and what it has is not sent again`() async throws {
        let contents = Self.bytes(600_000)
        let (transport, client) = try client([
            Self.beginning,
            Self.on("upload", offset: 0, count: 262_144, .failure(.scriptedCut)),
            Self.on("query", .status(503)),
            Self.on("query", Self.status("active", received: 262_144)),
            Self.on("upload", offset: 262_144, count: 262_144, Self.status("active")),
            Self.on("upload, finalize", offset: 524_288, count: 75_712, Self.final(contents)),
        ])
        try await client.put(Data(contents), at: "f")
        try transport.verify()
    }

    @Test func `A final answer that was lost is found out, and the file is read`() async throws {
        let contents = Self.bytes(300_000)
        let (transport, client) = try client([
            Self.beginning,
            Self.on("upload", offset: 0, count: 262_144, Self.status("active")),
            Self.on("upload, finalize", offset: 262_144, .failure(.scriptedCut)),
            Self.on("query", Self.status("final")),
            .on(.get, Self.root + "/f", .json(FirebaseFilePitfallTests.object("f", contents))),
        ])
        #expect(try await client.put(Data(contents), at: "f").size == 300_000)
        try transport.verify()
    }

    @Test func `A wrong offset is a question for the server, not the end`() async throws {
        let contents = Self.bytes(300_000)
        let (transport, client) = try client([
            Self.beginning,
            Self.on("upload", offset: 0, .text("Bad Request", status: 400)),
            Self.on("query", Self.status("active", received: 262_144)),
            Self.on("upload, finalize", offset: 262_144, Self.final(contents)),
        ])
        try await client.put(Data(contents), at: "f")
        try transport.verify()
    }

    @Test func `A success without the protocol's word for it is none`() async throws {
        let contents = Self.bytes(300_000)
        let (transport, client) = try client([
            .on(.post, Self.root + "?name=f", .text("<html>Welcome</html>")), Self.beginning,
            Self.on("upload", offset: 0, .text("<html>Welcome</html>")),
            Self.on("query", Self.status("active", received: 0)),
            Self.on("upload", offset: 0, Self.status("active")),
            Self.on("upload, finalize", offset: 262_144, Self.final(contents)),
        ])
        try await client.put(Data(contents), at: "f")
        try transport.verify()
    }

    @Test func `A session that is gone is restarted, once`() async throws {
        let contents = Self.bytes(300_000)
        let (transport, client) = try client(
            [
                Self.beginning, Self.on("upload", offset: 0, .text("Not Found", status: 404)),
                Self.beginning, Self.on("upload", offset: 0, Self.status("cancelled")),
                Self.on("cancel", .text("Bad Request", status: 400)),
            ], clock: ContinuousClock())
        let error = await failure { try await client.put(Data(contents), at: "f") }
        #expect(error?.code == .uploadExpired)
        try transport.verify()
    }

    @Test func `What rules forbid ends the upload and takes nothing with it`() async throws {
        let (transport, client) = try client(
            [
                Self.beginning, Self.on("upload", offset: 0, .status(403, headers: ["X-Goog-Upload-Status": "final"])),
                Self.on("cancel", Self.status("cancelled")),
            ], clock: ContinuousClock())
        let error = await failure { try await client.put(Data(Self.bytes(300_000)), at: "f") }
        #expect(error?.code == .unauthorized)
        try transport.verify()
    }

    @Test func `A session on a foreign address gets no token`() async throws {
        let contents = Self.bytes(300_000)
        let foreign = "https://elsewhere.example/upload?id=u"
        let (transport, client) = try client([
            .on(.post, Self.root + "?name=f", Self.start(session: foreign)),
            .on(.post, foreign, Self.status("active")), .on(.post, foreign, Self.final(contents)),
        ])
        try await client.put(Data(contents), at: "f")
        #expect(transport.requests.map { $0.request.headers["Authorization"] } == ["Firebase old", nil, nil])
    }

    @Test func `Contents that arrived wrong are no success, by either sum and by size`() async throws {
        for wrong in [Self.bytes(4), [3, 2, 1]] {
            let (_, client) = try client([
                .on(.post, Self.root + "?name=f", .json(FirebaseFilePitfallTests.object("f", wrong)))
            ])
            let error = await failure { try await client.put(Data([1, 2, 3]), at: "f") }
            #expect(error?.code == .checksumMismatch)
        }
        let md5 = #"{"name":"f","size":"3","md5Hash":"XrY7u+Ae7tCTyyK7j1rNww=="}"#
        let (_, client) = try client([.on(.post, Self.root + "?name=f", .json(md5))])
        let error = await failure { try await client.put(Data([1, 2, 3]), at: "f") }
        #expect(error?.code == .checksumMismatch)
    }

    @Test func `A file that must not be replaced is looked for first`() async throws {
        let (transport, client) = try client([
            .on(.get, Self.root + "/f", .json(FirebaseFilePitfallTests.object("f")))
        ])
        let error = await failure {
            try await client.put(Data([1]), at: "f", options: UploadOptions(replacesExisting: false))
        }
        #expect(error?.code == .alreadyExists)
        try transport.verify()
    }

    // MARK: Downloads

    private func media(_ contents: [UInt8], generation: String = "17", _ more: HTTPHeaders = [:]) -> HTTPHeaders {
        let crc = CRC32C.checksum(of: contents)
        let text = Base64.encode(withUnsafeBytes(of: crc.bigEndian) { Array($0) })
        var headers: HTTPHeaders = [
            "x-goog-generation": generation, "x-goog-hash": "crc32c=\(text)", "Content-Length": "\(contents.count)",
        ]
        for field in more { headers[field.name] = field.value }
        return headers
    }

    private func onMedia(range: String?, _ reply: ScriptedReply) -> ScriptedExchange {
        .on(
            .get, Self.root + "/f?alt=media",
            check: {
                $0.request.headers["Range"] == range ? nil : "the range is \($0.request.headers["Range"] ?? "none")"
            },
            reply)
    }

    @Test func `A download goes on with a range where its connection broke`() async throws {
        let contents = Self.bytes(1000)
        let (transport, client) = try client([
            onMedia(range: nil, .status(200, headers: media(contents), body: contents).cut(after: 400)),
            onMedia(
                range: "bytes=400-",
                .status(
                    206, headers: media(contents, ["Content-Range": "bytes 400-999/1000", "Content-Length": "600"]),
                    body: Array(contents[400...]))),
        ])
        #expect(try await client.data(at: "f") == Data(contents))
        try transport.verify()
    }

    @Test func `Sums and size from the first answer hold for the rest, even if a later answer has none`()
        async throws
    {
        let contents = Self.bytes(1000)
        var wrong = contents
        wrong[100] ^= 1
        func rest(_ count: Int) -> ScriptedReply {
            .status(
                206, headers: ["x-goog-generation": "17", "Content-Range": "bytes 400-999/*"],
                body: Array(contents[400..<400 + count]))
        }
        let (transport, client) = try client([
            onMedia(range: nil, .status(200, headers: media(contents), body: wrong).cut(after: 400)),
            onMedia(range: "bytes=400-", rest(600)),
            onMedia(range: nil, .status(200, headers: media(contents), body: contents).cut(after: 400)),
            onMedia(range: "bytes=400-", rest(599)),
            onMedia(
                range: "bytes=999-",
                .status(206, headers: ["Content-Range": "bytes 999-999/*"], body: [contents[999]])),
        ])
        let error = await failure { _ = try await client.data(at: "f") }
        #expect(error?.code == .checksumMismatch)
        #expect(try await client.data(at: "f") == Data(contents))
        try transport.verify()
    }

    @Test func `A file of another generation is not taken for the rest`() async throws {
        let contents = Self.bytes(1000)
        let (_, client) = try client([
            onMedia(range: nil, .status(200, headers: media(contents), body: contents).cut(after: 400)),
            onMedia(
                range: "bytes=400-",
                .status(
                    206, headers: media(contents, generation: "18", ["Content-Range": "bytes 400-999/1000"]),
                    body: Array(contents[400...]))),
        ])
        let error = await failure { _ = try await client.data(at: "f") }
        #expect(error?.code == .changed)
    }

    @Test func `A server that ignores ranges is understood, also where the range lies outside`() async throws {
        let contents = Self.bytes(1000)
        let (_, client) = try client([
            onMedia(range: "bytes=100-199", .status(200, headers: media(contents), body: contents)),
            onMedia(range: "bytes=2000-2999", .status(200, headers: media(contents), body: contents)),
            onMedia(range: "bytes=2000-2999", .status(416, headers: ["Content-Range": "bytes */1000"])),
        ])
        #expect(try await client.data(at: "f", range: 100..<200, limit: 1000) == Data(contents[100..<200]))
        for _ in 0..<2 {
            let error = await failure { _ = try await client.data(at: "f", range: 2000..<3000, limit: 1000) }
            #expect(error?.code == .rangeNotSatisfiable)
        }
    }

    @Test func `Contents that the server unpacks have neither its sums nor its size`() async throws {
        let contents = Self.bytes(1000)
        let (_, client) = try client([
            onMedia(
                range: nil,
                .status(
                    200, headers: media([9, 9], ["x-goog-stored-content-encoding": "gzip"]), body: contents))
        ])
        #expect(try await client.data(at: "f") == Data(contents))
    }

    /// Stored as gzip and sent unpacked, with the header for that or, as by the emulator, without any length.
    private static let unpacking: [HTTPHeaders] = [
        ["x-goog-stored-content-encoding": "gzip"], ["Transfer-Encoding": "chunked"],
    ]

    @Test(arguments: unpacking)
    func `An object that is stored as gzip is downloaded unpacked`(_ headers: HTTPHeaders) async throws {
        let (contents, packed) = (Self.bytes(1000), Self.bytes(77))
        var answer = media(packed, headers)
        if headers["Transfer-Encoding"] != nil { answer["Content-Length"] = nil }
        let object = FirebaseFilePitfallTests.object("f", packed, #","contentEncoding":"gzip""#)
        let (transport, client) = try client([
            .on(.get, Self.root + "/f", .json(object)),
            onMedia(range: nil, .status(200, headers: answer, body: contents).cut(after: 400)),
            onMedia(range: "bytes=400-", .status(200, headers: answer, body: contents)),
            onMedia(range: nil, .status(200, headers: answer, body: contents)),
            onMedia(range: "bytes=990-1999", .status(200, headers: answer, body: contents)),
        ])
        let file = ScratchSpace.url.appendingPathComponent("unpacked-\(UInt64.random(in: 0 ... .max))")
        let transfer = try await client.download("f", to: file)
        let stored = try await transfer.result()
        #expect(stored.size == 77, "what is stored")
        #expect(try Data(contentsOf: file) == Data(contents))
        for await progress in transfer.progress {
            #expect(progress.completedBytes == 1000 && progress.totalBytes == 1000, "what was received")
        }
        #expect(try await client.data(at: "f") == Data(contents))
        #expect(try await client.data(at: "f", range: 990..<2000, limit: 1000) == Data(contents[990...]))
        try transport.verify()
    }

    @Test func `A body that is shorter than its head, or wrong, is no success`() async throws {
        let contents = Self.bytes(1000)
        var wrong = contents
        wrong[500] ^= 1
        let (_, client) = try client([
            onMedia(range: nil, .status(200, headers: media(contents), body: contents).truncated(to: 999)),
            onMedia(
                range: "bytes=999-",
                .status(206, headers: media(contents, ["Content-Range": "bytes 999-999/1000"]), body: [contents[999]])),
            onMedia(range: nil, .status(200, headers: media(contents), body: wrong)),
        ])
        #expect(try await client.data(at: "f") == Data(contents))
        let error = await failure { _ = try await client.data(at: "f") }
        #expect(error?.code == .checksumMismatch)
    }
}
