import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@testable import SwitchyardSupabase

/// The requests of uploads, against a scripted server.
@Suite struct SupabaseUploadTests: SupabaseFileSuite {
    @Test func `A small file is a bare body, with its notes beside it`() async throws {
        let (transport, client) = client([
            .on(
                .post, "\(Self.root)/object/avatars/u1/my%20face%2B.png",
                check: { recorded in
                    let headers = recorded.request.headers
                    guard headers["x-upsert"] == "true", headers["Content-Type"] == "image/png",
                        headers["x-metadata"] == "eyJhbHQiOiJmYWNlIn0=", headers["Cache-Control"] == "max-age=60",
                        headers["apikey"] == "key", headers["Authorization"] == "Bearer old"
                    else { return "the headers are \(headers.map { "\($0.name): \($0.value)" })" }
                    return recorded.body == [1, 2, 3] ? nil : "the body is another one"
                }, .json(#"{"Id":"x","Key":"avatars/u1/my face+.png"}"#)),
            .on(
                .get, "\(Self.root)/object/info/authenticated/avatars/u1/my%20face%2B.png",
                .json(#"{"name":"u1/my face+.png","size":3,"metadata":{"alt":"face"}}"#)),
        ])
        let stored = try await client.put(
            Data([1, 2, 3]), at: "u1/my face+.png",
            options: UploadOptions(cacheControl: "max-age=60", custom: ["alt": "face"]))
        #expect(stored.custom == ["alt": "face"])
        try transport.verify()
    }

    @Test func `Names that the server would refuse are refused before anything is sent`() async throws {
        let (transport, client) = client([])
        for name in ["ü.png", "a%b", "a#b", "a[b]", "a~b", "a|b", "😀"] as [FilePath] {
            let error = await failure { try await client.put(Data(), at: name) }
            #expect(error?.code == .invalidArgument)
        }
        #expect(transport.requests.isEmpty)
    }

    @Test func `A large file goes in parts of six mebibytes, and goes on from any offset`() async throws {
        let part = 6 << 20
        // Its period divides no part, so that bytes from elsewhere are others.
        let pattern = Data((0..<65_521).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 10) })
        var contents = Data(capacity: 2 * part + pattern.count)
        while contents.count < 2 * part + 5 { contents.append(pattern) }
        contents.removeLast(contents.count - (2 * part + 5))
        // Where the server leaves its own name out.
        let relative = Self.session.replacingOccurrences(of: "https://demo.supabase.co", with: "")
        func onPatch(_ offset: Int, _ count: Int, _ reply: ScriptedReply) -> ScriptedExchange {
            let wanted = contents.subdata(in: offset..<offset + count)
            return .on(
                .patch, Self.session,
                check: { recorded in
                    let headers = recorded.request.headers
                    guard headers["Upload-Offset"] == "\(offset)", headers["Tus-Resumable"] == "1.0.0",
                        headers["x-upsert"] == "false",
                        headers["Content-Type"] == "application/offset+octet-stream"
                    else { return "the headers are others" }
                    return Data(recorded.body) == wanted ? nil : "there are \(recorded.body.count) bytes, or others"
                }, reply)
        }
        func taken(_ offset: Int, status: Int = 204) -> ScriptedReply {
            .status(status, headers: ["Upload-Offset": "\(offset)"])
        }
        let (transport, client) = client([
            .on(
                .post, "\(Self.root)/upload/resumable",
                check: { recorded in
                    guard recorded.request.headers["Upload-Length"] == "\(2 * part + 5)" else { return "the length" }
                    let wanted = "bucketName YXZhdGFycw==,objectName ZmlsbS5tcDQ=,contentType dmlkZW8vbXA0"
                    let found = recorded.request.headers["Upload-Metadata"]
                    return found == wanted ? nil : "the metadata are \(found ?? "missing")"
                }, .status(201, headers: ["Location": relative])),
            onPatch(0, part, taken(part)),
            onPatch(part, part, .failure(.scriptedCut)),
            .on(.head, Self.session, .status(423)),
            .on(.head, Self.session, taken(part + 1000, status: 200)),
            onPatch(part + 1000, part - 995, taken(2 * part + 5)),
            Self.info("film.mp4", size: 2 * part + 5),
        ])
        let stored = try await client.put(contents, at: "film.mp4", options: UploadOptions(replacesExisting: false))
        #expect(stored.size == Int64(2 * part + 5))
        try transport.verify()
    }

    @Test func `A last answer that was lost is found out, also when the upload is known no more`() async throws {
        let size = (6 << 20) + 1
        for isForgotten in [false, true] {
            let whole: HTTPHeaders = ["Upload-Offset": "\(size)", "Upload-Length": "\(size)"]
            let found: [ScriptedExchange] =
                isForgotten
                ? [.on(.head, Self.session, .status(404))]
                : [.on(.head, Self.session, .status(200, headers: whole)), Self.completion(size, .status(204))]
            let (transport, client) = client(
                [
                    .on(.post, "\(Self.root)/upload/resumable", .status(201, headers: ["Location": Self.session])),
                    .on(.patch, Self.session, .status(204, headers: ["Upload-Offset": "\(6 << 20)"])),
                    .on(.patch, Self.session, .failure(.scriptedCut)),
                ] + found + [Self.info("a", size: size)])
            #expect(try await client.put(Data(count: size), at: "a").size == Int64(size))
            try transport.verify()
        }
    }

    @Test func `A file that was there before is no proof of an upload that is known no more, whatever its size`()
        async throws
    {
        let size = (6 << 20) + 1
        let begin = ScriptedExchange.on(
            .post, "\(Self.root)/upload/resumable", .status(201, headers: ["Location": Self.session]))
        let part = ScriptedExchange.on(.patch, Self.session, .status(204, headers: ["Upload-Offset": "\(6 << 20)"]))
        let (transport, client) = client([
            begin, part, .on(.patch, Self.session, .failure(.scriptedCut)), .on(.head, Self.session, .status(404)),
            Self.info("a", size: size, version: "v1"), begin, part,
            .on(.patch, Self.session, .status(204, headers: ["Upload-Offset": "\(size)"])), Self.info("a", size: size),
        ])
        #expect(try await client.put(Data(count: size), at: "a").size == Int64(size))
        try transport.verify()
    }

    @Test(arguments: [[1, 2], [9, 2]] as [[UInt8]])
    func `After a lost answer a file in the way is the upload's own if it has its bytes`(there: [UInt8]) async throws {
        let place = "\(Self.root)/object/avatars/a"
        let taken = ScriptedReply.json(
            #"{"statusCode":"409","error":"Duplicate","message":"The resource already exists"}"#, status: 400)
        let isOurs = there == [1, 2]
        let (transport, client) = client(
            [
                .on(.post, place, .failure(.scriptedCut)), .on(.post, place, taken),
                .on(.get, "\(Self.root)/object/authenticated/avatars/a", .status(200, body: there)),
            ] + (isOurs ? [Self.info("a", size: 2)] : []))
        let error = await failure {
            try await client.put(Data([1, 2]), at: "a", options: UploadOptions(replacesExisting: false))
        }
        #expect(error?.code == (isOurs ? nil : .alreadyExists))
        try transport.verify()
        let (_, other) = self.client([.on(.post, place, taken)])
        let refused = await failure {
            try await other.put(Data([1, 2]), at: "a", options: UploadOptions(replacesExisting: false))
        }
        #expect(refused?.code == .alreadyExists)
    }

    /// A part without bytes behind the last one.
    private static func completion(_ size: Int, _ reply: ScriptedReply) -> ScriptedExchange {
        .on(
            .patch, session,
            check: { recorded in
                let offset = recorded.request.headers["Upload-Offset"] ?? "missing"
                return offset == "\(size)" && recorded.body.isEmpty ? nil : "\(recorded.body.count) bytes at \(offset)"
            }, reply)
    }

    /// An upload of which the server has all bytes, while it has failed to make a file of them.
    private func unfinished(
        _ session: String, _ rest: [ScriptedExchange], _ options: UploadOptions = UploadOptions()
    ) async throws -> Result<FileMetadata, FileStorageError> {
        let size = (6 << 20) + 1
        let whole: HTTPHeaders = ["Upload-Offset": "\(size)", "Upload-Length": "\(size)"]
        let (transport, client) = client(
            [
                .on(.post, "\(Self.root)/upload/resumable", .status(201, headers: ["Location": session])),
                .on(.patch, session, .status(204, headers: ["Upload-Offset": "\(6 << 20)"])),
                .on(.patch, session, .status(500)), .on(.head, session, .status(200, headers: whole)),
            ] + rest)
        let result: Result<FileMetadata, FileStorageError>
        do throws(FileStorageError) {
            result = .success(try await client.put(Data(count: size), at: "a", options: options))
            #expect(throws: Never.self) { try transport.verify() }
        } catch {
            // Whether the server learns of the end depends on who is faster: the clock waits for no one.
            result = .failure(error)
        }
        return result
    }

    @Test func `All bytes are not yet a file`() async throws {
        let size = (6 << 20) + 1
        let result = try await unfinished(
            Self.session, [Self.completion(size, .status(204)), Self.info("a", size: size)])
        #expect(try result.get().size == Int64(size))
    }

    @Test(arguments: [("v2", true), ("v1", false)])
    func `What a server does not complete twice is recognized by its version`(version: String, isOurs: Bool)
        async throws
    {
        let size = (6 << 20) + 1
        let result = try await unfinished(
            Self.session,
            [
                Self.completion(size, .status(409, body: Array("The resource already exists".utf8))),
                Self.info("a", size: size, version: version),
            ], UploadOptions(replacesExisting: false))
        switch result {
        case .success(let stored): #expect(isOurs && stored.size == Int64(size))
        case .failure(let error): #expect(!isOurs && error.code == .alreadyExists)
        }
    }

    @Test func `Who may write but not read gets what was sent`() async throws {
        let hidden = ScriptedExchange.on(
            .get, "\(Self.root)/object/info/authenticated/avatars/a.png",
            .json(#"{"statusCode":"404","error":"not_found","message":"Object not found"}"#, status: 400))
        let size = (6 << 20) + 1
        let (transport, client) = client([
            .on(.post, "\(Self.root)/object/avatars/a.png", .json(#"{"Id":"x","Key":"avatars/a.png"}"#)), hidden,
            .on(.post, "\(Self.root)/upload/resumable", .status(201, headers: ["Location": Self.session])),
            .on(.patch, Self.session, .status(204, headers: ["Upload-Offset": "\(6 << 20)"])),
            .on(.patch, Self.session, .status(204, headers: ["Upload-Offset": "\(size)"])), hidden,
        ])
        let small = try await client.put(Data([1, 2]), at: "a.png", options: UploadOptions(custom: ["alt": "face"]))
        #expect(small == FileMetadata(path: "a.png", size: 2, contentType: "image/png", custom: ["alt": "face"]))
        #expect(try await client.put(Data(count: size), at: "a.png").size == Int64(size))
        try transport.verify()
    }

    @Test func `An upload on a foreign address gets neither key nor token`() async throws {
        let size = (6 << 20) + 1
        let foreign = "https://elsewhere.example/abc"
        let (transport, client) = client([
            .on(.post, "\(Self.root)/upload/resumable", .status(201, headers: ["Location": foreign])),
            .on(.patch, foreign, .status(204, headers: ["Upload-Offset": "\(6 << 20)"])),
            .on(.patch, foreign, .status(204, headers: ["Upload-Offset": "\(size)"])),
            Self.info("a", size: size),
        ])
        try await client.put(Data(count: size), at: "a")
        #expect(
            transport.requests.map { $0.request.headers["apikey"] != nil || $0.request.headers["Authorization"] != nil }
                == [true, false, false, true])
    }

    @Test func `A resumable upload brings its notes, and an age in seconds only`() async throws {
        let size = (6 << 20) + 1
        let (transport, client) = client([
            .on(
                .post, "\(Self.root)/upload/resumable",
                check: { recorded in
                    let pairs = (recorded.request.headers["Upload-Metadata"] ?? "").split(separator: ",").map {
                        $0.split(separator: " ").map(String.init)
                    }
                    let found = Dictionary(
                        uniqueKeysWithValues: pairs.map { pair in
                            (pair[0], String(decoding: Base64.decode(pair[1]) ?? [], as: UTF8.self))
                        })
                    return found["cacheControl"] == "60" && found["metadata"] == #"{"alt":"é"}"# ? nil : "\(found)"
                }, .status(201, headers: ["Location": Self.session])),
            .on(.patch, Self.session, .status(204, headers: ["Upload-Offset": "\(6 << 20)"])),
            .on(.patch, Self.session, .status(204, headers: ["Upload-Offset": "\(size)"])), Self.info("a", size: size),
        ])
        try await client.put(
            Data(count: size), at: "a", options: UploadOptions(cacheControl: "max-age=60", custom: ["alt": "é"]))
        try transport.verify()
    }

    @Test func `A part that was not expected is a question, and a session that ran out costs no upload`() async throws {
        let part = 6 << 20
        let expired = ScriptedReply.json(
            #"{"statusCode":"403","error":"Unauthorized","message":"\"exp\" claim timestamp check failed"}"#,
            status: 400)
        let (transport, client) = client([
            .on(.post, "\(Self.root)/upload/resumable", .status(201, headers: ["Location": Self.session])),
            .on(.patch, Self.session, .status(409, body: Array("offset mismatch".utf8))),
            .on(.head, Self.session, .status(200, headers: ["Upload-Offset": "1000"])),
            .on(
                .patch, Self.session,
                check: { $0.request.headers["Upload-Offset"] == "1000" ? nil : "another offset" }, expired),
            .on(
                .patch, Self.session,
                check: { $0.request.headers["Authorization"] == "Bearer new" ? nil : "another token" },
                .status(204, headers: ["Upload-Offset": "\(part + 1)"])),
            Self.info("a", size: part + 1),
        ])
        #expect(try await client.put(Data(count: part + 1), at: "a").size == Int64(part + 1))
        try transport.verify()
    }

    @Test func `A name that was taken meanwhile ends an upload that does not replace`() async throws {
        let size = (6 << 20) + 1
        let taken = ScriptedReply.status(409, body: Array("The resource already exists".utf8))
        let (transport, client) = client([
            .on(.post, "\(Self.root)/upload/resumable", .status(201, headers: ["Location": Self.session])),
            .on(.patch, Self.session, taken), .on(.head, Self.session, .status(404)),
            .on(.post, "\(Self.root)/upload/resumable", taken),
        ])
        let error = await failure {
            try await client.put(Data(count: size), at: "a", options: UploadOptions(replacesExisting: false))
        }
        #expect(error?.code == .alreadyExists)
        try transport.verify()
    }
}
