import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@testable import SwitchyardLocalSupabase

/// What somebody tries who may not: all of it is refused, and nothing of it changes anything.
@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct SupabaseStorageIsolationTests {
    private struct Bed {
        let client: SupabaseClient
        let bucket: String

        init() async throws {
            client = try await SupabaseClient.shared.value
            bucket = "i-\(RandomID.make(length: 10))"
            try await client.json(.post, "/storage/v1/bucket", ["name": .string(bucket)], as: .service)
            try await client.supabase.addOwnersPolicies(to: bucket)
            let answer = try await client.send(
                .post, "/storage/v1/object/\(bucket)/ann/secret", Array("hers".utf8), as: .user("ann"))
            try #require(answer.status == 200, "\(answer.text)")
        }

        /// That everything is as it was.
        func check() async throws {
            let down = try await client.send(
                .get, "/storage/v1/object/authenticated/\(bucket)/ann/secret", as: .user("ann"))
            #expect(down.text == "hers")
            let count = try await client.sql("select count(*) from storage.objects where bucket_id = $1", [bucket])
            #expect(count == "1")
        }
    }

    struct Attempt: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let statuses: Set<Int>
        let method: HTTPMethod
        let path: String
        var body: JSON?
        var headers: HTTPHeaders = [:]

        init(
            _ name: String, _ statuses: Set<Int>, _ method: HTTPMethod, _ path: String, _ body: JSON? = nil,
            _ headers: HTTPHeaders = [:]
        ) {
            testDescription = name
            self.statuses = statuses
            self.method = method
            self.path = path
            self.body = body
            self.headers = headers
        }
    }

    static let attempts = [
        Attempt("reads", [404], .get, "object/authenticated/{b}/ann/secret"),
        Attempt("reads by the other spelling", [404], .get, "object/{b}/ann/secret"),
        Attempt("reads as public", [404], .get, "object/public/{b}/ann/secret"),
        Attempt("asks about", [404], .get, "object/info/authenticated/{b}/ann/secret"),
        Attempt("asks for the head", [400], .head, "object/authenticated/{b}/ann/secret"),
        Attempt("signs", [404], .post, "object/sign/{b}/ann/secret", ["expiresIn": 60]),
        Attempt("signs an upload over it", [409], .post, "object/upload/sign/{b}/ann/secret"),
        Attempt(
            "signs an upload that replaces it", [403], .post, "object/upload/sign/{b}/ann/secret", nil,
            ["x-upsert": "true"]),
        Attempt("writes it", [409], .post, "object/{b}/ann/secret"),
        Attempt("replaces it", [403], .post, "object/{b}/ann/secret", nil, ["x-upsert": "true"]),
        Attempt("puts it", [403], .put, "object/{b}/ann/secret"),
        Attempt("deletes it", [403], .delete, "object/{b}/ann/secret"),
        Attempt(
            "moves it", [404], .post, "object/move",
            ["bucketId": "{b}", "sourceKey": "ann/secret", "destinationKey": "bob/mine"]),
        Attempt(
            "copies it", [404], .post, "object/copy",
            ["bucketId": "{b}", "sourceKey": "ann/secret", "destinationKey": "bob/mine"]),
        Attempt("changes the bucket", [404], .put, "bucket/{b}", ["public": true]),
        Attempt("empties the bucket", [403], .post, "bucket/{b}/empty"),
        Attempt("deletes the bucket", [404], .delete, "bucket/{b}"),
        Attempt("climbs out of a folder", [400, 404], .get, "object/authenticated/{b}/bob/..%2Fann/secret"),
        Attempt("climbs out of the bucket", [400, 404], .get, "object/authenticated/none/..%2F{b}/ann/secret"),
        Attempt("names a file of the machine", [400, 404], .get, "object/authenticated/{b}/..%2F..%2Fetc%2Fpasswd"),
        Attempt("hides a zero in the name", [400], .get, "object/authenticated/{b}/ann/secret%00.png"),
        Attempt("doubles the slash", [404], .get, "object/authenticated/{b}/ann//secret"),
        Attempt("writes SQL into the name", [404], .get, "object/authenticated/{b}/x'%20or%20'1'='1"),
        Attempt("has no token for a signed address", [400], .get, "object/sign/{b}/ann/secret"),
    ]

    @Test(arguments: attempts)
    func `Bob`(_ attempt: Attempt) async throws {
        let bed = try await Bed()
        func filled(_ text: String) -> String {
            text.split(separator: "{b}", omittingEmptySubsequences: false).joined(separator: bed.bucket)
        }
        var headers = attempt.headers
        if attempt.body != nil { headers["Content-Type"] = "application/json" }
        let body = attempt.body.map { Array(filled($0.text()).utf8) }
        let answer = try await bed.client.send(
            attempt.method, "/storage/v1/" + filled(attempt.path), body ?? (attempt.method == .post ? [1] : nil),
            as: .user("bob"), headers)
        #expect(attempt.statuses.contains(answer.meant), "\(answer.status) \(answer.text)")
        #expect(!answer.text.contains("hers"))
        try await bed.check()
    }

    @Test func `Lists and many at once leave out what is others'`() async throws {
        let bed = try await Bed()
        let (client, bucket) = (bed.client, bed.bucket)
        for (path, body) in [
            ("object/list/\(bucket)", ["prefix": "ann"] as JSON), ("object/list/\(bucket)", ["prefix": ""]),
            ("object/list/\(bucket)", ["prefix": "", "search": "%"]),
        ] {
            #expect(try await client.json(.post, "/storage/v1/\(path)", body, as: .user("bob")).json == [])
        }
        let page = try await client.json(.post, "/storage/v1/object/list-v2/\(bucket)", [:], as: .user("bob")).json
        #expect(page["objects"] == [] && page["folders"] == [])
        let gone = try await client.json(
            .delete, "/storage/v1/object/\(bucket)", ["prefixes": ["ann/secret"]], as: .user("bob"))
        #expect(gone.json == [])
        let signed = try await client.json(
            .post, "/storage/v1/object/sign/\(bucket)", ["expiresIn": 60, "paths": ["ann/secret"]], as: .user("bob"))
        #expect(signed.json[0]?["signedURL"] == .null)
        try await bed.check()
    }

    @Test func `Tokens that are stale, forged or made for something else`() async throws {
        let bed = try await Bed()
        let (client, bucket) = (bed.client, bed.bucket)
        let access = client.supabase.context.access
        let path = "/storage/v1/object/authenticated/\(bucket)/ann/secret"
        let place = try FileObjectName(bucket: bucket, name: "ann/secret")
        let other = SupabaseToken(claims: ["sub": "ann", "role": "authenticated", "exp": 9_999_999_999])
        let superuser = SupabaseToken(claims: ["sub": "ann", "role": "postgres", "exp": 9_999_999_999])
        let unsigned =
            Base64.encode(Array(#"{"alg":"none"}"#.utf8), alphabet: .url) + "."
            + Base64.encode(JSON.object(other.claims).bytes(), alphabet: .url) + "."
        for token in [
            client.supabase.accessToken(for: "ann", validFor: -3600), other.text(secret: [1, 2, 3]),
            superuser.text(secret: access.secret), unsigned, "",
            FileURLSigner(access).token(.download, for: place, validFor: 60),
        ] {
            let answer = try await client.send(.get, path, as: .token(token))
            #expect(answer.meant == 403 && !answer.text.contains("hers"), "\(answer.text)")
        }
        #expect(try await client.send(.get, path, as: .unauthenticated).meant == 403)
        #expect(try await client.send(.get, path, as: .anonymous).meant == 404)

        // A session is no signed address, and an address to read is none to write.
        let signs = "/storage/v1/object/sign/\(bucket)/ann/secret"
        let session = client.supabase.accessToken(for: "ann")
        #expect(try await client.send(.get, "\(signs)?token=\(session)", as: .unauthenticated).meant == 400)
        let forWriting = FileURLSigner(access).token(.upload, for: place, validFor: 60)
        #expect(
            try await client.send(.get, "\(signs)?token=\(forWriting)", as: .unauthenticated).code == "InvalidSignature"
        )
        let forReading = FileURLSigner(access).token(.download, for: place, validFor: 60)
        let written = try await client.send(
            .put, "/storage/v1/object/upload/sign/\(bucket)/ann/secret?token=\(forReading)", [1], as: .unauthenticated)
        #expect(written.code == "InvalidSignature")
        try await bed.check()
    }

    @Test func `A project's own policies decide, not who uploaded`() async throws {
        let client = try await SupabaseClient.shared.value
        let bucket = "p-\(RandomID.make(length: 10))"
        try await client.json(.post, "/storage/v1/bucket", ["name": .string(bucket)], as: .service)
        for name in ["shared/a", "own/a"] {
            let refused = try await client.send(.post, "/storage/v1/object/\(bucket)/\(name)", [1], as: .user("ann"))
            #expect(refused.meant == 403)
            try await client.send(.post, "/storage/v1/object/\(bucket)/\(name)", [1], as: .service)
        }
        _ = try await client.sql(
            """
            create policy "shared \(bucket)" on storage.objects for select to authenticated
            using (bucket_id = '\(bucket)' and (storage.foldername(name))[1] = 'shared')
            """)
        #expect(try await client.send(.get, "/storage/v1/object/\(bucket)/shared/a", as: .user("bob")).status == 200)
        #expect(try await client.send(.get, "/storage/v1/object/\(bucket)/own/a", as: .user("bob")).meant == 404)
        let deleted = try await client.send(.delete, "/storage/v1/object/\(bucket)/shared/a", as: .user("bob"))
        #expect(deleted.meant == 403)
    }
}
