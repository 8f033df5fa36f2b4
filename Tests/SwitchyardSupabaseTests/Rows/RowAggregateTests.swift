import Foundation
import Switchyard
import SwitchyardLocalSupabase
import SwitchyardServerKit
import SwitchyardTestSupport
import Synchronization
import Testing

@testable import SwitchyardSupabase

/// Sums and averages over rows, by the data service or by the client.
@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct RowAggregateTests {
    /// The addresses that a table is asked with.
    private final class Addresses: Sendable {
        private let kept = Mutex<[String]>([])
        var ofAggregates: Int { kept.withLock { $0.count { $0.contains("sum%28%29") || $0.contains("count%28%29") } } }
        var count: Int { kept.withLock(\.count) }

        init(of supabase: LocalSupabase) {
            supabase.faults.add(.dropAnswer(), times: nil) { [weak self] request in
                if request.rawPath.hasPrefix("/rest/v1/sales") {
                    self?.kept.withLock { $0.append("\(request.rawQuery ?? "")") }
                }
                return false
            }
        }
    }

    private static let sql = """
        create table public.sales (id bigint primary key, pieces int, price numeric, weight float8, shop text not null);
        insert into public.sales values
          (1, 3, 0.1, 0.1, 'a'), (2, 4, 0.2, 0.2, 'a'), (3, null, 0.3, 0.3, 'a'), (4, -2, null, null, 'a'),
          (5, 1, 123456789012345678.25, 1, 'b'), (6, 2, 0.75, 2, 'b'),
          (7, 1, 'NaN', 1, 'c'), (8, 1, 1, 1, 'c'),
          (9, null, null, null, 'd');
        grant select on public.sales to authenticated;
        """

    private static let query = Query(in: "sales")
    private static func shop(_ name: String) -> Query { query.where("shop", .equal, .of(name)) }

    @Test(arguments: [false, true])
    func `They are the same, whoever computes them`(_ isAllowed: Bool) async throws {
        var options = LocalSupabaseOptions()
        options.allowsAggregates = isAllowed
        let site = try await TablesSite(options)
        try await site.run(Self.sql)
        let addresses = Addresses(of: site.supabase)
        let storage = try await site.storage([
            SupabaseTableMapping(collection: "sales", table: "sales", columns: ["pieces", "price", "weight", "shop"])
        ])
        let all: [Aggregation] = [.sum("pieces"), .average("pieces"), .sum("price"), .average("price"), .count]
        let a = try await storage.aggregate(Self.shop("a"), all)
        let (mean, total): (Double, Double) = (5.0 / 3.0, 0.6)
        let ofA: [DocumentValue] = [.integer(5), .double(mean), .double(total), .double(total / 3.0), .integer(4)]
        #expect(a == ofA)
        let b = try await storage.aggregate(Self.shop("b"), all)
        let large: Double = 123_456_789_012_345_679.0
        let ofB: [DocumentValue] = [.integer(3), .double(1.5), .double(large), .double(large / 2.0), .integer(2)]
        #expect(b == ofB)
        let c = try await storage.aggregate(Self.shop("c"), all)
        let ofC: [DocumentValue] = [.integer(2), .double(1), .double(.nan), .double(.nan), .integer(2)]
        #expect(c == ofC)
        // Nothing but nulls, and nothing at all.
        let d = try await storage.aggregate(Self.shop("d"), all)
        let ofD: [DocumentValue] = [.integer(0), .null, .integer(0), .null, .integer(1)]
        #expect(d == ofD)
        let none = try await storage.aggregate(Self.shop("nowhere"), all)
        let ofNone: [DocumentValue] = [.integer(0), .null, .integer(0), .null, .integer(0)]
        #expect(none == ofNone)
        // The service is asked each time, or once and never again by this client.
        #expect(addresses.ofAggregates == (isAllowed ? 5 : 1))
        #expect(isAllowed ? addresses.count == 5 : addresses.count > 5)

        // What may depend on the order of the rows is computed here, and so is what a limit cuts off.
        let weight = try await storage.aggregate(Self.shop("a"), [.sum("weight")])
        let sum: Double = 0.1 + 0.2 + 0.3
        #expect(weight == [DocumentValue.double(sum)])
        let few = try await storage.aggregate(Self.query.ordered(by: "pieces").limited(to: 2), [.sum("pieces")])
        #expect(few == [DocumentValue.integer(-1)])
        #expect(addresses.ofAggregates == (isAllowed ? 5 : 1))

        // Another client asks by itself.
        let other = try await site.storage([
            SupabaseTableMapping(collection: "sales", table: "sales", columns: ["pieces", "shop"])
        ])
        #expect(try await other.sum(of: "pieces", in: Self.shop("b")) == 3)
        #expect(addresses.ofAggregates == (isAllowed ? 6 : 2))
        for client in [storage, other] { await client.shutDown() }
        await site.supabase.stop()
    }
}
