import Foundation
import SwitchyardBytes
import SwitchyardLocalFirebase
import SwitchyardLocalSupabase
import SwitchyardServerKit
import SwitchyardTestRuns
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@testable import SwitchyardCLI

/// The local servers as a program that somebody starts: its addresses, what they are good for, and its end.
@Suite struct EmulatorProgramTests {
    private func withTransport(_ body: (CurlTransport) async throws -> Void) async throws {
        let transport = CurlTransport()
        do {
            try await body(transport)
        } catch {
            await transport.shutDown()
            throw error
        }
        await transport.shutDown()
    }

    private func send(
        _ method: HTTPMethod, _ url: String, _ body: JSON? = nil, _ headers: HTTPHeaders, by transport: CurlTransport
    ) async throws -> (status: Int, json: JSON) {
        var request = HTTPRequest(method, url, headers: headers, body: body?.bytes() ?? [])
        if body != nil { request.headers["Content-Type"] = "application/json" }
        let response = try await transport.send(request)
        return (response.status, (try? JSON(parsing: response.body)) ?? .null)
    }

    @Test(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"), .beside(supabaseRun))
    func `A local Supabase takes accounts, rows and documents, and goes with its database when it is asked to`()
        async throws
    {
        try await Self.supabaseRun.value
    }

    private static let supabaseRun: SideRun<Int, Void> = SideRun { try await EmulatorProgramTests().supabase() }

    private func supabase() async throws {
        let program = try ToolRun(["emulator", "supabase"])
        let variables = try await program.variables(with: "SUPABASE_URL")
        let url = try #require(variables["SUPABASE_URL"])
        let address = try #require(variables["SUPABASE_DB_URL"])
        let key = try #require(variables["SUPABASE_ANON_KEY"])
        let database = try DatabaseAddress(address)
        let connection = try await PostgresConnection(
            port: database.port, user: database.user, database: database.name)
        try await connection.run(
            script: """
                create table public.notes (owner uuid default auth.uid(), words text);
                alter table public.notes enable row level security;
                create policy own on public.notes using (owner = (select auth.uid()));
                grant select, insert on public.notes to authenticated
                """)
        let data = try #require(try await connection.run(script: "show data_directory").first?.text)
        connection.close()
        try await withTransport { transport in
            let signedUp = try await send(
                .post, url + "/auth/v1/signup", ["email": "ann@example.com", "password": "secret"], ["apikey": key],
                by: transport)
            let token = try #require(signedUp.json["access_token"]?.string)
            let hers: HTTPHeaders = ["apikey": key, "Authorization": "Bearer \(token)"]
            let added = try await send(.post, url + "/rest/v1/notes", ["words": "hers"], hers, by: transport)
            #expect(added.status == 201)
            let read = try await send(.get, url + "/rest/v1/notes?select=words", nil, hers, by: transport)
            #expect(read.json == [["words": "hers"]])
            let others = try await send(
                .get, url + "/rest/v1/notes?select=words", nil, ["apikey": key], by: transport)
            #expect(others.json == [])
            let documents = try await send(
                .post, url + "/rest/v1/rpc/switchyard_get", ["paths": ["posts/p1"]], hers, by: transport)
            #expect(documents.json["documents"] == [])
        }

        #expect(try await program.end() == 0)
        await #expect(throws: PostgresFailure.self) {
            _ = try await PostgresConnection(port: database.port, user: database.user, database: database.name)
        }
        // Its own folder: it may also have begun to remove that of a program that was killed.
        let folder = URL(fileURLWithPath: data).deletingLastPathComponent()
        #expect(folder.lastPathComponent.hasPrefix("switchyard-postgres-\(program.number)-"))
        #expect(!FileManager.default.fileExists(atPath: folder.path))
    }

