#if os(Linux)
    import Switchyard

    /// Writes that wait for the server's answer, one after the other and sixteen at once, each of a different document. Batches
    /// that wait share a call, so many at once are much faster.
    struct SupabaseWritesSection: BenchSection {
        let name = "writes"

        private static let concurrency = 16

        func run(_ bench: Bench) async throws {
            let site = try SupabaseBenchSite.start(name, bench.settings)
            defer { site.stop() }
            let storage = try await site.storage()
            let single = bench.settings.count(200, quick: 16)
            let each = bench.settings.count(40, quick: 4)
            let results = try await BenchComparison(rounds: bench.settings.count(7, quick: 1), warmUps: 1).run([
                .init("one after the other") { try await Self.write(single, as: 0, to: storage) },
                .init("\(Self.concurrency) at once") {
                    try await withThrowingTaskGroup(of: Void.self) { group in
                        for task in 1...Self.concurrency {
                            group.addTask { try await Self.write(each, as: task, to: storage) }
                        }
                        try await group.waitForAll()
                    }
                },
            ])
            let rates = [Double(single) / results[0].seconds, Double(each * Self.concurrency) / results[1].seconds]
            for (result, rate) in zip(results, rates) { await bench.report("writes, \(result.name)", rate, "writes/s") }
            await bench.report(
                "writes, \(Self.concurrency) at once ÷ one after the other", rates[1] / rates[0], "×", .atLeast(3))
            await storage.shutDown()
        }

        private static func write(_ count: Int, as task: Int, to storage: any StorageClient) async throws {
            for number in 0..<count {
                let receipt = try await storage.setDocument(
                    StoragePath(unchecked: "writes/t\(task)n\(number)"), ["number": .of(number), "at": .serverTime])
                try await receipt.acknowledged()
            }
        }

        func runChild(_ task: String, _ settings: BenchSettings) async throws -> Double {
            guard task == "serve" else { throw BenchFailure("no such task") }
            try await SupabaseBenchSite.serve(filling: "select 1;")
            return 0
        }
    }
#endif
