import SwitchyardServerKit

#if os(Linux)
    import Switchyard
    import SwitchyardServerKit
    import SwitchyardSupabase
    import Synchronization

    /// A thousand rows per second, written directly to the database for some seconds: whether the listeners on one channel keep
    /// up.
    struct SupabaseChangesSection: BenchSection {
        let name = "changes"
        private static let (rate, batch, rows) = (1_000, 10, 200)

        func run(_ bench: Bench) async throws {
            let site = try SupabaseBenchSite.start(name, bench.settings)
            defer { site.stop() }
            let last = Self.rate * bench.settings.count(5, quick: 1)
            let database = try await site.database()
            try await rowChanges(bench, site, database, last)
            var configuration = site.configuration
            var table = SupabaseTableMapping(collection: "table", table: "readings", columns: ["number"])
            table.updatedColumn = "updated_at"
            configuration.tables = [table]
            let client = try await SupabaseModule(configuration).makeStorageClient(ModuleContext())
            try await liveQuery("of a table", Query(in: "table"), Self.rowWrite, bench, client, database, last)
            try await liveQuery(
                "of documents", Query(in: "readings"), Self.documentWrite, bench, client, database, last)
            await client.shutDown()
            database.close()
        }

        /// The server's own limit, with almost no client.
        private func rowChanges(
            _ bench: Bench, _ site: SupabaseBenchSite, _ database: PostgresConnection, _ last: Int
        ) async throws {
            let (arrivals, subscribed) = (Arrivals(), Arrivals())
            let reader = Task {
                try await BareRealtimeReader(site: site, schema: "public", table: "readings")
                    .read(last, into: arrivals) { subscribed.note(0) }
            }
            try await subscribed.wait(for: 0)
            let sent = try await write(Self.rowWrite, to: last, database)
            try await reader.value
            await report(bench, "changes of a table, bare reader", sent, arrivals.all, last)
        }

        private func liveQuery(
            _ title: String, _ query: Query, _ statement: @escaping @Sendable (Int) -> PostgresStatement,
            _ bench: Bench, _ client: any StorageClient, _ database: PostgresConnection, _ last: Int
        ) async throws {
            _ = try await database.run([
                PostgresStatement("update public.readings set number = 0, updated_at = clock_timestamp()")
            ])
            let arrivals = Arrivals()
            let newest = Mutex<[Int64]>([])
            let listener = Task {
                for try await snapshot in client.snapshots(of: query) {
                    let numbers = snapshot.documents.compactMap { document -> Int64? in
                        if case .integer(let number)? = document["number"] { number } else { nil }
                    }
                    newest.withLock { $0 = numbers }
                    if numbers.count == Self.rows { arrivals.note(Int(numbers.max() ?? 0)) }
                }
            }
            defer { listener.cancel() }
            try await arrivals.wait(for: 0)
            // Write for a second first, so that the channel is joined and statements are planned.
            _ = try await write(statement, to: Self.rate, database)
            try await arrivals.wait(for: Self.rate)
            let sent = try await write(statement, from: Self.rate, to: Self.rate + last, database)
            try await arrivals.wait(for: Self.rate + last)
            guard newest.withLock({ $0.allSatisfy { $0 > Self.rate + last - Self.rows } }) else {
                throw BenchFailure("a change did not come")
            }
            await report(bench, "live query \(title)", sent, arrivals.all, Self.rate + last)
        }

        /// - Returns: The time of each batch, by its largest number.
        private func write(
            _ statement: (Int) -> PostgresStatement, from begin: Int = 0, to last: Int, _ database: PostgresConnection
        ) async throws -> [Int: ContinuousClock.Instant] {
            var sent: [Int: ContinuousClock.Instant] = [:]
            let start = ContinuousClock.now
            for first in stride(from: begin, to: last, by: Self.batch) {
                try await ContinuousClock().sleep(until: start + .seconds(Double(first - begin) / Double(Self.rate)))
                sent[first + Self.batch] = .now
                _ = try await database.run([statement(first)])
            }
            return sent
        }

        private func report(
            _ bench: Bench, _ title: String, _ sent: [Int: ContinuousClock.Instant],
            _ seen: [Int: ContinuousClock.Instant], _ last: Int
        ) async {
            let lags = sent.compactMap { number, time in seen[number].map { ($0 - time).inSeconds * 1e3 } }
            let first = sent.values.min() ?? .now
            let written = ((sent[last] ?? .now) - first).inSeconds
            await bench.report("\(title), written", Double((sent.count - 1) * Self.batch) / written, "rows/s")
            await bench.report("\(title), behind, median", Statistics.median(lags), "ms")
            await bench.report("\(title), behind, p95", Statistics.percentile(lags, 0.95), "ms")
            if let (end, time) = seen[last].flatMap({ end in sent[last].map { (end, $0) } }) {
                await bench.report("\(title), behind at the end", (end - time).inSeconds * 1e3, "ms", .atMost(500))
            }
        }

        // MARK: Writes

        /// Writes the ten numbers after `first` to rows.
        private static func rowWrite(_ first: Int) -> PostgresStatement {
            PostgresStatement(
                """
                update public.readings r set number = n, updated_at = clock_timestamp()
                from generate_series($1::int + 1, $1::int + \(batch)) n where r.id = 'r' || n % \(rows)
                """, ["\(first)"], isPrepared: true)
        }

        private static func documentWrite(_ first: Int) -> PostgresStatement {
            PostgresStatement(
                """
                update switchyard.documents d set data = jsonb_build_object('number', n),
                  version = pg_current_xact_id(), updated_at = clock_timestamp()
                from generate_series($1::int + 1, $1::int + \(batch)) n where d.path = 'readings/r' || n % \(rows)
                """, ["\(first)"], isPrepared: true)
        }

        // MARK: The server process

        func runChild(_ task: String, _ settings: BenchSettings) async throws -> Double {
            guard task == "serve" else { throw BenchFailure("no such task") }
            try await SupabaseBenchSite.serve(
                filling: """
                    create table public.readings (id text primary key, number int not null, updated_at timestamptz not null);
                    insert into public.readings select 'r' || n, 0, now() from generate_series(0, \(Self.rows - 1)) n;
                    grant select on public.readings to service_role;
                    alter publication supabase_realtime add table public.readings;
                    insert into switchyard.documents (path, data, owner, created_at, updated_at)
                      select 'readings/r' || n, '{"number": 0}', 'bench', now(), now() from generate_series(0, \(Self.rows - 1)) n;
                    """)
            return 0
        }
    }
#endif
