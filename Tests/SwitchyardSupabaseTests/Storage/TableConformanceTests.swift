import Switchyard
import SwitchyardConformance
import SwitchyardSync
import SwitchyardTestRuns
import SwitchyardTestSupport
import Testing

@testable import SwitchyardSupabase

/// The same project with a table of its own in it, which is shown as collections; there is no document table to the client.
struct TableHarness: StorageHarness {
    /// One column for each kind of value. What PostgreSQL has no type for stands in `jsonb`.
    static let sql = """
        create table public.items (
          parent text not null, id text not null, text text, number int8, ratio float8, flag bool, moment timestamptz,
          blob bytea, link jsonb, place jsonb, tags text[], vector jsonb, info jsonb, created_at timestamptz not null
          default clock_timestamp(), changed_at timestamptz not null, primary key (parent, id));
        alter table public.items enable row level security;
        create policy everybody on public.items to authenticated using (true) with check (true);
        grant all on public.items to authenticated;
        """

    static let mapping: SupabaseTableMapping = {
        var mapping = SupabaseTableMapping(
            collection: "conformance/{parent}/items", table: "items", columns: StorageField.allCases.map(\.rawValue))
        mapping.createdColumn = "created_at"
        mapping.updatedColumn = "changed_at"
        return mapping
    }()

    static func tables() throws(InfrastructureError) -> TableMappings {
        try TableMappings([mapping], usesDocuments: false)
    }

    /// Beside the document table.
    static func mixedTables() throws(InfrastructureError) -> TableMappings { try TableMappings([mapping]) }

    static let features = StorageFeatures((try? tables())?.capabilities ?? StorageCapabilities())

    static let mixedFeatures = StorageFeatures((try? mixedTables())?.capabilities ?? StorageCapabilities())

    static let site = Task {
        let site = try await SupabaseSite.shared.value
        try await site.postgres.query(sql)
        return site
    }

    let site: SupabaseSite
    /// Whether the functions carry out what takes several requests.
    var usesFunctions = false
    var features: StorageFeatures { usesFunctions ? Self.mixedFeatures : Self.features }

    func makeStorageClient() async throws -> any StorageClient {
        SyncedStorageClient(
            driver: SupabaseDriver(
                service: try site.service(), tables: try usesFunctions ? Self.mixedTables() : Self.tables(),
                pace: SupabaseWatch.Pace(alone: .milliseconds(25))))
    }
}

@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct TableConformanceTests {
    static let run = ConformanceRun("supabase tables", StorageConformance.all, for: TableHarness.features, part: 2) {
        TableHarness(site: try await TableHarness.site.value)
    }

    @Test(.beside(run), arguments: run.checks)
    func `Documents in a project's own table`(_ check: StorageCheck) async throws {
        try await Self.run.outcome(of: check)
    }

    /// What rows do only by the functions.
    static let mixed = ConformanceRun(
        "supabase tables with functions",
        StorageConformance.all.filter { $0.missing(in: TableHarness.features) == ["mixed batches"] },
        for: TableHarness.mixedFeatures
    ) {
        TableHarness(site: try await TableHarness.site.value, usesFunctions: true)
    }

    @Test(.beside(mixed), arguments: mixed.checks)
    func `Mixed batches of rows, by functions`(_ check: StorageCheck) async throws {
        try await Self.mixed.outcome(of: check)
    }

    @Test func `The driver declares what the checks are chosen by`() async throws {
        let client = try await TableHarness(site: try await TableHarness.site.value).makeStorageClient()
        #expect(client.capabilities == TableHarness.features.capabilities)
        await client.shutDown()
    }

    @Test func `What tables are spared`() {
        var expected = SupabaseHarness.features.capabilities
        expected.openSchema = false
        expected.openTypes = false
        expected.listCollections = false
        expected.recursiveDelete = false
        expected.mixedBatches = false
        expected.maximumDeletions = RowGroup.maximumDeletions
        #expect(TableHarness.features.capabilities == expected)
        // Almost all for the types of columns; another number is another list, and should be checked.
        #expect(StorageConformance.leftOut(for: TableHarness.features).count == 141)
        #expect(Self.mixed.checks.count == 10)
    }

    @Test func `What the document table is spared`() {
        #expect(
            StorageConformance.leftOut(for: SupabaseHarness.features) == [
                "a document that rules forbid ends its stream for good", "a document that rules forbid cannot be read",
            ])
    }
}
