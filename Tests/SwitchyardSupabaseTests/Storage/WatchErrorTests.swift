import Switchyard
import SwitchyardSync
import SwitchyardTestSupport
import Testing

@testable import SwitchyardSupabase

/// Why the database cannot run a query, as streams and single reads report it.
@Suite struct WatchErrorTests {
    private static func client(_ site: SupabaseSite, _ mapping: SupabaseTableMapping) throws -> SyncedStorageClient {
        SyncedStorageClient(
            driver: SupabaseDriver(
                service: try site.service(), tables: try TableMappings([mapping]),
                pace: SupabaseWatch.Pace(alone: .milliseconds(20))))
    }

    // One case after the other: both make the table.
    @Test(
        .enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"), .serialized,
        arguments: ["listen", "closed"])
    func `A stream ends with the same words as a single read`(_ table: String) async throws {
        let site = try await SupabaseSite.shared.value
        try await site.postgres.query(
            "create table if not exists public.closed (id text primary key, name text); revoke all on public.closed from public, anon, authenticated;"
        )
        let client = try Self.client(
            site,
            SupabaseTableMapping(collection: CollectionPath(unchecked: table).rawValue, table: table, columns: ["name"])
        )
        let query = Query(in: CollectionPath(unchecked: table))
        var read: StorageError?
        do throws(StorageError) { _ = try await client.documents(query, from: .server) } catch { read = error }
        var streamed: StorageError?
        do throws(StorageError) { for try await _ in client.snapshots(of: query) {} } catch { streamed = error }
        #expect(read != nil && streamed?.message == read?.message && streamed?.code == read?.code)
        if table == "listen" {
            #expect(read?.message.contains("'public.listen'") == true, "\(read?.message ?? "")")
        } else {
            #expect(read?.code == .unauthorized)
        }
        await client.shutDown()
    }

    @Test func `Older functions return the code only`() {
        let old = StorageError(watching: "42703", "")
        #expect(old.code == .invalidArgument && old.message == "The database cannot run the query (42703).")
        #expect(StorageError(watching: "42501", "").code == .unauthorized)
        #expect(!StorageError(watching: "54000", "too much").isRetryable)
    }
}
