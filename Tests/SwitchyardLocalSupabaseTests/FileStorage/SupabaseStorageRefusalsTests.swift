import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@testable import SwitchyardLocalSupabase

/// Requests that the vendor's file service takes or refuses, though one might think otherwise.
@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct SupabaseStorageRefusalsTests {
    private func bucket(_ client: SupabaseClient) async throws -> String {
        let name = "r-\(RandomID.make(length: 10))"
        let made = try await client.json(.post, "/storage/v1/bucket", ["name": .string(name)], as: .service)
        try #require(made.status == 200, "\(made.text)")
        let put = try await client.send(
            .post, "/storage/v1/object/\(name)/a.txt", Array("hi".utf8), as: .service, ["Content-Type": "text/plain"])
        try #require(put.status == 200, "\(put.text)")
        return name
    }

    @Test func `Settings of buckets are taken in every spelling`() async throws {
        let client = try await SupabaseClient.shared.value
        let name = try await bucket(client)
        for (change, member, value) in [
            (["public": "true"], "public", true), (["public": .null], "public", false),
            (["file_size_limit": "1.5MB"], "file_size_limit", 1_500_000),
            (["allowed_mime_types": "image/png"], "allowed_mime_types", ["image/png"]),
            (["id": .string(name), "name": .string(name), "public": 1], "public", true),
        ] as [(JSON, String, JSON)] {
            let changed = try await client.json(.put, "/storage/v1/bucket/\(name)", change, as: .service)
            #expect(changed.status == 200, "\(changed.text)")
            let bucket = try await client.send(.get, "/storage/v1/bucket/\(name)", as: .service)
            #expect(bucket.json[member] == value)
        }
        let huge = try await client.json(
            .put, "/storage/v1/bucket/\(name)", ["file_size_limit": "10GB"], as: .service)
        #expect((huge.status, huge.meant, huge.code) == (400, 413, "EntityTooLarge"))
        let none = try await client.json(.post, "/storage/v1/bucket", ["id": "x"], as: .service)
        #expect(none.json["message"] == "body must have required property 'name'")
        for query in ["limit=abc", "limit=0", "limit=-1", "offset=-1", "sortOrder=up", "sortColumn=x"] {
            let refused = try await client.send(.get, "/storage/v1/bucket?\(query)", as: .service)
            #expect((refused.status, refused.code) == (400, "InvalidRequest"), "\(query)")
        }
    }

    @Test func `Dots lead to another path before it is read`() async throws {
        let client = try await SupabaseClient.shared.value
        let name = try await bucket(client)
        for (path, message) in [
            ("\(name)/..", "Route POST:/object/ not found"),
            ("\(name)/../up.txt", "Route POST:/object/up.txt not found"),
            ("\(name)/%2e%2E/up.txt", "Route POST:/object/up.txt not found"),
        ] {
            let answer = try await PlainClient.ask(
                client.supabase.server, "POST /storage/v1/object/\(path) HTTP/1.1", "Host: localhost",
                "apikey: \(client.supabase.serviceKey)", "Authorization: Bearer \(client.supabase.serviceKey)",
                "Content-Length: 0")
            #expect(answer.status == 404 && answer.body.contains(message), "\(answer.body)")
        }
        let read = try await PlainClient.ask(
            client.supabase.server, "GET /storage/v1/object/\(name)/x/../a.txt HTTP/1.1", "Host: localhost",
            "apikey: \(client.supabase.serviceKey)", "Authorization: Bearer \(client.supabase.serviceKey)")
        #expect(read.status == 200 && read.body.hasSuffix("hi"))
        let slashes = try await client.send(.post, "/storage/v1/object/\(name)//lead.txt", [1], as: .service)
        #expect(slashes.json["Key"] == .string("\(name)/lead.txt"))
    }

    @Test func `Bodies and their types are checked first`() async throws {
        let client = try await SupabaseClient.shared.value
        let name = try await bucket(client)
        for type in ["nonsense", "text/", "a/b/c"] {
            let refused = try await client.send(
                .post, "/storage/v1/object/\(name)/b.txt", [1], as: .service, ["Content-Type": type])
            #expect((refused.status, refused.meant, refused.code) == (400, 415, "InvalidMimeType"), "\(type)")
        }
        for method in [HTTPMethod.post, .delete] {
            let path = method == .post ? "object/upload/sign/\(name)/c.txt" : "object/\(name)/a.txt"
            let empty = try await client.send(
                method, "/storage/v1/\(path)", as: .service, ["Content-Type": "application/json"])
            #expect(empty.status == 400 && empty.json["error"] == "FastifyError", "\(path)")
        }
        let noJSON = try await client.send(
            .post, "/storage/v1/object/list/\(name)", Array("{".utf8), as: .service,
            ["Content-Type": "application/json"])
        #expect(noJSON.json["error"] == "FastifyError")
        let text = try await client.send(
            .post, "/storage/v1/object/list/\(name)", Array("{}".utf8), as: .service, ["Content-Type": "text/plain"])
        #expect(text.json["message"] == "body must be object")
    }

    @Test func `Only the service's role empties buckets, and each may ask how the service is`() async throws {
        let client = try await SupabaseClient.shared.value
        let name = try await bucket(client)
        for caller in [SupabaseClient.Caller.anonymous, .user("ann")] {
            for (method, path) in [(HTTPMethod.post, "bucket/\(name)/empty"), (.delete, "cdn/\(name)/a.txt")] {
                let refused = try await client.send(method, "/storage/v1/\(path)", as: caller)
                #expect(refused.status == 403 && refused.json["message"] == "Access denied: Invalid role")
            }
        }
        #expect(try await client.send(.get, "/storage/v1/status", as: .unauthenticated).status == 200)
        #expect(try await client.send(.get, "/storage/v1/health", as: .unauthenticated).json == ["healthy": true])
        #expect(try await client.send(.get, "/storage/v1/version", as: .unauthenticated).text == "0.0.0")
    }

    @Test func `An upload may begin before its length is known`() async throws {
        let client = try await SupabaseClient.shared.value
        let name = try await bucket(client)
        let metadata = [("bucketName", name), ("objectName", "late")].map { "\($0) \(Base64.encode(Array($1.utf8)))" }
        let begun = try await client.send(
            .post, "/storage/v1/upload/resumable", as: .service,
            [
                "Tus-Resumable": "1.0.0", "Upload-Defer-Length": "1",
                "Upload-Metadata": metadata.joined(separator: ","),
            ])
        let url = try #require(begun.headers["Location"])
        let state = try await client.send(.head, url, as: .service, ["Tus-Resumable": "1.0.0"])
        #expect(state.headers["Upload-Defer-Length"] == "1" && state.headers["Upload-Length"] == nil)
        let sent = try await client.send(
            .patch, url, Array("whole".utf8), as: .service,
            [
                "Tus-Resumable": "1.0.0", "Upload-Offset": "0", "Upload-Length": "5",
                "Content-Type": "application/offset+octet-stream",
            ])
        #expect(sent.status == 204 && sent.headers["Tus-Complete"] == "1", "\(sent.text)")
        #expect(try await client.send(.get, "/storage/v1/object/\(name)/late", as: .service).text == "whole")
    }
}