    @Test(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"), .beside(bothRun))
    func `Both local servers together: accounts of the one have documents and files on the other`() async throws {
        try await Self.bothRun.value
    }

    private static let bothRun: SideRun<Int, Void> = SideRun { try await EmulatorProgramTests().both() }

    private func both() async throws {
        let program = try ToolRun(["emulator", "all", "--signed-tokens"])
        let variables = try await program.variables(with: "SUPABASE_URL")
        let host = try #require(variables["FIREBASE_AUTH_EMULATOR_HOST"])
        let url = try #require(variables["SUPABASE_URL"])
        let key = try #require(variables["SUPABASE_ANON_KEY"])
        #expect(variables["SUPABASE_JWT_SECRET"]?.isEmpty == false)
        try await withTransport { transport in
            let signedUp = try await send(
                .post, "http://\(host)/identitytoolkit.googleapis.com/v1/accounts:signUp?key=any",
                ["email": "ann@example.com", "password": "secret"], [:], by: transport)
            let token = try #require(signedUp.json["idToken"]?.string)
            let hers: HTTPHeaders = ["apikey": key, "Authorization": "Bearer \(token)"]
            let documents = try await send(
                .post, url + "/rest/v1/rpc/switchyard_get", ["paths": ["users/ann"]], hers, by: transport)
            #expect(documents.json["documents"] == [])
            let file = url + "/storage/v1/object/files/a.json"
            #expect(try await send(.post, file, ["a": 1], hers, by: transport).status == 200)
            #expect(try await send(.get, file, nil, hers, by: transport).json == ["a": 1])
            #expect(try await send(.get, file, nil, ["apikey": key], by: transport).status == 400)
            let forged: HTTPHeaders = ["apikey": key, "Authorization": "Bearer \(token.dropLast(4))AAAA"]
            #expect(try await send(.get, file, nil, forged, by: transport).status == 400)
        }
        #expect(try await program.end() == 0)
    }

    @Test(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"), .beside(trustingRun))
    func `A local Supabase trusts the local Firebase at an address, and no one else's tokens`() async throws {
        try await Self.trustingRun.value
    }

    private static let trustingRun: SideRun<Int, Void> = SideRun { try await EmulatorProgramTests().trusting() }

    private func trusting() async throws {
        var options = LocalFirebaseOptions()
        options.claims = ["role": "authenticated"]
        let firebase = try LocalFirebase(options)
        options.project = "demo-foreign"
        let foreign = try LocalFirebase(options)
        let program = try ToolRun([
            "emulator", "supabase", "--trust-firebase", firebase.url.absoluteString, "--bucket", "files,photos",
            "--open",
        ])
        let variables = try await program.variables(with: "SUPABASE_URL")
        let url = try #require(variables["SUPABASE_URL"])
        let key = try #require(variables["SUPABASE_ANON_KEY"])
        try await program.prints("Accepts ID tokens of the Firebase project “demo-switchyard”.")
        try await program.prints("Access to files is open")
        try await withTransport { transport throws in
            #expect(try await documents(url, key, of: firebase, by: transport).json["documents"] == [])
            #expect(try await documents(url, key, of: foreign, by: transport).status == 401)
            // Open to everybody, and there are both buckets.
            let anonymous: HTTPHeaders = ["apikey": key, "Authorization": "Bearer \(key)"]
            for bucket in ["files", "photos"] {
                let file = url + "/storage/v1/object/\(bucket)/a.json"
                #expect(try await send(.post, file, ["a": 1], anonymous, by: transport).status == 200)
                #expect(try await send(.get, file, nil, anonymous, by: transport).json == ["a": 1])
            }
        }
        #expect(try await program.end() == 0)
        await firebase.stop()
        await foreign.stop()
    }

    /// What Supabase at `url` answers somebody who has just signed up at `firebase`.
    private func documents(
        _ url: String, _ key: String, of firebase: LocalFirebase, by transport: CurlTransport
    ) async throws -> (status: Int, json: JSON) {
        let signedUp = try await send(
            .post, firebase.url.absoluteString + "/identitytoolkit.googleapis.com/v1/accounts:signUp?key=any",
            ["email": "ann@example.com", "password": "secret"], [:], by: transport)
        let token = try #require(signedUp.json["idToken"]?.string)
        let headers: HTTPHeaders = ["apikey": key, "Authorization": "Bearer \(token)"]
        return try await send(
            .post, url + "/rest/v1/rpc/switchyard_get", ["paths": ["users/ann"]], headers, by: transport)
    }

    @Test(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"), .beside(forgedRun))
    func `Of both local servers none takes a self-made token for the project itself`() async throws {
        try await Self.forgedRun.value
    }

    private static let forgedRun: SideRun<Int, Void> = SideRun { try await EmulatorProgramTests().forged() }

    private func forged() async throws {
        let program = try ToolRun(["emulator", "all"])
        let variables = try await program.variables(with: "SUPABASE_URL")
        let url = try #require(variables["SUPABASE_URL"])
        let key = try #require(variables["SUPABASE_ANON_KEY"])
        let now = Int64(Date().timeIntervalSince1970)
        try await withTransport { transport in
            for (role, status) in [("service_role", 401), ("postgres", 401), ("authenticated", 200)] {
                let claims: JSONObject = [
                    "iss": "https://securetoken.google.com/demo-switchyard", "aud": "demo-switchyard", "sub": "eve",
                    "role": .string(role), "iat": .integer(now), "exp": .integer(now + 3600),
                ]
                let token =
                    [["alg": "none", "typ": "JWT"], claims].map {
                        Base64.encode(JSON.object($0).bytes(), alphabet: .url)
                    }.joined(separator: ".") + "."
                let answer = try await send(
                    .post, url + "/rest/v1/rpc/switchyard_get", ["paths": ["users/ann"]],
                    ["apikey": key, "Authorization": "Bearer \(token)"], by: transport)
                #expect(answer.status == status, "\(role)")
            }
        }
        #expect(try await program.end() == 0)
    }

    @Test func `A missing server at the address to be trusted is reported, with what to start`() async throws {
        let firebase = try LocalFirebase()
        let address = firebase.url.absoluteString
        await firebase.stop()
        let program = try ToolRun(["emulator", "supabase", "--trust-firebase", address])
        #expect(try await program.status() == 1)
        let command = try EmulatorCommand(["supabase", "--trust-firebase", address])
        #expect(command.trusted == address)
    }

    @Test func `Of both servers the first one is announced before the second one has started`() async throws {
        let nowhere = "postgresql://postgres@127.0.0.1:1/postgres"
        let program = try ToolRun(["emulator", "all", "--database", nowhere])
        try await program.prints("Local Firebase for project “demo-switchyard”")
        try await program.prints("The local Supabase starts …")
        #expect(try await program.status() == 1)
    }

    @Test func `An open local Firebase lets everybody write, another one no one without a token`() async throws {
        for (words, status) in [(["--open"], 200), ([], 403)] {
            let program = try ToolRun(["emulator", "firebase"] + words)
            let variables = try await program.variables(with: "GCLOUD_PROJECT")
            let host = try #require(variables["FIRESTORE_EMULATOR_HOST"])
            try await withTransport { transport in
                let documents = "http://\(host)/v1/projects/demo-switchyard/databases/(default)/documents"
                let fields: JSON = ["fields": ["words": ["stringValue": "anybody's"]]]
                let added = try await send(.post, documents + "/notes?documentId=n1", fields, [:], by: transport)
                #expect(added.status == status, "\(words)")
            }
            #expect(try await program.end() == 0)
        }
    }

    @Test(.beside(firebaseRun))
    func `A local Firebase takes accounts and documents, and ends when it is asked to`() async throws {
        try await Self.firebaseRun.value
    }

    private static let firebaseRun: SideRun<Int, Void> = SideRun { try await EmulatorProgramTests().firebase() }

    private func firebase() async throws {
        let program = try ToolRun(["emulator", "firebase", "--project", "demo-end"])
        let variables = try await program.variables(with: "GCLOUD_PROJECT")
        let host = try #require(variables["FIRESTORE_EMULATOR_HOST"])
        #expect(variables["GCLOUD_PROJECT"] == "demo-end")

        try await withTransport { transport in
            let signedUp = try await send(
                .post, "http://\(host)/identitytoolkit.googleapis.com/v1/accounts:signUp?key=any",
                ["email": "ann@example.com", "password": "secret", "returnSecureToken": true], [:], by: transport)
            let token = try #require(signedUp.json["idToken"]?.string)
            let hers: HTTPHeaders = ["Authorization": "Bearer \(token)"]
            let documents = "http://\(host)/v1/projects/demo-end/databases/(default)/documents"
            let fields: JSON = ["fields": ["words": ["stringValue": "hers"]]]
            let added = try await send(.post, documents + "/notes?documentId=n1", fields, hers, by: transport)
            #expect(added.status == 200)
            let read = try await send(.get, documents + "/notes/n1", nil, hers, by: transport)
            #expect(read.json["fields"]?["words"]?["stringValue"] == "hers")
            #expect(try await send(.get, documents + "/notes/n1", nil, [:], by: transport).status == 403)
        }

        #expect(try await program.end() == 0)
        await withKnownEnd(of: host)
    }

    /// No one listens there any more.
    private func withKnownEnd(of host: String) async {
        let transport = CurlTransport()
        await #expect(throws: TransportError.self) {
            _ = try await transport.send(HTTPRequest(.get, "http://\(host)/"))
        }
        await transport.shutDown()
    }
}
