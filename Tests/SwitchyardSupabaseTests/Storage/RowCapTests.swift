import Switchyard
import SwitchyardBytes
import SwitchyardLocalSupabase
import SwitchyardServerKit
import SwitchyardSync
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@testable import SwitchyardSupabase

/// Projects cap the rows of an answer and do not say so when they cut one off.
@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct RowCapTests {
    private static let cap = 10
    private static let count = 3 * cap + 1

    private func withSite(_ body: (SupabaseSite) async throws -> Void) async throws {
        let site = try await SupabaseSite(maximumRows: Self.cap)
        try await site.postgres.query(TableHarness.sql)
        try await body(site)
        await site.stop()
    }

    @Test func `The service cuts what it is asked for row by row`() async throws {
        try await withSite { site in
            try await site.postgres.query(
                "create table public.plain as select n from generate_series(1, \(Self.count)) n; grant select on public.plain to anon"
            )
            let transport = CurlTransport()
            var request = HTTPRequest(.get, "\(site.supabase.server.url)/rest/v1/plain?select=n")
            request.headers["apikey"] = site.supabase.anonKey
            let answer = try await transport.send(request)
            #expect(try JSON(parsing: answer.body).array?.count == Self.cap)
            await transport.shutDown()
        }
    }

    @Test(arguments: [false, true])
    func `Neither a query nor a live one is cut, in either layout`(inTable: Bool) async throws {
        try await withSite { site in
            let tables = inTable ? try TableHarness.tables() : try TableMappings([])
            let client = SyncedStorageClient(
                driver: SupabaseDriver(
                    service: try site.service(), tables: tables, pace: SupabaseWatch.Pace(alone: .milliseconds(25))))
            let items: CollectionPath = "conformance/cap/items"
            for start in stride(from: 0, to: Self.count, by: 5) {
                let writes = try (start..<min(start + 5, Self.count)).map { number in
                    try DocumentWrite.set(items.document("i\(number)"), data: ["number": .integer(Int64(number))])
                }
                _ = try await client.commit(WriteBatch(writes)).acknowledged()
            }
            let query = Query(in: items).ordered(by: "number")
            let results = try await client.documents(query, from: .server)
            #expect(results.documents.map { $0["number"] } == (0..<Self.count).map { .integer(Int64($0)) })
            #expect(try await client.documents(query.limited(to: 25), from: .server).count == 25)
            #expect(try await client.count(query) == Self.count)
            for try await snapshot in client.snapshots(of: query) where !snapshot.metadata.isFromCache {
                #expect(snapshot.count == Self.count)
                break
            }
            let many = (0..<Self.count).map { items.document("i\($0)") }
            #expect(try await client.documents(many, from: .server).allSatisfy(\.exists))
            await client.shutDown()
        }
    }
}
