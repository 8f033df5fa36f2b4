import Foundation
import Switchyard
import SwitchyardFirebase
import SwitchyardLocalFirebase
import SwitchyardLocalSupabase
import SwitchyardServerKit
import SwitchyardSupabase
import SwitchyardTestSupport
import Testing

/// The pages that begin on a provider, done on the local servers.
@Suite struct TenMinutesTests {
    struct Note: Codable, Sendable {
        @DocumentID var id: String
        var text: String
        @ServerTimestamp var at: Date?
    }

    struct Todo: Codable, Sendable {
        @DocumentID var id: UUID
        var title: String
        var done = false
        @ServerTimestamp var created: Date?
    }

    private static let supabasePage = "Plugins/SwitchyardSupabase/Documentation.docc/SupabaseInTenMinutes.md"

    private func withFolder(_ body: (URL) async throws -> Void) async throws {
        let folder = ScratchSpace.url.appendingPathComponent("ten-minutes-\(UInt64.random(in: 0 ... .max))")
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(folder)
    }

    @Test func `Firebase in ten minutes works as the page says`() async throws {
        let server = try LocalFirebase()
        try await withFolder { folder in
            var firebase = FirebaseConfiguration(project: "demo-switchyard", apiKey: "any")
            firebase.writeLedger = "ledger"
            // What the variables do that the server prints.
            firebase.emulators = FirebaseConfiguration.Emulators(
                firestore: server.host, auth: server.host, storage: server.host)
            for run in 1...2 {
                let backend = try await Infrastructure(
                    .firebase(firebase), stateFolder: folder, observer: LineObserver())

                func signIn() async throws(AuthError) -> AuthUser {
                    if let user = await backend.auth.currentUser { return user }
                    do throws(AuthError) {
                        return try await backend.auth.signUp(email: "ann@example.com", password: "correct horse").get()
                    } catch .emailInUse {
                        return try await backend.auth.signIn(email: "ann@example.com", password: "correct horse")
                    }
                }

                #expect(await (backend.auth.currentUser != nil) == (run == 2), "the session is in the folder")
                let user = try await signIn()
                let notes = backend.storage.collection("users").document(user.id).collection("notes", of: Note.self)
                try await notes.add(Note(text: "Hello"))
                for try await list in notes.ordered(by: \.at, .descending).limited(to: 10).stream() {
                    print(list.map(\.text), list.isFromCache ? "(cached)" : "", list.hasPendingWrites ? "(saving)" : "")
                    if list.count == run, !list.isFromCache, !list.hasPendingWrites { break }
                }
                await backend.shutDown()
            }
        }
        await server.stop()
    }

    struct City: Codable, Sendable {
        @DocumentID var id: String
        var name: String
        var people: Int
    }

    @Test func `Those who know FirebaseFirestore find what the page says`() async throws {
        let server = try LocalFirebase()
        let emulators = FirebaseConfiguration.Emulators(firestore: server.host, auth: server.host)
        let backend = try await Infrastructure(
            .firebase(FirebaseConfiguration(project: server.project, apiKey: "any", emulators: emulators)))
        try await backend.auth.signUp(email: "ann@example.com", password: "correct horse")
        let storage = backend.storage
        func show(_ names: [String], isCached: Bool, isSaving: Bool) { print(names, isCached, isSaving) }

        let cities = storage.collection("cities", of: City.self)
        let receipt = try await cities.document("ulm").set(City(name: "Ulm", people: 128_928))
        try await receipt.acknowledged(within: .seconds(10))
        let large = cities.where(\.people, .greaterThan, 100_000).ordered(by: \.people, .descending)
        for try await list in large.stream() {
            show(list.map(\.name), isCached: list.isFromCache, isSaving: list.hasPendingWrites)
            if list.map(\.name) == ["Ulm"], !list.isFromCache { break }
        }
        let ref = storage.handle("cities/ulm")
        #expect(try await ref.get(as: City.self)?.name == "Ulm")
        #expect(try await storage.count(cities.query) == 1)
        #expect(try await storage.collection("cities").starting(after: ref.get()).documents().isEmpty)
        await backend.shutDown()
        await server.stop()
    }

    @Test(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
    func `Supabase in ten minutes works as the page says`() async throws {
        var options = LocalSupabaseOptions()
        options.scripts = [try #require(try Article(Self.supabasePage).blocks(of: "sql").first)]
        let server = try await LocalSupabase(options)
        try await withFolder { folder in
            var table = SupabaseTableMapping(
                collection: "todos", table: "todos",
                fields: ["title": "title", "done": "done", "created": "created_at"])
            table.uuidColumns = ["id"]
            table.columnTypes = ["title": .text, "done": .bool, "created_at": .timestamptz]

            let environment = server.environment
            var supabase = SupabaseConfiguration(
                url: environment["SUPABASE_URL"] ?? "https://demo.supabase.co",
                key: Secret(environment["SUPABASE_ANON_KEY"] ?? ""))
            supabase.tables = [table]
            supabase.usesDocumentTable = false
            let backend = try await Infrastructure(.supabase(supabase), stateFolder: folder, observer: LineObserver())

            func signIn() async throws(AuthError) -> AuthUser {
                if let user = await backend.auth.currentUser { return user }
                do throws(AuthError) {
                    return try await backend.auth.signUp(email: "ann@example.com", password: "correct horse").get()
                } catch .emailInUse {
                    return try await backend.auth.signIn(email: "ann@example.com", password: "correct horse")
                }
            }

            _ = try await signIn()
            let todos = backend.storage.collection("todos", of: Todo.self)
            try await todos.add(Todo(title: "Milk"))
            for try await list in todos.where(\.done, .equal, false).ordered(by: \.created).stream() {
                print(list.map(\.title), list.isFromCache ? "(cached)" : "", list.hasPendingWrites ? "(saving)" : "")
                if list.isFromCache || list.hasPendingWrites { continue }
                if list.isEmpty { break }
                // Somebody else changes the row.
                let connection = try await server.database.connect()
                try await connection.run(script: "update public.todos set done = true")
                connection.close()
            }
            await backend.shutDown()
        }
        await server.stop()
    }

    @Test(arguments: [
        "Plugins/SwitchyardFirebase/Documentation.docc/ComingFromFirebaseFirestore.md",
        "Plugins/SwitchyardFirebase/Documentation.docc/FirebaseInTenMinutes.md",
        "Plugins/SwitchyardSupabase/Documentation.docc/SupabaseInTenMinutes.md",
    ])
    func `Every piece of Swift in the page stands above, line for line`(page: String) throws {
        // The page is a program, whose folder is where it runs.
        let missing = try Article(page).missing(in: #filePath).filter {
            !["let folder = URL(fileURLWithPath: \"state\")", "let environment = ProcessInfo.processInfo.environment"]
                .contains($0)
        }
        #expect(missing.isEmpty, "not done in the test: \(missing)")
    }
}
