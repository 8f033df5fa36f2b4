import Switchyard
import SwitchyardBytes
import SwitchyardTestRuns
import SwitchyardTestSupport
import Testing

@testable import SwitchyardSupabase

/// With two hundred thousand documents the database goes by its indexes, also for a user who sees only his own.
@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct DocumentPlanTests {
    /// 120 000 documents in one collection, 80 000 in four thousand small ones. Triggers would only cost time.
    private static let fill = """
        set session_replication_role = replica;
        insert into switchyard.documents (path, data, owner, created_at, updated_at)
          select 'posts/p' || lpad(n::text, 6, '0'),
                 jsonb_build_object('n', n, 'score', (n * 7919 % 100000) / 10.0, 'city', 'c' || n % 1000, 'live', n % 2 = 0,
                                    'tags', jsonb_build_array('t' || n % 500, 'u' || n % 300)),
                 'u' || n % 100, now(), now()
          from generate_series(1, 120000) n
          union all
          select 'users/u' || n % 4000 || '/notes/n' || n, jsonb_build_object('n', n), 'u' || n % 4000, now(), now()
          from generate_series(1, 80000) n;
        select switchyard.create_index('posts', '[[["score"], "asc"]]');
        select switchyard.create_index('posts', '[[["live"], "asc"], [["score"], "desc"]]');
        select switchyard.create_index('posts', '[[["score"], "desc"]]', owned => true);
        analyze switchyard.documents;
        """

    private struct Case {
        let name: String
        let query: Query
        /// One of these indexes must do the finding.
        let indexes: [String]
    }

    /// What the finding is done by for a user who sees what is theirs; the small collection lies in the user's tree.
    private static let ownIndexes = ["documents_owner", "documents_by_", "documents_collection"]

    private static func cases() throws -> [Case] {
        let posts = Query(in: "posts")
        return [
            Case(
                name: "a page", query: posts.limited(to: 20),
                indexes: ["documents_collection", "documents_group", "documents_place"]),
            Case(
                name: "a page behind a cursor",
                query: posts.ordered(by: .documentID)
                    .starting(after: StoragePath("posts/p060000").documentValue).limited(to: 20),
                indexes: ["documents_collection", "documents_group", "documents_place"]),
            Case(name: "equality", query: posts.where("city", .equal, "c5"), indexes: ["documents_values"]),
            Case(
                name: "an element", query: posts.where("tags", .arrayContains, "t7"), indexes: ["documents_values"]),
            Case(
                name: "any of two elements", query: posts.where("tags", .arrayContainsAny, .array(["t7", "t8"])),
                indexes: ["documents_values"]),
            Case(
                name: "one of three", query: posts.where("city", .in, .array(["c1", "c2", "c3"])),
                indexes: ["documents_values"]),
            Case(
                name: "a range in order",
                query: posts.where("score", .greaterThanOrEqual, 5000).where("score", .lessThan, 6000)
                    .ordered(by: "score").limited(to: 20), indexes: ["documents_by_"]),
            Case(
                name: "a range behind a cursor",
                query: posts.where("score", .greaterThanOrEqual, 5000).ordered(by: "score")
                    .starting(after: 5500).limited(to: 20), indexes: ["documents_by_"]),
            Case(
                name: "backwards", query: posts.ordered(by: "score", .descending).limited(to: 20),
                indexes: ["documents_by_"]),
            Case(
                name: "equality in the order of another field",
                query: posts.where("live", .equal, true).ordered(by: "score", .descending).limited(to: 20),
                indexes: ["documents_by_"]),
            Case(
                name: "a small collection in an order without an index",
                query: Query(in: "users/u17/notes").ordered(by: "n"), indexes: ["documents_collection"]),
        ]
    }

    /// Every node of a plan.
    private static func nodes(_ plan: JSON) -> [JSON] {
        [plan] + (plan["Plans"]?.array ?? []).flatMap(nodes)
    }

    private static let filled = SideRun {
        let server = try await PostgresServer()
        try await server.query(DocumentSchema.sql)
        try await server.query(fill)
        // The functions that clients call run these with their owner's rights.
        try await server.query("grant execute on all functions in schema switchyard to authenticated")
        return server
    }

    @Test(.beside(filled)) func `Queries over two hundred thousand documents go by indexes`() async throws {
        let server = try await Self.filled.value
        defer { server.stop() }
        let cases = try Self.cases()
        for claims in ["", #"{"sub": "u17", "role": "authenticated"}"#] {
            // The SQL that the functions would run for that caller, and what the planner makes of it.
            var script = "select set_config('request.jwt.claims', '\(claims)', false) is null;\n"
            script += claims.isEmpty ? "" : "set role authenticated;\n"
            script +=
                "select switchyard.query_sql(q, true) || chr(31) from jsonb_array_elements(:'queries') q;"
            let texts = try await server.query(
                script, ["queries": JSON.array(cases.map(\.query.postgres)).text()]
            ).split(separator: "\n").dropFirst().joined(separator: "\n").split(separator: "\u{1F}")
            try #require(texts.count >= cases.count)
            for (item, sql) in zip(cases, texts) {
                let answer = try await server.query("explain (analyze, format json) \(sql);")
                let plan = try JSON(parsing: answer)[0]
                let nodes = Self.nodes(plan?["Plan"] ?? [:])
                let comment = Comment(rawValue: "\(item.name) as \(claims.isEmpty ? "owner" : "user"): \(answer)")
                #expect(!nodes.contains { $0["Node Type"] == "Seq Scan" }, comment)
                let used = nodes.compactMap { $0["Index Name"]?.string }
                let indexes = claims.isEmpty ? item.indexes : Self.ownIndexes
                #expect(used.contains { name in indexes.contains { name.hasPrefix($0) } }, comment)
                // The user owns 1 200 of the posts. What others wrote costs nothing.
                let seen = nodes.filter { $0["Relation Name"] == "documents" }.reduce(0) { sum, node in
                    sum + (node["Actual Rows"]?.double ?? 0) + (node["Rows Removed by Filter"]?.double ?? 0)
                }
                #expect(claims.isEmpty || seen <= 1200, comment)
            }
        }
        // What a listener asks is answered from the index of versions.
        let changes = try await server.query(
            """
            explain (format json) select d.path from switchyard.documents d
              where d.collection = 'posts' and d.collection_id = 'posts' and d.version >= pg_snapshot_xmin(pg_current_snapshot());
            """)
        #expect(changes.contains("documents_changes"))
    }
}
