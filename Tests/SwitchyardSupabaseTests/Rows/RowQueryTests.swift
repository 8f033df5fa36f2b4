import Foundation
import Switchyard
import SwitchyardLocalSupabase
import SwitchyardServerKit
import SwitchyardSync
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@testable import SwitchyardSupabase

/// Queries over a table, asked of the data service, beside what the evaluator finds among the same rows.
@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct RowQueryTests {
    private static let sql = """
        create table public.things (
          id text primary key, whole int8, small int2, ratio float8, flag bool, moment timestamptz, word text, name uuid,
          tags text[], marks int4[], info jsonb, day date, price numeric(30, 12), bytes bytea);
        grant all on public.things to authenticated;
        """

    private static let mapping: SupabaseTableMapping = {
        var mapping = SupabaseTableMapping(
            collection: "things", table: "things",
            columns: [
                "whole", "small", "ratio", "flag", "moment", "word", "name", "tags", "marks", "info", "day", "price",
                "bytes",
            ])
        mapping.uuidColumns = ["name"]
        return mapping
    }()

    private static let fields = mapping.fields.keys.sorted()

    private func withRows(_ body: (RowStore, TableMappings.Place) async throws -> Void) async throws {
        let supabase = try await LocalSupabase.onSharedPostgres()
        let connection = try await supabase.database.connect()
        try await connection.run(script: Self.sql)
        connection.close()
        let service = PostgRESTService(
            project: try SupabaseProject(supabase.server.url),
            tokens: SupabaseTokens(key: Secret(supabase.accessToken(for: "tester")), auth: nil),
            transport: CurlTransport())
        let tables = try TableMappings([Self.mapping], usesDocuments: false)
        let place = try #require(try tables.place(of: CollectionPath("things")))
        try await body(RowStore(service), place)
        await service.transport.shutDown()
        await supabase.stop()
    }

    @Test(.timeLimit(.minutes(5)))
    func `Random queries find what the evaluator finds, in its order`() async throws {
        try await withRows { rows, place in
            var random = SeededGenerator(seed: 38)
            for number in 0..<60 {
                let write = try DocumentWrite.set("things/t\(number)", data: random.row())
                _ = try await rows.commit(write, in: place, for: nil)
            }
            let all = try await rows.results(of: Query(in: "things"), in: place).documents
            #expect(all.count == 60)
            var found = 0
            let rounds = RunSize.full(600, part: 120)
            for _ in 0..<rounds {
                let query = random.rowQuery(over: all)
                guard query.mistake == nil else { continue }
                let results = try await rows.results(of: query, in: place).documents.map(\.path.rawValue)
                let expected = QueryEvaluator(query).results(among: all).map(\.path.rawValue)
                #expect(results == expected, "\(query)")
                found += results.count
            }
            #expect(found > rounds * 5 / 3)
        }
    }

    @Test func `Counts and limits, from the front and from the end, are the query's`() async throws {
        try await withRows { rows, place in
            for number in 0..<60 {
                let path = StoragePath(unchecked: "things/n\(number + 100)")
                _ = try await rows.commit(.set(path, data: ["whole": .integer(Int64(number))]), in: place, for: nil)
            }
            let query = Query(in: "things").where("whole", .greaterThanOrEqual, 10).ordered(by: "whole")
            #expect(try await rows.aggregate(query, in: place, [.count]) == [50])
            #expect(try await rows.results(of: query.limited(to: 7), in: place).documents.count == 7)
            #expect(
                try await rows.results(of: query.limited(toLast: 2), in: place).documents.map(\.id) == ["n158", "n159"])
            #expect(try await rows.aggregate(query.limited(to: 7), in: place, [.count, .count]) == [7, 7])
        }
    }
}

extension SeededGenerator {
    private mutating func one<Value>(of values: [Value]) -> Value { values.randomElement(using: &self)! }

    fileprivate mutating func row() -> DocumentData {
        var data = DocumentData()
        for field in [
            "whole", "small", "ratio", "flag", "moment", "word", "name", "tags", "marks", "info", "day", "price",
            "bytes",
        ]
        where chance(80) {
            data[field] = value(of: field)
        }
        return data
    }

