import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@testable import SwitchyardSupabase

/// Where Supabase's file storage differs from what one would expect, each against a scripted server.
@Suite struct SupabaseFileStorageTests {
    private static let root = "https://demo.supabase.co/storage/v1"
    private static let session = "https://demo.supabase.co/storage/v1/upload/resumable/abc"

    private func client(
        _ exchanges: [ScriptedExchange], address: String = root, isPublic: Bool = false,
        token: @escaping @Sendable (_ isRefused: Bool) throws(AuthError) -> Secret? = { isRefused in
            isRefused ? "new" : "old"
        }
    ) -> (ScriptedTransport, SupabaseFileStorageAdapter) {
        let transport = ScriptedTransport(exchanges)
        let service = SupabaseFileService(
            address: address, buckets: SupabaseBuckets(main: "avatars", isPublic: isPublic),
            tokens: SupabaseTokens(key: "key", issuer: .supabase) { isRefused throws(AuthError) in
                try token(isRefused).map {
                    AccessToken(value: $0, expiresAt: Timestamp(clampingSeconds: 0, nanoseconds: 0), userID: "alice")
                }
            }, transport: transport,
            clock: ImpatientClock(), now: { Timestamp(clampingSeconds: 0, nanoseconds: 0) })
        return (transport, SupabaseFileStorageAdapter(service, folder: nil))
    }

    private static func info(_ name: String, size: Int) -> ScriptedExchange {
        .on(
            .get, "\(root)/object/info/authenticated/avatars/\(name)",
            .json(
                #"{"name":"\#(name)","size":\#(size),"content_type":"image/png","etag":"\"9b\"","metadata":{"alt":"face"},"last_modified":"2024-05-01T12:34:56.123Z"}"#
            ))
    }

