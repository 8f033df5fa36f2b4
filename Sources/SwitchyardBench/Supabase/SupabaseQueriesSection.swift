#if os(Linux)
    import Switchyard

    /// Queries over a large document table through the client, including the database but not the cache.
    struct SupabaseQueriesSection: BenchSection {
        let name = "queries"

        func run(_ bench: Bench) async throws {
            let site = try SupabaseBenchSite.start(name, bench.settings)
            defer { site.stop() }
            let client = try await site.storage()
            let rounds = bench.settings.count(201, quick: 11)
            let size = Self.sizes(bench.settings)
            await bench.report("documents", Double(size.posts + size.notes), "")
            for (title, query) in try Self.queries(size.posts) {
                var times: [Double] = []
                for round in 0..<rounds + 10 {
                    let start = ContinuousClock.now
                    let found = try await client.documents(query, from: .server).documents.count
                    let seconds = (ContinuousClock.now - start).inSeconds
                    guard found > 0 else { throw BenchFailure("nothing was found: \(title)") }
                    // Skip the first ones, which plan, connect and fill caches.
                    if round >= 10 { times.append(seconds) }
                }
                await bench.report("\(title), median", Statistics.median(times) * 1e3, "ms", .atMost(5))
                await bench.report("\(title), p95", Statistics.percentile(times, 0.95) * 1e3, "ms")
            }
            await client.shutDown()
        }

        private static func queries(_ posts: Int) throws -> [(String, Query)] {
            let all = Query(in: "posts")
            let middle = "p" + String(String(1_000_000 + posts / 2).dropFirst())
            return [
                ("one document", all.where(.documentID, .equal, .string(middle))),
                ("a page of 20", all.limited(to: 20)),
                (
                    "a page behind a cursor",
                    all.ordered(by: .documentID).starting(
                        after: StoragePath(unchecked: "posts/\(middle)").documentValue
                    )
                    .limited(to: 20)
                ),
                ("equality", all.where("city", .equal, "c5").limited(to: 20)),
                ("an element of an array", all.where("tags", .arrayContains, "t7").limited(to: 20)),
                (
                    "a range in order",
                    all.where("score", .greaterThanOrEqual, 5000).where("score", .lessThan, 6000)
                        .ordered(by: "score").limited(to: 20)
                ),
                ("a small collection", Query(in: "users/u17/notes").ordered(by: "n")),
            ]
        }

        private static func sizes(_ settings: BenchSettings) -> (posts: Int, notes: Int) {
            (settings.count(120_000, quick: 12_000), settings.count(80_000, quick: 8_000))
        }

        func runChild(_ task: String, _ settings: BenchSettings) async throws -> Double {
            guard task == "serve" else { throw BenchFailure("no such task") }
            let size = Self.sizes(settings)
            // Triggers would notify listeners, but there are none.
            try await SupabaseBenchSite.serve(
                filling: """
                    set session_replication_role = replica;
                    insert into switchyard.documents (path, data, owner, created_at, updated_at)
                      select 'posts/p' || lpad(n::text, 6, '0'),
                             jsonb_build_object('n', n, 'score', (n * 7919 % 100000) / 10.0, 'city', 'c' || n % 1000,
                                                'tags', jsonb_build_array('t' || n % 500, 'u' || n % 300)),
                             'u' || n % 100, now(), now()
                      from generate_series(1, \(size.posts)) n
                      union all
                      select 'users/u' || n % 4000 || '/notes/n' || n, jsonb_build_object('n', n), 'u' || n % 4000, now(), now()
                      from generate_series(1, \(size.notes)) n;
                    select switchyard.create_index('posts', '[[["score"], "asc"]]');
                    vacuum analyze switchyard.documents;
                    """)
            return 0
        }
    }
#endif
