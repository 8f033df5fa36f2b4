#if os(Linux)
    import Switchyard
    import SwitchyardFirebase

    /// Single documents, one at a time and sixteen at once, compared with a bare libcurl loop with the same bodies.
    struct FirestoreRequestSection: BenchSection {
        let name = "firestore-requests"

        func run(_ bench: Bench) async throws {
            let site = try await FirestoreBenchSite.start()
            defer { site.stop() }
            let client = try await site.client()
            for number in 0..<16 { try await set(client, number, to: 0) }
            // The emulator compiles what it runs often, so warm up before measuring.
            for concurrency in [1, 16] {
                let count = bench.settings.count(concurrency == 1 ? 800 : 2_400, quick: 64)
                try await compare(bench, "get", concurrency, count) { worker, count, handsOver in
                    let body = try site.getBody(path(worker))
                    try await BlockingCurl.posts(site.url("batchGet"), count: count, handsOver: handsOver) { _ in body }
                } ours: { worker, count in
                    for _ in 0..<count {
                        guard try await client.document(path(worker), from: .server).exists else {
                            throw BenchFailure("a wrong answer")
                        }
                    }
                }
                // A different value each time: a write without a change is less work for the server.
                try await compare(bench, "set", concurrency, count) { worker, count, handsOver in
                    let path = try path(worker)
                    try await BlockingCurl.posts(site.url("commit"), count: count, handsOver: handsOver) {
                        site.setBody([path], $0)
                    }
                } ours: { worker, count in
                    for number in 0..<count { try await set(client, worker, to: number) }
                }
            }
            let count = bench.settings.count(20, quick: 2)
            try await compare(bench, "batch of \(Self.batch)", 1, count) { _, count, handsOver in
                let paths = try (0..<Self.batch).map { try path($0) }
                try await BlockingCurl.posts(site.url("commit"), count: count, handsOver: handsOver) {
                    site.setBody(paths, $0)
                }
            } ours: { _, count in
                for number in 0..<count {
                    var batch = WriteBatch()
                    for index in 0..<Self.batch { batch.append(try .set(path(index), document(number))) }
                    try await client.commit(batch).acknowledged()
                }
            }
            await client.shutDown()
        }

        /// The writes in a batch: as many as the server takes.
        private static let batch = 500

        private func compare(
            _ bench: Bench, _ what: String, _ concurrency: Int, _ count: Int,
            bare: @escaping @Sendable (_ worker: Int, _ count: Int, _ handsOver: Bool) async throws -> Void,
            ours: @escaping @Sendable (Int, Int) async throws -> Void
        ) async throws {
            let results = try await BenchComparison(rounds: bench.settings.count(7, quick: 1), warmUps: 2).run([
                .init("blocking libcurl") { try await spread(count, concurrency) { try await bare($0, $1, false) } },
                .init("switchyard") { try await spread(count, concurrency, ours) },
                .init("libcurl on a second thread") {
                    try await spread(count, concurrency) { try await bare($0, $1, true) }
                },
            ])
            let title = concurrency == 1 ? what : "\(what), \(concurrency) at once"
            for result in results {
                await bench.report("\(title), \(result.name)", Double(count) / result.seconds, "req/s")
            }
            for result in results {
                await bench.report("\(title), \(result.name), CPU", result.cpuSeconds / Double(count) * 1e6, "µs")
                await bench.report("\(title), \(result.name), wake-ups", result.wakeUps / Double(count), "")
            }
            await bench.report(
                "\(title), share of blocking libcurl", results[0].seconds / results[1].seconds, "×", .atLeast(0.85))
            await bench.report(
                "\(title), share of libcurl on a second thread", results[2].seconds / results[1].seconds, "×")
        }

        private func spread(
            _ count: Int, _ concurrency: Int, _ work: @escaping @Sendable (Int, Int) async throws -> Void
        ) async throws {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for worker in 0..<concurrency { group.addTask { try await work(worker, count / concurrency) } }
                try await group.waitForAll()
            }
        }

        private func path(_ worker: Int) throws -> StoragePath { CollectionPath("bench").document("d\(worker)") }

        private func set(_ client: any StorageClient, _ worker: Int, to number: Int) async throws {
            try await client.setDocument(path(worker), document(number)).acknowledged()
        }

        private func document(_ number: Int) -> WriteFields {
            ["number": .of(number), "name": "Alice", "isActive": true]
        }
    }
#endif
