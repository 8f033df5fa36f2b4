import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardLocalSupabase
import SwitchyardServerKit
import SwitchyardTestRuns
import SwitchyardTestSupport
import Testing

@testable import SwitchyardSupabase

/// The query function on a real PostgreSQL means what the evaluator means, which every other provider follows.
@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct DocumentQueryTests {
    /// Text that PostgreSQL cannot hold.
    private static func hasNull(_ json: JSON) -> Bool { json.text().contains("\\u0000") }

    private static func fill(_ server: PostgresServer, _ random: inout SeededGenerator, documents: Int) async throws
        -> [DocumentSnapshot]
    {
        var all: [StoragePath: DocumentSnapshot] = [:]
        for _ in 0..<documents {
            let path = random.path()
            let data = random.data()
            guard !hasNull(.object(data.postgres)) else { continue }
            all[path] = .existing(path, data, updateTime: Timestamp(microseconds: 0))
        }
        let writes = all.values.map {
            JSON.object(["op": "set", "path": .string($0.path.rawValue), "data": .object($0.data!.postgres)])
        }
        for start in stride(from: 0, to: writes.count, by: 500) {
            try await server.query(
                "select public.switchyard_commit(:'batch', :'writes');",
                [
                    "batch": "fill-\(start)",
                    "writes": JSON.array(Array(writes[start..<min(start + 500, writes.count)])).text(),
                ])
        }
        return Array(all.values)
    }

    @Test func `Nothing is taken for settled while the newest transaction of all is still being written`() async throws
    {
        let server = try await PostgresServer()
        defer { server.stop() }
        try await server.query(DocumentSchema.sql)
        let settled = { () async throws -> String in
            try await server.query("select public.switchyard_changes('[]') -> 'settled';")
        }
        // The server's own housekeeping writes now and then.
        try await eventually("no writer is left") { try await settled() == "true" }
        let writer = try await server.connect()
        defer { writer.close() }
        // No transaction has ended after it, so no snapshot lists it.
        try await writer.run(script: "begin; select pg_current_xact_id();")
        #expect(try await settled() == "false")
        let answer = try await server.query(
            """
            select (public.switchyard_get(array['rooms/a']) ->> 'readTime')::timestamptz
                   < (select xact_start from pg_stat_activity
                      where backend_xid is not null and datname = current_database() and pid <> pg_backend_pid());
            """)
        #expect(answer == "t")
        try await writer.run(script: "commit;")
        try await eventually("no writer is left") { try await settled() == "true" }
    }

    /// Reading all locks delays every caller that takes one: with fifty who read, that was most of the time.
    @Test func `No function reads the server's locks`() async throws {
        let server = try await PostgresServer()
        defer { server.stop() }
        try await server.query(DocumentSchema.sql)
        #expect(
            try await server.query(
                """
                select string_agg(p.proname, ' ') from pg_proc p
                where p.prosrc ~ 'pg_locks|pg_lock_status|pg_blocking_pids'
                  and (p.pronamespace = 'switchyard'::regnamespace or p.proname like 'switchyard%');
                """) == "")
        #expect(
            try await server.query("select count(*) > 10 from pg_proc where pronamespace = 'switchyard'::regnamespace")
                == "t")
    }

    private static let locales: [String?] = [nil, "en-US"]
    private static let queriesRun: SideRun<String?, Void> = SideRun(locales) { try await queries(locale: $0) }

    @Test(.beside(queriesRun), arguments: locales)
    func `Random queries find what the evaluator finds, in its order`(locale: String?) async throws {
        try await Self.queriesRun.value(of: locale)
    }

    private static func queries(locale: String?) async throws {
        let server = try await PostgresServer(aloneWith: locale)
        defer { server.stop() }
        try await server.query(DocumentSchema.sql)
        var random = SeededGenerator(seed: 11)
        let documents = try await DocumentQueryTests.fill(server, &random, documents: 300)
        var queries: [Query] = []
        while queries.count < RunSize.full(1000, part: 200) {
            let query = random.query()
            if !DocumentQueryTests.hasNull(query.postgres) { queries.append(query) }
        }
        let answers = try await server.query(
            "select public.switchyard_query(q) from jsonb_array_elements(:'queries') with ordinality t(q, n) order by n;",
            ["queries": JSON.array(queries.map(\.postgres)).text()]
        ).split(separator: "\n").map { try JSON(parsing: String($0)) }
        try #require(answers.count == queries.count)
        var found = 0
        for (query, answer) in zip(queries, answers) {
            var paths = (answer["documents"]?.array ?? []).compactMap { $0["path"]?.string }
            if case .last = query.limit { paths.reverse() }
            let expected = QueryEvaluator(query).results(among: documents).map(\.path.rawValue)
            #expect(paths == expected, "\(query.postgres.text())")
            found += paths.count
        }
        #expect(found > queries.count)
    }

    @Test func `Values sort as everywhere`() async throws {
        let server = try await PostgresServer()
        defer { server.stop() }
        try await server.query(DocumentSchema.sql)
        var random = SeededGenerator(seed: 12)
        var values: [DocumentValue] = []
        while values.count < 400 {
            let value = random.value()
            if !DocumentQueryTests.hasNull(value.postgres) { values.append(value) }
        }
        for number in [
            9_007_199_254_740_991, 9_007_199_254_740_992, 9_007_199_254_740_993, -9_007_199_254_740_993, .max - 512,
        ] as [Int64] {
            values += [.integer(number), .double(Double(number)), .integer(number + 1)]
        }
        let keys = try await server.query(
            "select encode(switchyard.whole_key(v), 'hex') from jsonb_array_elements(:'values') with ordinality t(v, n) order by n;",
            ["values": JSON.array(values.map(\.postgres)).text()]
        ).split(separator: "\n").map(String.init)
        try #require(keys.count == values.count)
        for (left, leftKey) in zip(values, keys) {
            for (right, rightKey) in zip(values, keys) {
                let expected: Ordering = leftKey == rightKey ? .same : leftKey < rightKey ? .before : .after
                #expect(left.ordering(to: right) == expected, "\(left) \(right)")
            }
        }
    }
}
