import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@testable import SwitchyardLocalSupabase

/// The local file service as its protocol describes it.
@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct SupabaseStorageTests {
    private let root = "/storage/v1"

    private func bucket(_ client: SupabaseClient, _ settings: JSONObject = [:]) async throws -> String {
        let id = "b-\(RandomID.make(length: 10))"
        var body = settings
        body["name"] = .string(id)
        let answer = try await client.json(.post, "\(root)/bucket", .object(body), as: .service)
        try #require(answer.status == 200, "\(answer.text)")
        try await client.supabase.addOwnersPolicies(to: id)
        return id
    }

    private func put(
        _ client: SupabaseClient, _ bucket: String, _ name: String, _ text: String = "hello",
        as user: String = "ann", _ headers: HTTPHeaders = [:]
    ) async throws {
        let answer = try await client.send(
            .post, "\(root)/object/\(bucket)/\(name)", Array(text.utf8), as: .user(user), headers)
        try #require(answer.status == 200, "\(answer.text)")
    }

    // MARK: Buckets

    @Test func `Buckets are made, listed, changed, emptied and deleted with the service key`() async throws {
        let client = try await SupabaseClient.shared.value
        let id = try await bucket(
            client, ["public": true, "file_size_limit": "1MB", "allowed_mime_types": ["image/*", "text/plain"]])
        let described = try await client.send(.get, "\(root)/bucket/\(id)", as: .service)
        #expect(described.json["name"]?.string == id && described.json["public"] == true)
        #expect(described.json["file_size_limit"]?.int == 1_000_000)
        #expect(described.json["allowed_mime_types"] == ["image/*", "text/plain"])
        #expect(described.json["created_at"]?.string.flatMap { RFC3339.parse($0) } != nil)

        let again = try await client.json(.post, "\(root)/bucket", ["name": .string(id)], as: .service)
        #expect(again.status == 400 && again.meant == 409 && again.code == "BucketAlreadyExists")

        let change = try await client.json(
            .put, "\(root)/bucket/\(id)", ["public": false, "allowed_mime_types": .null], as: .service)
        #expect(change.json["message"] == "Successfully updated")
        let changed = try await client.send(.get, "\(root)/bucket/\(id)", as: .service)
        #expect(changed.json["public"] == false && changed.json["allowed_mime_types"] == .null)
        #expect(changed.json["file_size_limit"]?.int == 1_000_000)

        try await put(client, id, "a.txt")
        let full = try await client.send(.delete, "\(root)/bucket/\(id)", as: .service)
        #expect(full.meant == 409 && full.code == "ResourceNotEmpty")
        #expect(try await client.send(.post, "\(root)/bucket/\(id)/empty", as: .service).status == 200)
        #expect(try await client.send(.delete, "\(root)/bucket/\(id)", as: .service).status == 200)
        #expect(try await client.send(.get, "\(root)/bucket/\(id)", as: .service).code == "NoSuchBucket")
    }

    @Test func `People see no buckets and make none`() async throws {
        let client = try await SupabaseClient.shared.value
        let id = try await bucket(client)
        #expect(try await client.send(.get, "\(root)/bucket", as: .user("ann")).json == [])
        #expect(try await client.send(.get, "\(root)/bucket/\(id)", as: .user("ann")).meant == 404)
        let made = try await client.json(.post, "\(root)/bucket", ["name": "mine"], as: .user("ann"))
        #expect(made.meant == 403 && made.code == "AccessDenied")
        #expect(try await client.send(.delete, "\(root)/bucket/\(id)", as: .user("ann")).meant == 404)
        let all = try await client.send(.get, "\(root)/bucket?limit=1000&search=\(id)", as: .service)
        #expect(all.json.array?.map { $0["id"]?.string } == [id])
    }

    // MARK: Objects

    @Test func `What goes up comes down, with what was said of it`() async throws {
        let client = try await SupabaseClient.shared.value
        let id = try await bucket(client)
        let notes = Base64.encode(Array(#"{"alt":"face"}"#.utf8))
        try await put(
            client, id, "u1/my%20face.png", "pixels", as: "ann",
            ["Content-Type": "image/png", "Cache-Control": "max-age=60", "x-metadata": notes])
        let place = "\(id)/u1/my%20face.png"
        let down = try await client.send(.get, "\(root)/object/authenticated/\(place)", as: .user("ann"))
        #expect(down.status == 200 && down.text == "pixels")
        #expect(down.headers["Content-Type"] == "image/png" && down.headers["Cache-Control"] == "max-age=60")
        #expect(down.headers["Accept-Ranges"] == "bytes" && down.headers["Content-Length"] == "6")
        let etag = try #require(down.headers["ETag"])
        #expect(etag.hasPrefix("\"") && etag.hasSuffix("\""))

        let info = try await client.send(.get, "\(root)/object/info/authenticated/\(place)", as: .user("ann"))
        #expect(info.json["name"] == "u1/my face.png" && info.json["bucket_id"]?.string == id)
        #expect(info.json["size"] == 6 && info.json["content_type"] == "image/png")
        #expect(info.json["metadata"] == ["alt": "face"] && info.json["etag"]?.string == etag)

        let head = try await client.send(.head, "\(root)/object/authenticated/\(place)", as: .user("ann"))
        #expect(head.status == 200 && head.headers["Content-Length"] == "6" && head.body.isEmpty)
        let missing = try await client.send(.head, "\(root)/object/authenticated/\(id)/gone", as: .user("ann"))
        #expect(missing.status == 400)
        let save = try await client.send(
            .get, "\(root)/object/authenticated/\(place)?download=a%20b.png", as: .user("ann"))
        #expect(save.headers["Content-Disposition"] == "attachment; filename=a%20b.png; filename*=UTF-8''a%20b.png")
    }

    @Test func `Ranges and conditions`() async throws {
        let client = try await SupabaseClient.shared.value
        let id = try await bucket(client)
        try await put(client, id, "n", "0123456789")
        let url = "\(root)/object/authenticated/\(id)/n"
        func part(_ range: String) async throws -> SupabaseClient.Answer {
            try await client.send(.get, url, as: .user("ann"), ["Range": range])
        }
        let middle = try await part("bytes=2-4")
        #expect(middle.status == 206 && middle.text == "234" && middle.headers["Content-Range"] == "bytes 2-4/10")
        #expect(try await part("bytes=-3").text == "789")
        #expect(try await part("bytes=0-9223372036854775807").text == "0123456789")
        #expect(try await part("bytes=9-9223372036854775807").headers["Content-Range"] == "bytes 9-9/10")
        #expect(try await part("bytes=7-").text == "789")
        let beyond = try await part("bytes=10-")
        #expect(beyond.status == 400 && beyond.meant == 416)
        let whole = try await client.send(.get, url, as: .user("ann"))
        let (etag, date) = (whole.headers["ETag"] ?? "", whole.headers["Last-Modified"] ?? "")
        #expect(try await client.send(.get, url, as: .user("ann"), ["If-None-Match": etag]).status == 304)
        #expect(try await client.send(.get, url, as: .user("ann"), ["If-Modified-Since": date]).status == 304)
        #expect(try await client.send(.get, url, as: .user("ann"), ["If-None-Match": "\"x\""]).status == 200)
    }

    @Test func `A name is taken once, unless the new one shall replace the old`() async throws {
        let client = try await SupabaseClient.shared.value
        let id = try await bucket(client)
        try await put(client, id, "a", "one")
        let url = "\(root)/object/\(id)/a"
        let twice = try await client.send(.post, url, Array("two".utf8), as: .user("ann"))
        #expect(twice.status == 400 && twice.meant == 409 && twice.json["error"] == "Duplicate")
        let upsert = try await client.send(.post, url, Array("two".utf8), as: .user("ann"), ["x-upsert": "true"])
        #expect(upsert.status == 200 && upsert.json["Key"]?.string == "\(id)/a")
        #expect(try await client.send(.get, url, as: .user("ann")).text == "two")
        #expect(try await client.send(.put, url, Array("three".utf8), as: .user("ann")).status == 200)
        #expect(try await client.send(.get, url, as: .user("ann")).text == "three")
        #expect(try await client.sql("select count(*) from storage.discarded") == "0")
    }

    @Test func `Forms: fields before the file count, and a file may hold anything`() async throws {
        let client = try await SupabaseClient.shared.value
        let id = try await bucket(client)
        let contents = "--edge\r\nnot the end\r\n--edg"
        func field(_ head: String, _ value: String) -> String { "--longer-edge\r\n\(head)\r\n\r\n\(value)\r\n" }
        let form = Array(
            (field("Content-Disposition: form-data; name=\"cacheControl\"", "3600")
                + field("Content-Disposition: form-data; name=\"metadata\"", #"{"alt":"x"}"#)
                + field(
                    "Content-Disposition: form-data; name=\"\"; filename=\"f.txt\"\r\nContent-Type: text/x-test",
                    contents)
                + "--longer-edge--\r\n").utf8)
        let sent = try await client.send(
            .post, "\(root)/object/\(id)/f", form, as: .user("ann"),
            ["Content-Type": "multipart/form-data; boundary=longer-edge"])
        #expect(sent.status == 200, "\(sent.text)")
        let info = try await client.send(.get, "\(root)/object/info/\(id)/f", as: .user("ann")).json
        #expect(info["cache_control"] == "max-age=3600" && info["content_type"] == "text/x-test")
        #expect(info["metadata"] == ["alt": "x"])
        #expect(try await client.send(.get, "\(root)/object/\(id)/f", as: .user("ann")).text == contents)
        let cut = try await client.send(
            .post, "\(root)/object/\(id)/g", Array(form.dropLast(30)), as: .user("ann"),
            ["Content-Type": "multipart/form-data; boundary=longer-edge"])
        #expect(cut.meant == 400)
    }

    @Test func `A bucket's limits hold`() async throws {
        let client = try await SupabaseClient.shared.value
        let id = try await bucket(client, ["file_size_limit": 10, "allowed_mime_types": ["image/*", "text/plain"]])
        func send(_ size: Int, _ type: String) async throws -> SupabaseClient.Answer {
            try await client.send(
                .put, "\(root)/object/\(id)/x", Array(repeating: 0, count: size), as: .user("ann"),
                ["Content-Type": type])
        }
        #expect(try await send(10, "image/png").status == 200)
        let large = try await send(11, "image/png")
        #expect(large.status == 400 && large.meant == 413 && large.json["error"] == "Payload too large")
        let wrong = try await send(1, "text/plain;charset=UTF-8")
        #expect(wrong.meant == 415 && wrong.json["error"] == "invalid_mime_type")
    }

    @Test(arguments: ["ü", "a%7Eb", "a%23", "%2Fabs", "a%5B1%5D", "a%0Ab", "a%22b", "%00"])
    func `Names that the service cannot take are refused`(_ name: String) async throws {
        let client = try await SupabaseClient.shared.value
        let id = try await bucket(client)
        let path = name == "ü" ? "%C3%BC" : name
        let answer = try await client.send(.post, "\(root)/object/\(id)/\(path)", [1], as: .user("ann"))
        #expect(answer.meant == 400 && answer.code == "InvalidKey")
    }

    // MARK: Lists

    @Test func `A list shows one level, by pages, sorted and searched`() async throws {
        let client = try await SupabaseClient.shared.value
        let id = try await bucket(client)
        for name in ["u1/face.png", "u1/fact.txt", "u1/albums/a.png", "u1/albums/b.png", "u2/z"] {
            try await put(client, id, name)
        }
        func list(_ body: JSONObject) async throws -> [JSON] {
            try await client.json(.post, "\(root)/object/list/\(id)", .object(body), as: .user("ann")).json.array ?? []
        }
        let level = try await list(["prefix": "u1"])
        #expect(level.map { $0["name"]?.string } == ["albums", "face.png", "fact.txt"])
        #expect(level[0]["id"] == .null && level[0]["metadata"] == .null)
        #expect(level[1]["metadata"]?["size"] == 5 && level[1]["id"]?.string != nil)
        #expect(try await list(["prefix": ""]).map { $0["name"]?.string } == ["u1", "u2"])
        let page = try await list(["prefix": "u1", "limit": 1, "offset": 1])
        #expect(page.map { $0["name"]?.string } == ["face.png"])
        let found = try await list(
            ["prefix": "u1", "search": "fac", "sortBy": ["column": "name", "order": "desc"]])
        #expect(found.map { $0["name"]?.string } == ["fact.txt", "face.png"])
        let bad = try await client.json(
            .post, "\(root)/object/list/\(id)", ["prefix": "", "sortBy": ["column": "id; drop table x"]],
            as: .user("ann"))
        #expect(bad.meant == 400)
    }

    @Test func `The other list has cursors and complete names`() async throws {
        let client = try await SupabaseClient.shared.value
        let id = try await bucket(client)
        for name in ["u1/a", "u1/b", "u1/d/c", "u1/d/e", "u2"] { try await put(client, id, name) }
        var names: [String] = []
        var cursor: JSON = .null
        var pages = 0
        repeat {
            var body: JSONObject = ["prefix": "u1/", "limit": 2]
            if cursor.string != nil { body["cursor"] = cursor }
            let page = try await client.json(
                .post, "\(root)/object/list-v2/\(id)", .object(body), as: .user("ann")
            ).json
            names += page["objects"]?.array?.compactMap { $0["name"]?.string } ?? []
            cursor = page["nextCursor"] ?? .null
            #expect((page["hasNext"] == true) == (cursor != .null))
            pages += 1
        } while cursor != .null && pages < 9
        #expect(names == ["u1/a", "u1/b", "u1/d/c", "u1/d/e"] && pages == 2)
        let level = try await client.json(
            .post, "\(root)/object/list-v2/\(id)",
            ["prefix": "u1/", "with_delimiter": true, "sortBy": ["column": "name", "order": "desc"]], as: .user("ann")
        ).json
        #expect(level["folders"]?.array?.map { $0["name"]?.string } == ["u1/d/"])
        #expect(level["objects"]?.array?.map { $0["name"]?.string } == ["u1/b", "u1/a"])
    }

    // MARK: Moves, copies, deletions

    @Test func `Moved, copied and deleted`() async throws {
        let client = try await SupabaseClient.shared.value
        let id = try await bucket(client)
        let other = try await bucket(client)
        try await put(client, id, "a", "contents", as: "ann", ["Content-Type": "text/x-a"])
        let move = try await client.json(
            .post, "\(root)/object/move",
            ["bucketId": .string(id), "sourceKey": "a", "destinationKey": "d/b"], as: .user("ann"))
        #expect(move.json == ["message": "Successfully moved"])
        #expect(try await client.send(.get, "\(root)/object/\(id)/a", as: .user("ann")).code == "NoSuchKey")
        let copy = try await client.json(
            .post, "\(root)/object/copy",
            [
                "bucketId": .string(id), "sourceKey": "d/b", "destinationKey": "c",
                "destinationBucket": .string(other), "copyMetadata": true,
            ], as: .user("ann"))
        #expect(copy.json["Key"]?.string == "\(other)/c", "\(copy.text)")
        let copied = try await client.send(.get, "\(root)/object/\(other)/c", as: .user("ann"))
        #expect(copied.text == "contents" && copied.headers["Content-Type"] == "text/x-a")

        try await put(client, id, "taken")
        let taken = try await client.json(
            .post, "\(root)/object/move",
            ["bucketId": .string(id), "sourceKey": "d/b", "destinationKey": "taken"], as: .user("ann"))
        #expect(taken.meant == 409)
        let gone = try await client.json(
            .delete, "\(root)/object/\(id)", ["prefixes": ["d/b", "nothing", "d"]], as: .user("ann"))
        #expect(gone.json.array?.map { $0["name"] } == ["d/b"])
        #expect(try await client.send(.delete, "\(root)/object/\(id)/taken", as: .user("ann")).status == 200)
        let missing = try await client.send(.delete, "\(root)/object/\(id)/taken", as: .user("ann"))
        #expect(missing.meant == 404 && missing.json["error"] == "not_found")
        // The copy has contents of its own.
        #expect(try await client.send(.get, "\(root)/object/\(other)/c", as: .user("ann")).text == "contents")
    }

    // MARK: Signed addresses

    @Test func `Signed addresses lead to what they were made for, until they run out`() async throws {
        let client = try await SupabaseClient.shared.value
        let id = try await bucket(client)
        try await put(client, id, "my file.txt".replacingSpace, "shared")
        let signed = try await client.json(
            .post, "\(root)/object/sign/\(id)/my%20file.txt", ["expiresIn": 60], as: .user("ann"))
        let url = try #require(signed.json["signedURL"]?.string)
        #expect(url.hasPrefix("/object/sign/\(id)/my file.txt?token="))
        let coded = root + url.replacingSpace
        #expect(try await client.send(.get, coded, as: .unauthenticated).text == "shared")
        let elsewhere = coded.split(separator: "?")[1]
        let wrong = try await client.send(.get, "\(root)/object/sign/\(id)/other?\(elsewhere)", as: .unauthenticated)
        #expect(wrong.meant == 400 && wrong.code == "InvalidSignature")

        let many = try await client.json(
            .post, "\(root)/object/sign/\(id)", ["expiresIn": 60, "paths": ["my file.txt", "gone"]], as: .user("ann"))
        #expect(many.json[0]?["signedURL"]?.string != nil && many.json[0]?["error"] == .null)
        #expect(many.json[1]?["signedURL"] == .null && many.json[1]?["error"]?.string != nil)
        let missing = try await client.json(
            .post, "\(root)/object/sign/\(id)/gone", ["expiresIn": 60], as: .user("ann"))
        #expect(missing.meant == 404)
        let never = try await client.json(
            .post, "\(root)/object/sign/\(id)/my%20file.txt", ["expiresIn": 0], as: .user("ann"))
        #expect(never.meant == 400)

        let seal = FileURLSigner(client.supabase.context.access)
        let late = seal.token(.download, for: try FileObjectName(bucket: id, name: "my file.txt"), validFor: -1)
        let expired = try await client.send(
            .get, "\(root)/object/sign/\(id)/my%20file.txt?token=\(late)", as: .unauthenticated)
        #expect(expired.code == "InvalidJWT" && expired.json["message"] == #""exp" claim timestamp check failed"#)
    }

    @Test func `Whoever has an address to write to writes as who made it`() async throws {
        let client = try await SupabaseClient.shared.value
        let id = try await bucket(client)
        let made = try await client.send(.post, "\(root)/object/upload/sign/\(id)/up", as: .user("ann"))
        let url = try #require(made.json["url"]?.string)
        let sent = try await client.send(
            .put, root + url, Array("by post".utf8), as: .unauthenticated, ["x-upsert": "true"])
        #expect(sent.status == 200 && sent.json["Key"]?.string == "\(id)/up")
        #expect(try await client.send(.get, "\(root)/object/\(id)/up", as: .user("ann")).text == "by post")
        // The right to replace was not asked for when it was made.
        let again = try await client.send(
            .put, root + url, Array("again".utf8), as: .unauthenticated, ["x-upsert": "true"])
        #expect(again.meant == 409)
        #expect(try await client.sql("select owner_id from storage.objects where bucket_id = $1", [id]) == "ann")
    }

    @Test func `Public buckets are everybody's to read`() async throws {
        let client = try await SupabaseClient.shared.value
        let id = try await bucket(client, ["public": true])
        try await put(client, id, "a", "open")
        #expect(try await client.send(.get, "\(root)/object/public/\(id)/a", as: .unauthenticated).text == "open")
        #expect(try await client.send(.get, "\(root)/object/\(id)/a", as: .token("x.y.z")).text == "open")
        let strict = try await client.send(.get, "\(root)/object/authenticated/\(id)/a", as: .token("x.y.z"))
        #expect(strict.meant == 403 && strict.code == "AccessDenied")
    }
}

extension String {
    fileprivate var replacingSpace: String {
        split(separator: " ", omittingEmptySubsequences: false).joined(separator: "%20")
    }
}
