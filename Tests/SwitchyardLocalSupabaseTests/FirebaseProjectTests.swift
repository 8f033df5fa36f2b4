import Foundation
import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@testable import SwitchyardLocalSupabase

/// People of a Firebase project on a local Supabase.
@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct FirebaseProjectTests {
    /// The servers of these tests have a clock of their own that stands still.
    private static func claims(_ project: String, role: String? = "authenticated") -> JSONObject {
        let now: Int64 = 1_800_000_000
        var claims: JSONObject = [
            "iss": .string("https://securetoken.google.com/\(project)"), "aud": .string(project), "sub": "ann",
            "iat": .integer(now), "exp": .integer(now + 60),
        ]
        claims["role"] = role.map { .string($0) }
        return claims
    }

    private static func token(_ claims: JSONObject, _ key: RSAPrivateKey? = nil) -> String {
        var header: JSONObject = ["alg": .string(key == nil ? "none" : "RS256"), "typ": "JWT"]
        header["kid"] = (key?.publicKey.id).map { .string($0) }
        let text = [header, claims].map { Base64.encode(JSON.object($0).bytes(), alphabet: .url) }.joined(
            separator: ".")
        return text + "." + (key.map { Base64.encode($0.signature(of: text), alphabet: .url) } ?? "")
    }

    private func role(of token: String, on bed: SupabaseBed) async throws -> (status: Int, role: String?) {
        let answer = try await bed.send(.get, "/rest/v1/rpc/own_role", as: token)
        return (answer.status, answer.json.string)
    }

    private static let question = """
        create or replace function public.own_role() returns text language sql stable as 'select auth.jwt() ->> ''sub'' || '' '' || current_user'
        """

    @Test func `Tokens without a signature are taken of the project that was named, and of no other`() async throws {
        let project = try FirebaseProject("demo-mix")
        try await SupabaseBed.with({
            $0.firebase = project
            $0.scripts = [Self.question]
        }) { bed in
            #expect(try await role(of: Self.token(Self.claims("demo-mix")), on: bed) == (200, "ann authenticated"))
            #expect(try await role(of: Self.token(Self.claims("demo-mix", role: nil)), on: bed) == (200, "ann anon"))
            #expect(try await role(of: Self.token(Self.claims("other")), on: bed).status == 401)
            #expect(try await role(of: Self.token(Self.claims("demo-mix", role: "postgres")), on: bed).status == 401)
            var old = Self.claims("demo-mix")
            old["exp"] = 1
            #expect(try await role(of: Self.token(old), on: bed).status == 401)
            let asKey = try await bed.send(
                .get, "/auth/v1/user", key: Self.token(Self.claims("demo-mix", role: "service_role")))
            #expect(asKey.status == 401)
        }
    }

    @Test func `Where the project signs, only what it has signed is taken`() async throws {
        let key = TestKeys.one
        let project = try FirebaseProject("demo-mix", keys: JSON.array([key.publicKey.json]).text())
        try await SupabaseBed.with({
            $0.firebase = project
            $0.scripts = [Self.question]
        }) { bed in
            let good = Self.token(Self.claims("demo-mix"), key)
            let taken: (status: Int, role: String?) = try await role(of: good, on: bed)
            #expect(taken == (200, "ann authenticated"))
            #expect(try await role(of: Self.token(Self.claims("demo-mix")), on: bed).status == 401)
            #expect(try await role(of: Self.token(Self.claims("other"), key), on: bed).status == 401)
            #expect(try await role(of: good.dropLast(4) + "AAAA", on: bed).status == 401)
        }
    }

    @Test func `No one's tokens are taken where no project is named`() async throws {
        try await SupabaseBed.with({ $0.scripts = [Self.question] }) { bed in
            let answer = try await role(of: Self.token(Self.claims("demo-mix")), on: bed)
            #expect(answer.status == 401)
        }
    }

    @Test func `A project is asked for its name and keys on this machine, and nowhere else`() async throws {
        var router = Router()
        router.on(.get, "/_firebase") { _ in .json(Array(#"{"project": "demo-asked", "keys": []}"#.utf8)) }
        let server = try LoopbackServer(ServerConfiguration()) { [router] in await router.handle($0) }
        let url = try #require(URL(string: server.url))
        #expect(try await FirebaseProject(at: url).name == "demo-asked")
        await server.stop()
        let signedOut = await #expect(throws: LocalSupabaseError.self) {
            try await FirebaseProject(at: url)
        }
        #expect(signedOut?.message.contains("switchyard emulator firebase") == true)
        let other = try #require(URL(string: "http://192.0.2.1:9099"))
        let elsewhere = await #expect(throws: LocalSupabaseError.self) {
            try await FirebaseProject(at: other)
        }
        #expect(elsewhere?.message.contains("is not the address of a server on this machine") == true)
    }

    // MARK: Files at the start

    private func upload(_ place: String, as user: String?, on bed: SupabaseBed) async throws -> Int {
        let token = user.map { bed.supabase.accessToken(for: $0) }
        return try await bed.send(.post, "/storage/v1/object/\(place)", ["a": 1], as: token).status
    }

    @Test func `A bucket that is asked for belongs to its people, and every other one waits for policies`() async throws
    {
        try await SupabaseBed.with({ $0.buckets = ["files"] }) { bed in
            _ = try await bed.send(.post, "/storage/v1/bucket", ["name": "other"], as: bed.supabase.serviceKey)
            #expect(try await upload("files/a", as: "ann", on: bed) == 200)
            #expect(try await upload("files/b", as: nil, on: bed) == 400)
            #expect(try await upload("other/a", as: "ann", on: bed) == 400)
            let path = "/storage/v1/object/files/a"
            #expect(try await bed.send(.get, path, as: bed.supabase.accessToken(for: "ann")).status == 200)
            #expect(try await bed.send(.get, path, as: bed.supabase.accessToken(for: "ben")).status == 400)
        }
    }

    @Test func `Everybody may do everything with files only where that was asked for`() async throws {
        try await SupabaseBed.with({
            $0.buckets = ["files"]
            $0.allowsEverything = true
        }) { bed in
            let uploaded = try await upload("files/a", as: "ann", on: bed)
            #expect(uploaded == 200)
            let path = "/storage/v1/object/files/a"
            #expect(try await bed.send(.get, path, as: bed.supabase.accessToken(for: "ben")).status == 200)
            #expect(try await upload("files/b", as: nil, on: bed) == 200)
        }
    }
}
