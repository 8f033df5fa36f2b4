import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@testable import SwitchyardSupabase

/// Where Supabase's file storage differs from what one would expect, each against a scripted server.
@Suite struct SupabaseFileStorageTests: SupabaseFileSuite {
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
            supabase: HTTPResponse(status: status, body: Array(body.utf8)), in: SupabaseBuckets(main: "photos"),
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

    @Test(arguments: [
        (#"{"statusCode":"404","error":"Bucket not found","message":"Bucket not found"}"#, true),
        (#"{"statusCode":"404","code":"NoSuchBucket","message":"Bucket not found"}"#, true),
        (#"{"statusCode":"404","error":"not_found","message":"Object not found"}"#, false),
        ("<html>", false),
    ])
    func `An empty list is none where the bucket is missing`(_ answer: String, _ isMissing: Bool) async throws {
        let (transport, client) = client([
            .on(.post, "\(Self.root)/object/list/avatars", .json("[]")),
            .on(.get, "\(Self.root)/object/authenticated/avatars/.no-such-file", .json(answer, status: 400)),
        ])
        let error = await failure { _ = try await client.list("u1", pageSize: 3, page: nil) }
        #expect(error?.code == (isMissing ? .notFound : nil))
        #expect(
            error?.message.hasPrefix("The bucket “avatars” does not exist. Create it in") == (isMissing ? true : nil))
        try transport.verify()
    }

    @Test func `No one asks for the bucket without a session`() async throws {
        let (transport, client) = client([.on(.post, "\(Self.root)/object/list/avatars", .json("[]"))]) { _ in nil }
        #expect(try await client.list(nil, pageSize: 3, page: nil).files.isEmpty)
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

    @Test func `A move is one call, and a missing source is missing behind its 400`() async throws {
        let (transport, client) = client([
            .on(.post, "\(Self.root)/object/move", .json(#"{"message":"Successfully moved","Key":"b"}"#)),
            Self.info("b", size: 1),
            .on(
                .post, "\(Self.root)/object/copy",
                .json(#"{"statusCode":"404","error":"not_found","message":"Object not found"}"#, status: 400)),
        ])
        #expect(try await client.move("a", to: "b").path == "b")
        let error = await failure { _ = try await client.copy("missing", to: "b") }
        #expect(error?.code == .notFound)
        try transport.verify()
    }
}
