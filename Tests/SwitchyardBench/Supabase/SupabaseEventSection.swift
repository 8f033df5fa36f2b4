#if os(Linux)
    import Switchyard
    import SwitchyardBytes
    import SwitchyardServerKit
    import SwitchyardSupabase

    /// The time from the start of a write in the database to the event of a live query, compared with a bare reader of the
    /// table's changes, and with the time of one question to the database: a hint does not say what was written, so the client
    /// has to ask.
    struct SupabaseEventSection: BenchSection {
        let name = "events"

        func run(_ bench: Bench) async throws {
            let site = try SupabaseBenchSite.start(name, bench.settings)
            defer { site.stop() }
            let client = try await site.storage()
            let ours = Arrivals()
            let listener = Task {
                for try await snapshot in client.snapshots(of: Query(in: "events")) {
                    if case .integer(let number)? = snapshot.documents.first?["number"] { ours.note(Int(number)) }
                }
            }
            let count = bench.settings.count(400, quick: 20)
            let (bare, subscribed) = (Arrivals(), Arrivals())
            let reader = Task {
                try await BareRealtimeReader(site: site, schema: "switchyard", table: "documents")
                    .read(count, into: bare) { subscribed.note(0) }
            }
            try await ours.wait(for: 0)
            try await subscribed.wait(for: 0)

            let database = try await site.database()
            var times: (ours: [Double], bare: [Double]) = ([], [])
            for number in 1...count {
                let start = ContinuousClock.now
                _ = try await database.run([Self.write(number)])
                let (mine, theirs) = (try await ours.wait(for: number), try await bare.wait(for: number))
                // Skip the first ones, which plan, connect and join.
                guard number > count / 5 else { continue }
                times.ours.append((mine - start).inSeconds)
                times.bare.append((theirs - start).inSeconds)
            }
            try await reader.value
            listener.cancel()
            database.close()
            await client.shutDown()
            let question = try await Self.question(site, count)
            let (mine, theirs) = (Statistics.median(times.ours) * 1e3, Statistics.median(times.bare) * 1e3)
            await bench.report("event after write, bare reader, median", theirs, "ms")
            await bench.report("event after write, switchyard, median", mine, "ms")
            await bench.report(
                "event after write, switchyard, p95", Statistics.percentile(times.ours, 0.95) * 1e3, "ms")
            await bench.report("event after write, later than the bare reader", mine - theirs, "ms")
            await bench.report("one question over bare libcurl", question, "ms")
            await bench.report(
                "event after write, later than the bare reader and a question", mine - theirs - question, "ms",
                .atMost(0.5))
        }

        /// - Returns: The milliseconds of a question as the client asks it after a hint.
        private static func question(_ site: SupabaseBenchSite, _ count: Int) async throws -> Double {
            let targets: JSON = ["targets": [["id": 1, "query": Query(in: "events").postgres]]]
            let start = ContinuousClock.now
            try await BlockingCurl.posts(
                site.url(ofFunction: "switchyard_changes"), targets.bytes(), headers: site.headers, count: count)
            return (ContinuousClock.now - start).inSeconds / Double(count) * 1e3
        }

        private static func write(_ number: Int) -> PostgresStatement {
            PostgresStatement(
                """
                update switchyard.documents set data = jsonb_build_object('number', $1::int),
                  version = pg_current_xact_id(), updated_at = clock_timestamp() where path = 'events/one'
                """, ["\(number)"], isPrepared: true)
        }

        func runChild(_ task: String, _ settings: BenchSettings) async throws -> Double {
            guard task == "serve" else { throw BenchFailure("no such task") }
            try await SupabaseBenchSite.serve(
                filling: """
                    insert into switchyard.documents (path, data, owner, created_at, updated_at)
                      values ('events/one', '{"number": 0}', 'bench', now(), now());
                    alter publication supabase_realtime add table switchyard.documents;
                    """)
            return 0
        }
    }
#endif
