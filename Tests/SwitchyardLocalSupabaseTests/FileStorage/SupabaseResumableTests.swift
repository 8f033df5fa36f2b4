import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@testable import SwitchyardLocalSupabase

/// The resumable protocol of the local file service.
@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct SupabaseResumableTests {
    private let root = "/storage/v1"
    private let part = 6 << 20

    private func bucket(_ client: SupabaseClient, limit: Int? = nil) async throws -> String {
        let id = "r-\(RandomID.make(length: 10))"
        try await client.json(
            .post, "\(root)/bucket",
            ["name": .string(id), "file_size_limit": limit.map { .integer(Int64($0)) } ?? .null], as: .service)
        try await client.supabase.addOwnersPolicies(to: id)
        return id
    }

    private func metadata(_ pairs: [(String, String)]) -> String {
        pairs.map { "\($0.0) \(Base64.encode(Array($0.1.utf8)))" }.joined(separator: ",")
    }

    private func begin(
        _ client: SupabaseClient, _ bucket: String, _ name: String, _ length: Int, as user: String = "ann",
        _ more: HTTPHeaders = [:]
    ) async throws -> SupabaseClient.Answer {
        var headers: HTTPHeaders = [
            "Tus-Resumable": "1.0.0", "Upload-Length": String(length),
            "Upload-Metadata": metadata([
                ("bucketName", bucket), ("objectName", name), ("contentType", "video/x"), ("cacheControl", "60"),
                ("metadata", #"{"alt":"x"}"#),
            ]),
        ]
        for field in more { headers[field.name] = field.value }
        return try await client.send(.post, "\(root)/upload/resumable", as: .user(user), headers)
    }

    private func patch(
        _ client: SupabaseClient, _ url: String, _ offset: Int, _ bytes: [UInt8], as user: String = "ann"
    ) async throws -> SupabaseClient.Answer {
        try await client.send(
            .patch, url, bytes, as: .user(user),
            [
                "Tus-Resumable": "1.0.0", "Upload-Offset": String(offset),
                "Content-Type": "application/offset+octet-stream",
            ])
    }

    private func head(_ client: SupabaseClient, _ url: String, as user: String = "ann") async throws
        -> SupabaseClient.Answer
    {
        try await client.send(.head, url, as: .user(user), ["Tus-Resumable": "1.0.0"])
    }

    @Test func `Part by part, and only then there`() async throws {
        let client = try await SupabaseClient.shared.value
        let id = try await bucket(client)
        let bytes = (0..<(part + 1000)).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
        let made = try await begin(client, id, "v/film", bytes.count)
        #expect(made.status == 201, "\(made.text)")
        let url = try #require(made.headers["Location"])
        let first = try await patch(client, url, 0, Array(bytes[..<part]))
        #expect(first.status == 204 && first.headers["Upload-Offset"] == String(part))
        let state = try await head(client, url)
        #expect(state.status == 200 && state.headers["Upload-Offset"] == String(part))
        #expect(state.headers["Upload-Length"] == String(bytes.count) && state.headers["Cache-Control"] == "no-store")
        #expect(try await client.send(.get, "\(root)/object/\(id)/v/film", as: .user("ann")).meant == 404)

        let wrong = try await patch(client, url, 5, Array(bytes[part...]))
        #expect(wrong.status == 409 && wrong.json == .null)
        let small = try await patch(client, url, part, [1, 2, 3])
        #expect(small.status == 400 && small.json == .null)
        let last = try await patch(client, url, part, Array(bytes[part...]))
        #expect(last.status == 204 && last.headers["Tus-Complete"] == "1")
        let down = try await client.send(.get, "\(root)/object/\(id)/v/film", as: .user("ann"))
        #expect(down.body == bytes && down.headers["Content-Type"] == "video/x")
        #expect(down.headers["Cache-Control"] == "max-age=60")
        #expect(try await head(client, url).status == 404)
    }

    @Test func `What a cut connection had brought stays, and more goes on from there`() async throws {
        let client = try await SupabaseClient.shared.value
        let id = try await bucket(client)
        let came = 100_000
        let url = try #require(try await begin(client, id, "cut", came + part).headers["Location"])
        let path = try #require(url.firstRange(of: "/storage")).lowerBound
        let head = """
            PATCH \(url[path...]) HTTP/1.1\r
            Host: localhost\r
            Authorization: Bearer \(client.supabase.accessToken(for: "ann"))\r
            Tus-Resumable: 1.0.0\r
            Upload-Offset: 0\r
            Content-Type: application/offset+octet-stream\r
            Content-Length: \(part)\r
            \r

            """
        do {
            let plain = try await PlainClient(client.supabase.server)
            try await plain.send(head + String(repeating: "\u{7}", count: came))
        }
        try await eventually("the bytes that arrived are stored") {
            try await self.head(client, url).headers["Upload-Offset"] == String(came)
        }
        let rest = try await patch(client, url, came, Array(repeating: 7, count: part))
        #expect(rest.status == 204 && rest.headers["Tus-Complete"] == "1")
        let down = try await client.send(.get, "\(root)/object/\(id)/cut", as: .user("ann"))
        #expect(down.body == Array(repeating: 7, count: came + part))
    }

    @Test func `Nothing of it is there after it was given up or has expired`() async throws {
        let client = try await SupabaseClient.shared.value
        let id = try await bucket(client)
        let url = try #require(try await begin(client, id, "given-up", 10).headers["Location"])
        let end = try await client.send(.delete, url, as: .user("ann"), ["Tus-Resumable": "1.0.0"])
        #expect(end.status == 204)
        #expect(try await head(client, url).status == 404)
        #expect(try await patch(client, url, 0, Array(repeating: 0, count: 10)).status == 404)
    }

    @Test func `What cannot be begun is said in plain text with its true status`() async throws {
        let client = try await SupabaseClient.shared.value
        let id = try await bucket(client, limit: 100)
        let large = try await begin(client, id, "x", 101)
        #expect(large.status == 413 && large.text.hasPrefix("Maximum size exceeded"))
        #expect(try await begin(client, id, "x", 1, ["Tus-Resumable": "0.2.0"]).status == 400)
        #expect(try await begin(client, "none-such", "x", 1).status == 404)
        let empty = try await begin(client, id, "empty", 0)
        #expect(empty.status == 201)
        let down = try await client.send(.get, "\(root)/object/\(id)/empty", as: .user("ann"))
        #expect(down.status == 200 && down.body.isEmpty)
        let stale = try await client.send(
            .post, "\(root)/upload/resumable",
            as: .token(client.supabase.accessToken(for: "ann", validFor: -100)),
            ["Tus-Resumable": "1.0.0", "Upload-Length": "1"])
        #expect(stale.status == 400 && stale.meant == 403 && stale.text.contains("exp"))
        #expect(try await begin(client, id, "empty", 1).status == 409)
    }

    @Test func `An upload is its beginner's`() async throws {
        let client = try await SupabaseClient.shared.value
        let id = try await bucket(client)
        let url = try #require(try await begin(client, id, "mine", 4).headers["Location"])
        #expect(try await head(client, url, as: "bob").status == 404)
        #expect(try await patch(client, url, 0, [1, 2, 3, 4], as: "bob").status == 404)
        #expect(try await client.send(.delete, url, as: .user("bob"), ["Tus-Resumable": "1.0.0"]).status == 404)
        #expect(try await client.send(.head, url, as: .unauthenticated, ["Tus-Resumable": "1.0.0"]).status == 400)
        #expect(try await patch(client, url, 0, [1, 2, 3, 4]).status == 204)
        // Nor may somebody else put something in its place, by this way or another.
        let other = try await begin(client, id, "mine", 4, as: "bob", ["x-upsert": "true"])
        #expect(other.status == 403)
    }

    @Test func `An address that was signed stands in for a session`() async throws {
        let client = try await SupabaseClient.shared.value
        let id = try await bucket(client)
        let made = try await client.send(.post, "\(root)/object/upload/sign/\(id)/signed", as: .user("ann"))
        let token = try #require(made.json["token"]?.string)
        var headers: HTTPHeaders = [
            "Tus-Resumable": "1.0.0", "Upload-Length": "3", "x-signature": token,
            "Upload-Metadata": metadata([("bucketName", id), ("objectName", "signed")]),
        ]
        let begun = try await client.send(.post, "\(root)/upload/resumable/sign", as: .unauthenticated, headers)
        let url = try #require(begun.headers["Location"])
        headers["Upload-Offset"] = "0"
        headers["Content-Type"] = "application/offset+octet-stream"
        headers["x-signature"] = "x"
        #expect(try await client.send(.patch, url, [1, 2, 3], as: .unauthenticated, headers).status == 400)
        headers["x-signature"] = token
        #expect(try await client.send(.patch, url, [1, 2, 3], as: .unauthenticated, headers).status == 204)
        #expect(try await client.send(.get, "\(root)/object/\(id)/signed", as: .user("ann")).body == [1, 2, 3])
        headers["Upload-Metadata"] = metadata([("bucketName", id), ("objectName", "elsewhere")])
        #expect(
            try await client.send(.post, "\(root)/upload/resumable/sign", as: .unauthenticated, headers).status == 400)
    }
}
