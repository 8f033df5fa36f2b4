import Foundation
import Switchyard
import SwitchyardFirebase
import SwitchyardLocalFirebase
import SwitchyardLocalSupabase
import SwitchyardSupabase
import SwitchyardTestSupport
import Testing

/// What the pages of the local servers, and Supabase's on tables say, done.
@Suite struct LocalPagesTests {
    private func withFolder(_ body: (URL) async throws -> Void) async throws {
        let folder = ScratchSpace.url.appendingPathComponent("local-pages-\(UInt64.random(in: 0 ... .max))")
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(folder)
    }

    private func configuration(of server: LocalFirebase) -> FirebaseConfiguration {
        FirebaseConfiguration(
            project: server.project, apiKey: "any",
            emulators: FirebaseConfiguration.Emulators(
                firestore: server.host, auth: server.host, storage: server.host), usesEmulatorVariables: false)
    }

    private func configuration(of server: LocalSupabase) -> SupabaseConfiguration {
        SupabaseConfiguration(url: server.url.absoluteString, key: Secret(server.anonKey), bucket: "files")
    }

    private func crossed(
        _ firebase: FirebaseConfiguration, _ supabase: SupabaseConfiguration
    ) async throws -> Infrastructure {
        let factory = InfrastructureFactory(FirebaseModule(firebase), SupabaseModule(supabase))
        var selection = InfrastructureSelection(default: .supabase)
        selection.auth = .firebase
        let backend = try await factory.make(selection)
        return backend
    }

    @Test func `A local Firebase keeps what it has in a folder`() async throws {
        try await withFolder { folder in
            var options = LocalFirebaseOptions()
            options.folder = folder
            let firebase = try LocalFirebase(options)
            print(firebase.summary)
            #expect(firebase.summary.contains(firebase.host))
            await firebase.stop()
        }
    }

    @Test(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
    func `Accounts of a local Firebase own documents on a local Supabase`() async throws {
        try await withFolder { folder in
            var options = LocalSupabaseOptions()
            options.scripts = [DocumentSchema.sql]
            do {
                var options = options
                options.folder = folder
                let supabase = try await LocalSupabase(options)
                print(supabase.summary)
                #expect(supabase.summary.contains(supabase.url.absoluteString))
                await supabase.stop()
            }
            var accounts = LocalFirebaseOptions()
            accounts.claims = ["role": "authenticated"]
            let firebase = try LocalFirebase(accounts)
            options.firebase = try FirebaseProject(firebase.project, keys: firebase.publishedKeys)
            let supabase = try await LocalSupabase(options)
            let backend = try await crossed(configuration(of: firebase), configuration(of: supabase))
            let ann = try await backend.auth.signUp(email: "ann@example.com", password: "correct horse").get()
            let note: StoragePath = "users/\(ann.id)/notes/1"
            try await backend.storage.setDocument(note, ["text": "Hers."]).acknowledged()
            #expect(try await backend.storage.document(note, from: .server)["text"] == "Hers.")
            await backend.shutDown()
            await supabase.stop()
            await firebase.stop()
        }
    }

    @Test func `A table of one's own is a collection`() async throws {
        var configuration = SupabaseConfiguration(url: "https://demo.supabase.co", key: "key", bucket: "files")
        var todos = SupabaseTableMapping(
            collection: "lists/{list_id}/todos", table: "todos", columns: ["title", "done", "due"])
        todos.updatedColumn = "updated_at"
        todos.columnTypes = ["due": .date, "created_at": .timestamptz, "tags": .array(of: .text)]
        configuration.tables = [todos]
        let backend = try await Infrastructure(.supabase(configuration))
        await backend.shutDown()
    }

    @Test func `A table of one's own may have references and counted keys, and says how it is watched`() async throws {
        var tasks = SupabaseTableMapping(collection: "tasks", table: "tasks", columns: ["title", "assignee"])
        tasks.references = ["assignee": "people"]
        tasks.generatesIDs = true
        tasks.witnessColumn = "token"
        let configuration = SupabaseConfiguration(url: "https://demo.supabase.co", key: "key", tables: [tasks])
        let backend = try await Infrastructure(.supabase(configuration))
        let storage = backend.storage
        let supabase = storage.unwrapped(as: SupabaseStorageAdapter.self)
        let updates = supabase?.updates(of: "todos")  // .live, or .polled(every:)
        #expect(updates == .polled(every: .seconds(1)))
        #expect((Int64(storage.newDocument(in: "tasks").id) ?? 0) < 0)
        await backend.shutDown()
    }

    @Test(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
    func `A row is added under a local key, and has the database's key afterwards`() async throws {
        var options = LocalSupabaseOptions()
        options.scripts = [
            """
            create table public.tasks (
              id bigint generated always as identity (start with 41) primary key, title text, token uuid unique);
            grant all on public.tasks to authenticated;
            """
        ]
        let supabase = try await LocalSupabase(options)
        var mapping = SupabaseTableMapping(collection: "tasks", table: "tasks", columns: ["title"])
        mapping.generatesIDs = true
        mapping.witnessColumn = "token"
        var configuration = configuration(of: supabase)
        configuration.tables = [mapping]
        configuration.usesDocumentTable = false
        let backend = try await Infrastructure(.supabase(configuration))
        try await backend.auth.signUp(email: "ann@example.com", password: "correct horse").get()
        let storage = backend.storage
        struct Chore: Codable {
            @DocumentID var id: Int
            var title: String
        }
        let chores = storage.collection("tasks", of: Chore.self)
        try await storage.disableNetwork()
        let (chore, receipt) = try await chores.addWithReceipt(Chore(title: "Milk"))
        try await chore.update(\.title, to: "Oat milk")  // offline, too
        #expect(try await chores.documents().map(\.title) == ["Oat milk"])
        try await storage.enableNetwork()
        let added = try await receipt.acknowledged().added  // tasks/41
        #expect(added == "tasks/41")
        try await storage.waitForPendingWrites()
        #expect(try await chore.get(from: .server)?.id == 41)
        #expect(try await chores.documents(from: .server).map(\.title) == ["Oat milk"])
        await backend.shutDown()
        await supabase.stop()
    }

    @Test func `UUIDs of a table are names and values`() async throws {
        var lists = SupabaseTableMapping(collection: "lists", table: "lists", columns: ["title", "owner"])
        lists.uuidColumns = ["id", "owner"]

        struct List: Codable {
            @DocumentID var id: UUID
            var title: String
            var owner: UUID
        }
        let configuration = SupabaseConfiguration(url: "https://demo.supabase.co", key: "key", tables: [lists])
        let backend = try await Infrastructure(.supabase(configuration))
        let (storage, owner) = (backend.storage, UUID())
        let mine = storage.collection("lists", of: List.self).where(\.owner, .equal, owner)
        #expect(mine.query.mistake == nil)
        #expect(storage.newDocument(in: "lists").id.utf8.count == 36)
        await backend.shutDown()
    }

    @Test(arguments: [
        "Sources/SwitchyardLocalFirebase/Documentation.docc/RunningALocalFirebase.md",
        "Sources/SwitchyardLocalSupabase/Documentation.docc/RunningALocalSupabase.md",
        "Plugins/SwitchyardSupabase/Documentation.docc/Tables.md",
    ])
    func `Every piece of Swift in the page stands in the tests, line for line`(page: String) throws {
        let missing = try Article(page).missing(in: #filePath)
        #expect(missing.isEmpty, "not done in the test: \(missing)")
    }
}
