import Foundation
import Switchyard
import SwitchyardFirebase
import SwitchyardLocalFirebase
import SwitchyardLocalSupabase
import SwitchyardServerKit
import SwitchyardSupabase
import SwitchyardTestSupport
import SwitchyardTesting
import Testing

extension ProjectSource {
    /// A server for each test.
    static let localFirebase = ProjectSource {
        let firebase = try LocalFirebase()
        let backend = try await Infrastructure(
            .firebase(project: firebase.project, apiKey: "any") {
                $0.emulators = .init(firestore: firebase.host, auth: firebase.host, storage: firebase.host)
            })
        return TestProject(backend) { await firebase.stop() }
    }

    /// One PostgreSQL for the run, and a project on it for each test.
    static let localSupabase = ProjectSource {
        let supabase = try await postgres.value.makeProject()
        let backend = try await Infrastructure(
            .supabase(url: supabase.url.absoluteString, key: Secret(supabase.anonKey)))
        return TestProject(backend) { await supabase.stop() }
    }
    private static let postgres = Task {
        var options = LocalSupabaseOptions()
        options.scripts = [DocumentSchema.sql, DocumentSchema.domainRules]
        return try await LocalSupabase.onSharedPostgres(options)
    }
}

/// The sources of the page about tests; this run's PostgreSQL serves other tests, too.
@Suite struct LocalProjectPageTests {
    @Test func `The page's sources stand above, line for line`() throws {
        let page = Article.root.appendingPathComponent(
            "Sources/SwitchyardTesting/Documentation.docc/SwitchyardTesting.md")
        let parts = try String(contentsOf: page, encoding: .utf8).components(separatedBy: "```")
        let block = try #require(parts.first { $0.hasPrefix("swift\nextension") }).dropFirst(6)
        let source = try String(contentsOfFile: #filePath, encoding: .utf8)
            .replacingOccurrences(of: "LocalSupabase.onSharedPostgres(options)", with: "LocalSupabase(options)")
        #expect(block.split(separator: "\n").allSatisfy { source.contains($0) })
    }
}

/// Tests of an app on local servers: each finds a project in which no one has been before.
@Suite(.backend(.localFirebase)) struct LocalFirebaseProjectTests {
    @Test(arguments: 1...5) func `Each test signs up the same address, and finds no documents`(_ n: Int) async throws {
        try await SameAddress.signUp()
    }
}

@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"), .backend(.localSupabase))
struct LocalSupabaseProjectTests {
    @Test(arguments: 1...5) func `Each test signs up the same address, and finds no documents`(_ n: Int) async throws {
        try await SameAddress.signUp()
    }
}

private enum SameAddress {
    static func signUp() async throws {
        let backend = try TestProject.current.backend
        let user = try await backend.auth.signUp(email: "ann@example.com", password: "long enough").get()
        let own = CollectionPath("users", user.id, "contacts")
        #expect(try await backend.storage.documents(Query(in: own), from: .server).isEmpty)
        try await backend.contacts.add(ContactModel(id: "bob", name: "Bob"))
        try await backend.storage.waitForPendingWrites()
        #expect(try await backend.storage.documents(Query(in: own), from: .server).map(\.id) == ["bob"])
    }
}

@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed")) struct ProjectCopyTests {
    @Test func `A project is copied with its scripts and without its contents, and goes when it is stopped`()
        async throws
    {
        var options = LocalSupabaseOptions()
        options.scripts = [
            "create table if not exists public.things (id int primary key); grant all on public.things to anon"
        ]
        options.buckets = ["files"]
        let first = try await LocalSupabase.onSharedPostgres(options)
        _ = try await first.database.run([PostgresStatement("insert into public.things values (1)")])
        async let one = first.makeProject()
        async let two = first.makeProject()
        let others = try await [one, two]
        #expect(others[0].port != others[1].port && others[0].anonKey != others[1].anonKey)
        var names: [String] = []
        for other in others {
            let found = try await other.database.run([
                PostgresStatement("select count(*) from public.things"),
                PostgresStatement("select count(*) from storage.buckets"),
                PostgresStatement("select current_database()"), PostgresStatement("show search_path"),
            ])
            #expect(found[0].text == "0" && found[1].text == "1")
            #expect(found[3].text?.contains("extensions") == true)
            names.append(found[2].text ?? "")
        }
        for other in others { await other.stop() }
        let left = PostgresStatement(
            "select count(*) from pg_database where datname = any($1)", ["{\(names.joined(separator: ","))}"])
        #expect(try await first.database.run([left])[0].text == "0")
        await first.stop()
    }
}
