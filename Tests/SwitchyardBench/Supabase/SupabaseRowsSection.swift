#if os(Linux)
    import Foundation
    import Switchyard
    import SwitchyardBytes
    import SwitchyardProviderKit
    import SwitchyardSupabase
    import SwitchyardWire

    /// Rows of a table from a database function, compared with a bare libcurl loop with the same requests; and the cost of
    /// decoding them.
    struct SupabaseRowsSection: BenchSection {
        let name = "rows"

        func run(_ bench: Bench) async throws {
            let site = try SupabaseBenchSite.start(name, bench.settings)
            defer { site.stop() }
            let storage = try await site.storage()
            guard let functions = storage.unwrapped(as: SupabaseStorageAdapter.self)?.functions else {
                throw BenchFailure("the client has no functions")
            }
            for concurrency in [1, 16] { try await one(bench, site, functions, concurrency) }
            try await thousand(bench, site, functions)
            await storage.shutDown()
        }

        private func one(
            _ bench: Bench, _ site: SupabaseBenchSite, _ functions: SupabaseFunctions, _ concurrency: Int
        ) async throws {
            let count = bench.settings.count(concurrency == 1 ? 1_000 : 3_200, quick: 64)
            let address = site.url(ofFunction: "bench_row")
            let results = try await BenchComparison(rounds: bench.settings.count(7, quick: 1), warmUps: 2).run([
                .init("blocking libcurl") {
                    try await Self.spread(count, concurrency) { count in
                        try await BlockingCurl.posts(
                            address, Array(#"{"number":7}"#.utf8), headers: site.headers, count: count)
                    }
                },
                .init("switchyard") {
                    try await Self.spread(count, concurrency) { count in
                        for _ in 0..<count {
                            let row = try await functions.callDatabase(
                                "bench_row", ["number": 7], as: JSONCodingBench.Row.self, isIdempotent: true)
                            guard row.age > 0 else { throw BenchFailure("a wrong answer") }
                        }
                    }
                },
            ])
            let title = concurrency == 1 ? "one row" : "one row, \(concurrency) at once"
            for result in results {
                await bench.report("\(title), \(result.name)", Double(count) / result.seconds, "req/s")
            }
            await bench.report(
                "\(title), share of blocking libcurl", results[0].seconds / results[1].seconds, "×", .atLeast(0.85))
        }

        private func thousand(_ bench: Bench, _ site: SupabaseBenchSite, _ functions: SupabaseFunctions) async throws {
            let repeats = bench.settings.count(20, quick: 1)
            let address = site.url(ofFunction: "bench_rows")
            let transport = CurlTransport()
            var request = HTTPRequest(.post, address, body: Array("{}".utf8), isIdempotent: true)
            request.headers = [
                "apikey": site.key, "Authorization": "Bearer \(site.key)", "Content-Type": "application/json",
            ]
            let (bytes, prepared) = (try await transport.send(request).body, request)
            await bench.report("1000 rows, size of the answer", Double(bytes.count) / 1e3, "kB")

            let results = try await BenchComparison(rounds: bench.settings.count(9, quick: 1), warmUps: 2).run([
                .init("blocking libcurl") {
                    try await BlockingCurl.posts(
                        address, Array("{}".utf8), headers: site.headers, count: repeats)
                },
                .init("switchyard, bytes alone") {
                    for _ in 0..<repeats { _ = try await transport.send(prepared).body.count }
                },
                .init("switchyard, decoded") {
                    for _ in 0..<repeats {
                        let rows = try await functions.callDatabase(
                            "bench_rows", as: [JSONCodingBench.Row].self, isIdempotent: true)
                        guard rows.count == 1_000 else { throw BenchFailure("a wrong answer") }
                    }
                },
            ])
            for result in results {
                await bench.report("1000 rows, \(result.name)", Double(repeats) / result.seconds, "req/s")
            }
            await bench.report(
                "1000 rows, bytes alone, share of blocking libcurl", results[0].seconds / results[1].seconds, "×",
                .atLeast(0.85))
            await transport.shutDown()
            try await decoding(bench, bytes, repeats)
        }

        private func decoding(_ bench: Bench, _ bytes: [UInt8], _ repeats: Int) async throws {
            let (data, theirs) = (Data(bytes), JSONDecoder())
            theirs.dateDecodingStrategy = .iso8601
            guard
                try JSONBytesDecoder().decode([JSONCodingBench.Row].self, from: bytes)
                    == theirs.decode([JSONCodingBench.Row].self, from: data)
            else { throw BenchFailure("the decoders do not agree") }
            let results = try await BenchComparison(rounds: bench.settings.count(9, quick: 1)).run([
                .init("decode") {
                    try (0..<repeats).map { _ in
                        try JSONBytesDecoder().decode([JSONCodingBench.Row].self, from: bytes)
                    }
                },
                .init("JSONDecoder") {
                    try (0..<repeats).map { _ in try theirs.decode([JSONCodingBench.Row].self, from: data) }
                },
            ])
            let milliseconds = results.map { $0.cpuSeconds / Double(repeats) * 1e3 }
            await bench.report("decode 1000 rows, processor time", milliseconds[0], "ms", .atMost(2))
            await bench.report("JSONDecoder, processor time", milliseconds[1], "ms")
            await bench.report("JSONDecoder ÷ decode", milliseconds[1] / milliseconds[0], "×", .atLeast(2.4))
        }

        static func spread(
            _ count: Int, _ concurrency: Int, _ work: @escaping @Sendable (Int) async throws -> Void
        ) async throws {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<concurrency { group.addTask { try await work(count / concurrency) } }
                try await group.waitForAll()
            }
        }

        // MARK: The server process

        func runChild(_ task: String, _ settings: BenchSettings) async throws -> Double {
            guard task == "serve" else { throw BenchFailure("no such task") }
            try await SupabaseBenchSite.serve(filling: Self.rows)
            return 0
        }

        /// Rows with the fields of `JSONCodingBench.Row`, as returned by a project's own function.
        static let rows = """
            create table public.bench (
              number int primary key, id uuid not null, "createdAt" timestamptz not null, "updatedAt" timestamptz not null,
              name text not null, email text not null, age int not null, score double precision not null,
              "isActive" boolean not null, team text, tags text[] not null, note text not null);
            insert into public.bench
              select n, md5(n::text)::uuid, to_timestamp(1700000000 + n * 4999), to_timestamp(1750000000 + n * 997),
                     'Person ' || n, 'p' || n || '@example.org', 18 + n % 70, n * 7919 % 100000 / 100.0, n % 2 = 0,
                     case when n % 3 > 0 then 'team-' || n % 40 end, array['alpha', 'beta' || n % 100], 'A few words, ' || n
              from generate_series(1, 1000) n;
            analyze public.bench;
            create function public.bench_row(number int) returns json language sql stable
              as $$ select to_json(b) from public.bench b where b.number = bench_row.number $$;
            create function public.bench_rows() returns json language sql stable
              as $$ select json_agg(b order by b.number) from public.bench b $$;
            grant select on public.bench to service_role;
            """
    }
#endif
