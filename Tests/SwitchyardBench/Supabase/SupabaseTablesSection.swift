#if os(Linux)
    import Foundation
    import Switchyard
    import SwitchyardBytes
    import SwitchyardProviderKit
    import SwitchyardSupabase
    import SwitchyardWire

    /// Mapped tables over plain requests, compared with a bare libcurl loop with the same requests.
    struct SupabaseTablesSection: BenchSection {
        let name = "tables"

        private static let thingsSelected = "id,number,title,xmin"

        func run(_ bench: Bench) async throws {
            let site = try SupabaseBenchSite.start(name, bench.settings)
            defer { site.stop() }
            let storage = try await site.storage(Self.tables)
            for concurrency in [1, 16] {
                try await gets(bench, site, storage, concurrency)
                try await sets(bench, site, storage, concurrency)
            }
            try await thousand(bench, site, storage)
            try await page(bench, site, storage)
            try await documents(bench, site, storage)
            await storage.shutDown()
        }

        // MARK: One row

        private func gets(
            _ bench: Bench, _ site: SupabaseBenchSite, _ storage: any StorageClient, _ concurrency: Int
        ) async throws {
            let count = bench.settings.count(concurrency == 1 ? 1_000 : 3_200, quick: 64)
            let table = "\(site.url)/rest/v1/things"
            let results = try await BenchComparison(rounds: bench.settings.count(7, quick: 1), warmUps: 2).run([
                .init("blocking libcurl") {
                    try await SupabaseRowsSection.spread(count, concurrency) { count in
                        try await BlockingCurl.gets(headers: site.headers, count: count) {
                            "\(table)?id=eq.t\($0 % 1_000)&select=\(Self.thingsSelected)"
                        }
                    }
                },
                .init("switchyard") {
                    try await SupabaseRowsSection.spread(count, concurrency) { count in
                        for number in 0..<count {
                            let path = StoragePath(unchecked: "things/t\(number % 1_000)")
                            guard try await storage.document(path, from: .server).exists else {
                                throw BenchFailure("a row is missing")
                            }
                        }
                    }
                },
                .init("libcurl on a second thread") {
                    try await SupabaseRowsSection.spread(count, concurrency) { count in
                        try await BlockingCurl.gets(headers: site.headers, count: count, handsOver: true) {
                            "\(table)?id=eq.t\($0 % 1_000)&select=\(Self.thingsSelected)"
                        }
                    }
                },
            ])
            await report(bench, "get", concurrency, count, results, .atLeast(0.8))
        }

        private func sets(
            _ bench: Bench, _ site: SupabaseBenchSite, _ storage: any StorageClient, _ concurrency: Int
        ) async throws {
            let count = bench.settings.count(concurrency == 1 ? 500 : 1_600, quick: 64)
            let table = "\(site.url)/rest/v1/things?on_conflict=id&select=\(Self.thingsSelected)"
            let headers = site.headers + ["Prefer: return=representation,resolution=merge-duplicates"]
            let each = count / concurrency
            let results = try await BenchComparison(rounds: bench.settings.count(7, quick: 1), warmUps: 1).run([
                .init("blocking libcurl") {
                    try await Self.spread(concurrency) { task in
                        try await BlockingCurl.posts(table, headers: headers, count: each) { number in
                            Array(#"{"id":"c\#(task)n\#(number)","number":\#(number),"title":"A title"}"#.utf8)
                        }
                    }
                },
                .init("switchyard") {
                    try await Self.spread(concurrency) { task in
                        for number in 0..<each {
                            let receipt = try await storage.setDocument(
                                StoragePath(unchecked: "things/s\(task)n\(number)"),
                                ["number": .of(number), "title": "A title"])
                            try await receipt.acknowledged()
                        }
                    }
                },
                .init("libcurl on a second thread") {
                    try await Self.spread(concurrency) { task in
                        try await BlockingCurl.posts(table, headers: headers, count: each, handsOver: true) { number in
                            Array(#"{"id":"d\#(task)n\#(number)","number":\#(number),"title":"A title"}"#.utf8)
                        }
                    }
                },
            ])
            await report(bench, "set", concurrency, count, results, .atLeast(0.8))
        }

        private func report(
            _ bench: Bench, _ title: String, _ concurrency: Int, _ count: Int, _ results: [BenchComparison.Result],
            _ mark: Figure.Mark
        ) async {
            let title = concurrency == 1 ? title : "\(title), \(concurrency) at once"
            for result in results {
                await bench.report("\(title), \(result.name)", Double(count) / result.seconds, "req/s")
            }
            await bench.report(
                "\(title), share of blocking libcurl", results[0].seconds / results[1].seconds, "×", mark)
            await bench.report(
                "\(title), share of libcurl on a second thread", results[2].seconds / results[1].seconds, "×")
            for result in results {
                await bench.report(
                    "\(title), \(result.name), processor time", result.cpuSeconds / Double(count) * 1e6, "µs")
                await bench.report("\(title), \(result.name), wake-ups", result.wakeUps / Double(count), "")
            }
        }

        // MARK: Many rows

        private func thousand(
            _ bench: Bench, _ site: SupabaseBenchSite, _ storage: any StorageClient
        ) async throws {
            let repeats = bench.settings.count(20, quick: 1)
            let columns = Self.rowColumns.map { $0.lowercased() == $0 ? $0 : "%22\($0)%22" }.joined(separator: ",")
            let address = "\(site.url)/rest/v1/bench?select=number,\(columns),xmin&order=number"
            let transport = CurlTransport()
            var request = HTTPRequest(.get, address, isIdempotent: true)
            request.headers = ["apikey": site.key, "Authorization": "Bearer \(site.key)"]
            let (bytes, prepared) = (try await transport.send(request).body, request)
            await bench.report("query of 1000, size of the answer", Double(bytes.count) / 1e3, "kB")
            let people = storage.collection("bench", of: JSONCodingBench.Row.self)
            // From then on the service is known to give more than a thousand at once, so none of them may be missing.
            _ = try await storage.documents(Query(in: "many").limited(to: 1_100), from: .server)
            let results = try await BenchComparison(rounds: bench.settings.count(9, quick: 1), warmUps: 2).run([
                .init("blocking libcurl") {
                    try await BlockingCurl.gets(headers: site.headers, count: repeats) { _ in address }
                },
                .init("switchyard, bytes alone") {
                    for _ in 0..<repeats { _ = try await transport.send(prepared).body.count }
                },
                .init("decoding from memory") {
                    for _ in 0..<repeats {
                        let rows = try JSONBytesDecoder().decode([JSONCodingBench.Row].self, from: bytes)
                        guard rows.count == 1_000 else { throw BenchFailure("a wrong answer") }
                    }
                },
                .init("switchyard, typed") {
                    for _ in 0..<repeats {
                        let rows = try await people.documents(from: .server).map { $0 }
                        guard rows.count == 1_000 else { throw BenchFailure("a wrong answer") }
                    }
                },
                .init("libcurl and decoding") {
                    try await BlockingCurl.gets(headers: site.headers, count: repeats) { _ in
                        let rows = try JSONBytesDecoder().decode([JSONCodingBench.Row].self, from: bytes)
                        guard rows.count == 1_000 else { throw BenchFailure("a wrong answer") }
                        return address
                    }
                },
            ])
            for result in results where result.name != "decoding from memory" {
                await bench.report("query of 1000, \(result.name)", Double(repeats) / result.seconds, "req/s")
            }
            for result in results {
                await bench.report(
                    "query of 1000, \(result.name), processor time", result.cpuSeconds / Double(repeats) * 1e3, "ms")
            }
            await bench.report(
                "query of 1000, share of blocking libcurl", results[0].seconds / results[3].seconds, "×", .atLeast(0.8))
            await bench.report(
                "query of 1000, share of libcurl and decoding", results[4].seconds / results[3].seconds, "×")
            await bench.report(
                "query of 1000, processor time ÷ that of decoding", results[3].cpuSeconds / results[2].cpuSeconds, "×",
                .atMost(1.3))
            await transport.shutDown()
        }

        private func page(_ bench: Bench, _ site: SupabaseBenchSite, _ storage: any StorageClient) async throws {
            let repeats = bench.settings.count(100, quick: 5)
            let address =
                "\(site.url)/rest/v1/many?select=id,rank,title,xmin&order=rank.desc&limit=20"
            let query = Query(in: "many").ordered(by: "rank", .descending).limited(to: 20)
            let results = try await BenchComparison(rounds: bench.settings.count(7, quick: 1), warmUps: 2).run([
                .init("blocking libcurl") {
                    try await BlockingCurl.gets(headers: site.headers, count: repeats) { _ in address }
                },
                .init("switchyard") {
                    for _ in 0..<repeats {
                        guard try await storage.documents(query, from: .server).documents.count == 20 else {
                            throw BenchFailure("a wrong answer")
                        }
                    }
                },
            ])
            let milliseconds = results.map { $0.seconds / Double(repeats) * 1e3 }
            await bench.report("20 of many in order, blocking libcurl", milliseconds[0], "ms")
            await bench.report("20 of many in order, switchyard", milliseconds[1], "ms")
            await bench.report(
                "20 of many in order, share of blocking libcurl", milliseconds[0] / milliseconds[1], "×", .atLeast(0.8))
        }

        /// As many documents, through the function for queries, beside a plain select of the same bytes.
        private func documents(
            _ bench: Bench, _ site: SupabaseBenchSite, _ storage: any StorageClient
        ) async throws {
            let repeats = bench.settings.count(20, quick: 1)
            let address = "\(site.url)/rest/v1/plain?select=path,data,created_at,updated_at&order=path"
            let results = try await BenchComparison(rounds: bench.settings.count(9, quick: 1), warmUps: 2).run([
                .init("plain select by libcurl") {
                    try await BlockingCurl.gets(headers: site.headers, count: repeats) { _ in address }
                },
                .init("switchyard") {
                    for _ in 0..<repeats {
                        guard try await storage.documents(Query(in: "people"), from: .server).documents.count == 1_000
                        else { throw BenchFailure("a wrong answer") }
                    }
                },
            ])
            for result in results {
                await bench.report("1000 documents, \(result.name)", Double(repeats) / result.seconds, "req/s")
            }
            await bench.report(
                "1000 documents, share of the plain select", results[0].seconds / results[1].seconds, "×", .atLeast(0.8)
            )
        }

        private static func spread(
            _ concurrency: Int, _ work: @escaping @Sendable (Int) async throws -> Void
        ) async throws {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for task in 0..<concurrency { group.addTask { try await work(task) } }
                try await group.waitForAll()
            }
        }

        // MARK: The server process

        static let rowColumns = [
            "id", "createdAt", "updatedAt", "name", "email", "age", "score", "isActive", "team", "tags", "note",
        ]

        private static let tables = [
            SupabaseTableMapping(collection: "things", table: "things", columns: ["number", "title"]),
            SupabaseTableMapping(collection: "many", table: "many", columns: ["rank", "title"]),
            {
                var mapping = SupabaseTableMapping(collection: "bench", table: "bench", columns: rowColumns)
                mapping.idColumn = "number"
                return mapping
            }(),
        ]

        func runChild(_ task: String, _ settings: BenchSettings) async throws -> Double {
            guard task == "serve" else { throw BenchFailure("no such task") }
            try await SupabaseBenchSite.serve(
                filling: SupabaseRowsSection.rows + """
                    create table public.things (id text primary key, number int not null, title text not null);
                    insert into public.things select 't' || n, n, 'A title' from generate_series(0, 999) n;
                    create table public.many (id bigint primary key, rank int, title text not null);
                    insert into public.many
                      select n, n * 7919::bigint % 1000003, 'Number ' || n
                      from generate_series(1, \(settings.count(1_000_000, quick: 20_000))) n;
                    create index on public.many (rank);
                    insert into switchyard.documents (path, data, owner, created_at, updated_at)
                      select 'people/p' || lpad(number::text, 4, '0'), to_jsonb(b) - 'number', 'u1', now(), now() from public.bench b;
                    create table public.plain as select path, data, created_at, updated_at from switchyard.documents;
                    grant select on public.plain to anon;
                    analyze public.things, public.many, public.plain, switchyard.documents;
                    grant all on public.bench, public.things, public.many to anon;
                    """)
            return 0
        }
    }
#endif
