#if os(Linux)
    import Switchyard
    import SwitchyardBytes
    import SwitchyardServerKit
    import SwitchyardSupabase

    /// Queries over a large document table through the client, including the database but not the cache; and the time that the
    /// database itself takes for them while it has nothing else to do.
    struct SupabaseQueriesSection: BenchSection {
        let name = "queries"

        func run(_ bench: Bench) async throws {
            let site = try SupabaseBenchSite.start(name, bench.settings)
            defer { site.stop() }
            let client = try await site.storage()
            let database = try await site.database()
            let rounds = bench.settings.count(201, quick: 11)
            let size = Self.sizes(bench.settings)
            await bench.report("documents", Double(size.posts + size.notes), "")
            for (title, query) in try Self.queries(size.posts) {
                let times = try await Self.times(rounds) {
                    let start = ContinuousClock.now
                    let found = try await client.documents(query, from: .server).documents.count
                    guard found > 0 else { throw BenchFailure("nothing was found: \(title)") }
                    return (ContinuousClock.now - start).inSeconds
                }
                let alone = PostgresStatement("select bench_time($1)", [query.postgres.text()], isKept: true)
                let inDatabase = try await Self.times(rounds / 5) {
                    guard let seconds = try await database.run([alone])[0].text.flatMap(Double.init) else {
                        throw BenchFailure("the database did not report its time")
                    }
                    return seconds
                }
                await bench.report("\(title), median", Statistics.median(times) * 1e3, "ms", .atMost(5))
                await bench.report("\(title), p95", Statistics.percentile(times, 0.95) * 1e3, "ms")
                await bench.report(
                    "\(title), in the database, median", Statistics.median(inDatabase) * 1e3, "ms", .atMost(1.5))
            }
            try await Self.own(bench, database, rounds / 5)
            database.close()
            await client.shutDown()
        }

        /// What a caller sees who owns 100 documents of a collection, in the database alone.
        private static func own(_ bench: Bench, _ database: PostgresConnection, _ rounds: Int) async throws {
            let calls = [
                (
                    "own documents: newest 60 of 100",
                    #"public.switchyard_query('{"in": "diary", "orders": [[["n"], "desc"], [null, "desc"]], "first": 60}')"#
                ),
                (
                    "own documents: a page of 20",
                    #"public.switchyard_query('{"in": "diary", "orders": [[null, "asc"]], "first": 20}')"#
                ),
                (
                    "own check-ins by the rule “domain”",
                    #"public.switchyard_query('{"in": "checkIns", "orders": [[null, "asc"]]}')"#
                ),
                ("collections", "public.switchyard_collections()"),
            ]
            try await database.run(
                script: """
                    select set_config('request.jwt.claims', '{"sub": "u17", "role": "authenticated"}', false);
                    set role authenticated;
                    """)
            for (title, call) in calls {
                let times = try await times(rounds) {
                    let statement = PostgresStatement("select public.bench_call($1)", [call], isKept: true)
                    guard let seconds = try await database.run([statement])[0].text.flatMap(Double.init) else {
                        throw BenchFailure("the database did not report its time")
                    }
                    return seconds
                }
                await bench.report("\(title), in the database", Statistics.median(times) * 1e3, "ms", .atMost(5))
            }
        }

        /// Skips the first ones, which plan, connect and fill caches.
        private static func times(_ rounds: Int, _ one: () async throws -> Double) async throws -> [Double] {
            var times: [Double] = []
            for _ in 0..<rounds + 10 { times.append(try await one()) }
            return Array(times.dropFirst(10))
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

        private static func sizes(_ settings: BenchSettings) -> (posts: Int, notes: Int, own: Int) {
            (
                settings.count(120_000, quick: 12_000), settings.count(80_000, quick: 8_000),
                settings.count(200_000, quick: 20_000)
            )
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
                      from generate_series(1, \(size.notes)) n
                      union all
                      select 'diary/d' || n, jsonb_build_object('n', n), 'u' || n % \(max(1, size.own / 100)), now(), now()
                      from generate_series(1, \(size.own)) n
                      union all
                      select 'checkIns/c' || n, jsonb_build_object('userID', 'u' || n % \(max(1, size.own / 100))),
                             'u' || n % \(max(1, size.own / 100)), now(), now()
                      from generate_series(1, \(size.own)) n;
                    insert into switchyard.rules values ('checkIns', 'domain', 'domain') on conflict do nothing;
                    create function public.bench_call(call text) returns float8 language plpgsql as $$
                    declare
                      start timestamptz := clock_timestamp();
                      found jsonb;
                    begin
                      for each in 1 .. 10 loop execute 'select ' || call into found; end loop;
                      return extract(epoch from clock_timestamp() - start) / 10;
                    end $$;
                    create function bench_time(query jsonb) returns float8 language plpgsql as $$
                    declare
                      start timestamptz := clock_timestamp();
                    begin
                      for each in 1 .. 10 loop perform public.switchyard_query(query); end loop;
                      return extract(epoch from clock_timestamp() - start) / 10;
                    end $$;
                    select switchyard.create_index('posts', '[[["score"], "asc"]]');
                    vacuum analyze switchyard.documents;
                    """)
            return 0
        }
    }
#endif