    /// Few different ones, so that many rows are the same in some fields.
    fileprivate mutating func value(of field: String) -> DocumentValue {
        switch field {
        case "whole": .integer(one(of: [-3, 0, 1, 2, 7, 9_007_199_254_740_993]))
        case "small": .integer(one(of: [-1, 0, 1, 2, 30_000]))
        case "ratio": .double(one(of: [-1.5, 0, 0.25, 2, 1e300]))
        case "flag": .bool(one(of: [true, false]))
        case "moment":
            .timestamp(Timestamp(microseconds: 1_700_000_000_000_000 + one(of: [0, 1, 123_456, 999_999_999])))
        case "word": .string(one(of: ["", "a", "B", "ä", "b,c", "d\"e", "f\\g", "(h)", "null", "x.y", "{z}", "日本"]))
        case "name":
            .string(one(of: ["7d444840-9dc0-11d1-b245-5ffdce74fad2", "0b4c9a10-9dc0-11d1-b245-5ffdce74fad2"]))
        case "tags": .array(strings(upTo: 3))
        case "marks": .array((0..<Int.random(in: 0...3, using: &self)).map { _ in .integer(one(of: [1, 2, 3])) })
        case "info": .map(["a": one(of: [1, "x", true, .double(1.5)]), "b": .map(["c": one(of: [1, 2])])])
        case "day": .string(one(of: ["2026-01-01", "2026-11-26", "1999-12-31"]))
        case "price": .double(one(of: [0.5, 12.25, 100]))
        default: .bytes(Data(one(of: [[], [0], [1, 255]])))
        }
    }

    private mutating func strings(upTo count: Int) -> [DocumentValue] {
        (0..<Int.random(in: 0...count, using: &self)).map { _ in .string(one(of: ["a", "b c", "d,e", "{f}", "\"g\""])) }
    }

    private static let scalars = ["whole", "small", "ratio", "flag", "moment", "word", "name", "day", "price", "bytes"]

    private mutating func condition() -> Filter {
        let field = one(of: Self.scalars + ["tags", "marks", "info", "info.a", "info.b.c", "nothing"])
        let path = FieldPath(unchecked: field.split(separator: ".").map(String.init))
        let source = field.split(separator: ".").count > 1 || field == "nothing" ? "whole" : field
        // Now and then of another kind.
        let value = value(of: chance(85) ? source : one(of: Self.scalars))
        switch Int.random(in: 0..<10, using: &self) {
        case 0: return .test(path, one(of: [.isNull, .isNotNull, .isNaN, .isNotNaN]))
        case 1: return .comparison(path, .in, .array([value, self.value(of: source)]))
        case 2: return .comparison(path, .notIn, .array([value]))
        case 3: return .comparison(path, .arrayContains, field == "marks" ? .integer(2) : .string("b c"))
        case 4: return .comparison(path, .arrayContainsAny, .array(field == "marks" ? [1, 3] : ["a", "{f}", "\"g\""]))
        case 5: return .comparison(path, .notEqual, value)
        case 6: return .comparison(path, one(of: [.lessThan, .lessThanOrEqual]), value)
        case 7:
            return .comparison(path, one(of: [.greaterThan, .greaterThanOrEqual]), chance(20) ? .double(0.5) : value)
        default: return .comparison(path, .equal, value)
        }
    }

    private mutating func rowFilter(_ depth: Int = 0) -> Filter {
        guard depth < 2, chance(30) else { return condition() }
        let parts = (0..<Int.random(in: 2...3, using: &self)).map { _ in rowFilter(depth + 1) }
        return chance(50) ? .all(parts) : .any(parts)
    }

    fileprivate mutating func rowQuery(over all: [DocumentSnapshot]) -> Query {
        var query = Query(in: "things")
        if chance(80) { query = query.where(rowFilter()) }
        for _ in 0..<Int.random(in: 0...2, using: &self) {
            query = query.ordered(
                by: FieldPath(unchecked: [one(of: Self.scalars)]), chance(50) ? .ascending : .descending)
        }
        if chance(25) {
            let document = one(of: all)
            query = chance(50) ? query.starting(after: document) : query.starting(at: document)
        }
        if chance(15) { query = query.ending(before: one(of: all)) }
        if chance(40) {
            let count = Int.random(in: 1...20, using: &self)
            query =
                chance(70) || query.effectiveOrders.count == 1 ? query.limited(to: count) : query.limited(toLast: count)
        }
        if chance(15), query.limit != nil, case .first? = query.limit {
            query = query.skipping(Int.random(in: 1...5, using: &self))
        }
        return query
    }
}