    private func failure(_ body: () async throws -> Void) async -> FileStorageError? {
        do {
            try await body()
            return nil
        } catch {
            return error as? FileStorageError
        }
    }

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
                }, .status(201, headers: ["Location": "/storage/v1/upload/resumable/abc"])),
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
            let (transport, client) = client([
                .on(.post, "\(Self.root)/upload/resumable", .status(201, headers: ["Location": Self.session])),
                .on(.patch, Self.session, .status(204, headers: ["Upload-Offset": "\(6 << 20)"])),
                .on(.patch, Self.session, .failure(.scriptedCut)),
                .on(
                    .head, Self.session,
                    isForgotten
                        ? .status(404)
                        : .status(200, headers: ["Upload-Offset": "\(size)", "Upload-Length": "\(size)"])),
                Self.info("a", size: size),
            ])
            #expect(try await client.put(Data(count: size), at: "a").size == Int64(size))
            try transport.verify()
        }
    }

    @Test func `Who may write but not read is told what was sent`() async throws {
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

    @Test func `An upload on a stranger's address gets neither key nor token`() async throws {
        let size = (6 << 20) + 1
        let stranger = "https://elsewhere.example/abc"
        let (transport, client) = client([
            .on(.post, "\(Self.root)/upload/resumable", .status(201, headers: ["Location": stranger])),
            .on(.patch, stranger, .status(204, headers: ["Upload-Offset": "\(6 << 20)"])),
            .on(.patch, stranger, .status(204, headers: ["Upload-Offset": "\(size)"])),
            Self.info("a", size: size),
        ])
        try await client.put(Data(count: size), at: "a")
        #expect(
            transport.requests.map { $0.request.headers["apikey"] != nil || $0.request.headers["Authorization"] != nil }
                == [true, false, false, true])
    }

    @Test func `Plain HTTP to another machine carries no key`() async throws {
        let (transport, client) = client([], address: "http://files.example/storage/v1")
        let error = await failure { _ = try await client.metadata(of: "a") }
        #expect(error?.code == .unauthenticated)
        #expect(transport.requests.isEmpty)
    }

    @Test func `A session that ran out looks like a permission, and is renewed once`() async throws {
        let refusal =
            #"{"statusCode":"403","error":"Unauthorized","message":"\"exp\" claim timestamp check failed","code":"AccessDenied"}"#
        let url = "\(Self.root)/object/info/authenticated/avatars/a"
        let (transport, client) = client([
            .on(.get, url, .json(refusal, status: 400)), Self.info("a", size: 1),
            .on(.get, url, .json(refusal, status: 400)), .on(.get, url, .json(refusal, status: 400)),
        ])
        _ = try await client.metadata(of: "a")
        #expect(transport.requests.map { $0.request.headers["Authorization"] } == ["Bearer old", "Bearer new"])
        let error = await failure { _ = try await client.metadata(of: "a") }
        #expect(error?.code == .unauthenticated)
        try transport.verify()
    }

    @Test(arguments: [
        (400, #"{"statusCode":"404","error":"not_found","message":"Object not found","code":"NoSuchKey"}"#, "notFound"),
        (400, #"{"statusCode":"404","error":"not_found","message":"Object not found"}"#, "notFound"),
        (400, #"{"statusCode":404,"message":"x"}"#, "notFound"),
        (
            400,
            #"{"statusCode":"403","error":"Unauthorized","message":"new row violates row-level security policy","code":"AccessDenied"}"#,
            "unauthorized"
        ),
        (400, #"{"statusCode":"403","error":"Unauthorized","message":"Expected a policy"}"#, "unauthorized"),
        (400, #"{"statusCode":"409","error":"Duplicate","message":"The resource already exists"}"#, "alreadyExists"),
        (400, #"{"statusCode":"413","error":"Payload too large","message":"x"}"#, "tooLarge"),
        (400, #"{"statusCode":"415","error":"invalid_mime_type","message":"x"}"#, "invalidArgument"),
        (400, #"{"statusCode":"416","error":"S3Error","message":"x","code":"S3Error"}"#, "rangeNotSatisfiable"),
        (400, #"{"statusCode":"423","code":"ResourceLocked","message":"x"}"#, "unavailable"),
        (400, #"{"statusCode":"400","code":"InvalidKey","message":"x"}"#, "invalidArgument"),
        (400, #"{"statusCode":"400","code":"InvalidKey","message":"Invalid key: exp jwt.png"}"#, "invalidArgument"),
        (400, #"{"statusCode":"400","code":"InvalidJWT","message":"x"}"#, "unauthenticated"),
        (400, #"{"statusCode":"403","error":"Unauthorized","message":"jwt expired"}"#, "unauthenticated"),
        (401, #"{"message":"Invalid API key"}"#, "unauthenticated"), (429, "SlowDown", "rateLimited"),
        (544, "{}", "unavailable"), (503, "<html>", "unavailable"), (413, "Maximum size exceeded", "tooLarge"),
        (418, "", "http418"),
    ])
    func `What is meant counts, wherever it stands`(_ status: Int, _ body: String, _ code: String) {
        let error = FileStorageError(
            supabase: HTTPResponse(status: status, body: Array(body.utf8)),
            now: Timestamp(clampingSeconds: 0, nanoseconds: 0))
        #expect(error.code.rawValue == code)
    }

    @Test func `A list has relative names, folders without an id, and goes on while pages are full`() async throws {
        func onList(_ offset: Int, _ rows: String) -> ScriptedExchange {
            .on(
                .post, "\(Self.root)/object/list/avatars",
                check: { recorded in
                    recorded.text
                        == #"{"prefix":"u1","limit":3,"offset":\#(offset),"sortBy":{"column":"name","order":"asc"}}"#
                        ? nil : recorded.text
                }, .json(rows))
        }
        let (transport, client) = client([
            onList(
                0,
                #"[{"name":"albums","id":null,"metadata":null},{"name":".emptyFolderPlaceholder","id":"1","metadata":{"size":0}},{"name":"face.png","id":"2","metadata":{"size":1234,"mimetype":"image/png","eTag":"\"9b\""}}]"#
            ), onList(3, "[]"),
        ])
        let first = try await client.list("u1", pageSize: 3, page: nil)
        #expect(first.files.map(\.path) == ["u1/face.png"])
        #expect(first.files.map(\.size) == [1234])
        #expect(first.folders == ["u1/albums"])
        #expect(try await client.list("u1", pageSize: 3, page: first.nextPage).nextPage == nil)
        try transport.verify()
    }

    @Test func `Signed addresses are relative and not coded; public ones need no request`() async throws {
        let (transport, client) = client(
            [
                .on(
                    .post, "\(Self.root)/object/sign/avatars/a%20b.png",
                    check: { $0.text == #"{"expiresIn":60}"# ? nil : $0.text },
                    .json(#"{"signedURL":"/object/sign/avatars/a b.png?token=eyJ"}"#)),
                .on(
                    .post, "\(Self.root)/object/upload/sign/avatars/a.png",
                    .json(#"{"url":"/object/upload/sign/avatars/a.png?token=eyJ"}"#)),
            ], isPublic: true)
        #expect(
            try await client.downloadURL(of: "a b.png", expiresIn: .seconds(60)).absoluteString
                == "\(Self.root)/object/sign/avatars/a%20b.png?token=eyJ")
        #expect(
            try await client.uploadURL(for: "a.png").absoluteString
                == "\(Self.root)/object/upload/sign/avatars/a.png?token=eyJ")
        #expect(
            try await client.downloadURL(of: "a b.png", expiresIn: nil).absoluteString
                == "\(Self.root)/object/public/avatars/a%20b.png")
        try transport.verify()
    }

    @Test func `A private bucket has no address without an end, and no upload an unknown length`() async throws {
        let (_, client) = client([])
        let address = await failure { _ = try await client.downloadURL(of: "a", expiresIn: nil) }
        #expect(address?.code == .unsupported)
        let upload = await failure {
            _ = try await client.upload(.stream(length: nil) { AsyncThrowingStream { nil } }, to: "a")
        }
        #expect(upload?.code == .unsupported)
    }

    @Test func `A download goes on with a range, and a range outside is refused behind its 400`() async throws {
        let contents = (0..<1000).map { UInt8(truncatingIfNeeded: $0) }
        let url = "\(Self.root)/object/authenticated/avatars/a"
        let (transport, client) = client([
            .on(
                .get, url,
                .status(200, headers: ["ETag": "\"9b\"", "Content-Length": "1000"], body: contents).cut(after: 400)),
            .on(
                .get, url, check: { $0.request.headers["Range"] == "bytes=400-" ? nil : "another range" },
                .status(
                    206, headers: ["ETag": "\"9b\"", "Content-Range": "bytes 400-999/1000"],
                    body: Array(contents[400...]))),
            .on(.get, url, .json(#"{"statusCode":"416","error":"S3Error","message":"x"}"#, status: 400)),
        ])
        #expect(try await client.data(at: "a") == Data(contents))
        let error = await failure { _ = try await client.data(at: "a", range: 5000..<6000, limit: 10_000) }
        #expect(error?.code == .rangeNotSatisfiable)
        try transport.verify()
    }

    @Test func `Changed metadata are written by a copy onto itself, with what is not changed`() async throws {
        let (transport, client) = client([
            Self.info("a", size: 1),
            .on(
                .post, "\(Self.root)/object/copy",
                check: { recorded in
                    let notes = recorded.request.headers["x-metadata"].flatMap { Base64.decode($0) } ?? []
                    guard String(decoding: notes, as: UTF8.self) == #"{"alt":"face","more":"1"}"# else {
                        return "the notes"
                    }
                    return recorded.text.contains(#""mimetype":"text/x""#)
                        && recorded.text.contains(#""destinationKey":"a""#) ? nil : recorded.text
                }, .json("{}")),
            Self.info("a", size: 1),
        ])
        _ = try await client.updateMetadata(
            of: "a", FileMetadataChanges(contentType: "text/x", custom: ["more": "1"]))
        try transport.verify()
    }

    @Test func `An address is cut where its token begins, whatever the name looks like`() async throws {
        let (transport, client) = client([
            .on(
                .post, "\(Self.root)/object/sign/avatars/a%3Ftoken%3D%2B1.png",
                .json(#"{"signedUrl":"/object/sign/avatars/a?token=+1.png?token=eyJ"}"#))
        ])
        #expect(
            try await client.downloadURL(of: "a?token=+1.png", expiresIn: .seconds(60)).absoluteString
                == "\(Self.root)/object/sign/avatars/a%3Ftoken%3D%2B1.png?token=eyJ")
        try transport.verify()
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

    @Test func `A move is one call, and a missing source is missing behind its 400`() async throws {
        let (transport, client) = client([
            .on(.post, "\(Self.root)/object/move", .json(#"{"message":"Successfully moved","Key":"b"}"#)),
            Self.info("b", size: 1),
            .on(
                .post, "\(Self.root)/object/copy",
                .json(#"{"statusCode":"404","error":"not_found","message":"Object not found"}"#, status: 400)),
        ])
        #expect(try await client.move("a", to: "b").path == "b")
        let error = await failure { _ = try await client.copy("nobody", to: "b") }
        #expect(error?.code == .notFound)
        try transport.verify()
    }
}
