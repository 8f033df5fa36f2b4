import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@testable import SwitchyardLocalSupabase

/// Values over several rows, which the data service computes only where its owner has allowed it.
@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct RESTAggregatesTests {
    private static let queries: [(String, JSON)] = [
        ("todos?select=count()", [["count": 4]]),
        ("todos?select=n:count()&list=eq.1", [["n": 2]]),
        ("todos?select=list.sum(),most:id.max()::text,made_by.count()", [["sum": 4, "most": "4", "count": 3]]),
        ("todos?select=title::text.min(),id.avg()::int&list=eq.1", [["min": "cook", "avg": 2]]),
        (
            "todos?select=list,ids:id.sum()&order=list",
            [["list": 1, "ids": 3], ["list": 2, "ids": 3], ["list": .null, "ids": 4]]
        ),
        ("todos?select=id.sum(),count()&id=gt.100", [["sum": .null, "count": 0]]),
    ]

    @Test func `They are computed over all rows, or over those that other columns tell apart`() async throws {
        try await SupabaseBed.with({
            $0.scripts = [RelatedTables.sql]
            $0.allowsAggregates = true
        }) { bed in
            for (query, expected) in Self.queries {
                let found = try await RelatedTables.get(bed, query)
                #expect(found == expected, "\(query)")
            }
            for query in ["todos?select=id.median()", "todos?select=id.sum", "todos?select=count(id)"] {
                let refused = try await bed.send(.get, "/rest/v1/" + query)
                #expect((refused.status, refused.code) == (400, "PGRST100"), "\(query): \(refused.json.text())")
            }
        }
    }

    @Test func `They are refused as long as no one allows them`() async throws {
        try await RelatedTables.with { bed in
            for (query, _) in Self.queries {
                let refused = try await bed.send(.get, "/rest/v1/" + query)
                #expect((refused.status, refused.code) == (400, "PGRST123"), "\(query): \(refused.json.text())")
            }
        }
    }
}
