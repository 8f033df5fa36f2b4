import Foundation
import Switchyard
import SwitchyardFirebase
import SwitchyardLocalFirebase
import SwitchyardLocalSupabase
import SwitchyardMock
import SwitchyardSupabase
import SwitchyardTestSupport

/// A backend at one end of a live move.
struct LiveSide: Sendable {
    /// What makes a device's clients.
    let module: @Sendable (MockNetwork) -> any InfrastructureModule
    let project: Infrastructure
    let stop: @Sendable () async -> Void
    /// Whether the network of devices is a mock's.
    var isMock = false
    /// What to copy, if the backend cannot list its collections.
    var collections: [String] = []

    static func mock(_ backend: MockBackend = MockBackend()) async throws -> LiveSide {
        LiveSide(
            module: { MockModule(backend: backend, network: $0) }, project: try await backend.infrastructure(),
            stop: {}, isMock: true)
    }

    static func firebase() async throws -> LiveSide {
        var options = LocalFirebaseOptions()
        options.allowsEverything = true
        let server = try LocalFirebase(options)
        var configuration = FirebaseConfiguration(project: server.project, apiKey: "any", bucket: "files")
        configuration.usesEmulatorVariables = false
        configuration.emulators = .init(firestore: server.host, auth: server.host, storage: server.host)
        // Without it, an increment counts twice on the backend itself if its answer is lost.
        configuration.writeLedger = "ledger"
        let made = configuration
        let module = FirebaseModule(made)
        return LiveSide(
            module: { _ in FirebaseModule(made) }, project: try await Infrastructure(module),
            stop: { await server.stop() })
    }

    /// - Parameter hasTable: Whether the collection `items` is a table.
    static func supabase(hasTable: Bool = false) async throws -> LiveSide {
        var options = LocalSupabaseOptions()
        options.scripts = [
            DocumentSchema.sql,
            """
            insert into switchyard.rules (collection_id, read, write)
              select name, 'public', 'public' from unnest(array['counters', 'items', 'switchyardMoves', 'switchyardLog']) name;
            create table public.items (id text primary key, step bigint, owner text);
            grant all on public.items to anon, authenticated, service_role;
            """,
        ]
        options.buckets = ["files"]
        options.allowsEverything = true
        let server = try await LocalSupabase.onSharedPostgres(options)
        var configuration = SupabaseConfiguration(url: server.url.absoluteString, key: Secret(server.anonKey))
        configuration.serviceKey = Secret(server.serviceKey)
        configuration.bucket = "files"
        if hasTable {
            configuration.tables = [
                SupabaseTableMapping(collection: "items", table: "items", fields: ["step": "step", "owner": "owner"])
            ]
            configuration.usesDocumentTable = true
        }
        let made = configuration
        return LiveSide(
            module: { _ in SupabaseModule(made) }, project: try await Infrastructure(SupabaseModule(made)),
            stop: { await server.stop() },
            collections: hasTable ? ["items", "counters"] : [])
    }

    /// The documents by path, without those of the move.
    func documents(_ collections: [String]) async throws -> [String: DocumentData] {
        let storage = try await project.actingAsProject().storage
        var found: [String: DocumentData] = [:]
        for collection in collections {
            let query = Query(in: try CollectionPath(validating: collection))
            for document in try await storage.documents(query, from: .server).documents {
                found[document.path.rawValue] = document.data
            }
        }
        return found
    }

    func close() async {
        await project.shutDown()
        await stop()
    }
}
