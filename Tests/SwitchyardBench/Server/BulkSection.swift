#if os(Linux)
    import Switchyard
    import SwitchyardFirebase

    /// Very many concurrent writes on the real Firestore emulator, compared with hand-made batches with the same concurrency.
    struct BulkSection: BenchSection {
        let name = "bulk-writes"
        private static let parallel = 8
        private static let batchSize = 500

        func run(_ bench: Bench) async throws {
            let site = try await FirestoreBenchSite.start()
            defer { site.stop() }
            let backend = try await site.backend()
            let storage = try await backend.actingAsProject().storage
            let count = bench.settings.count(100_000, quick: 2_000)
            let results = try await BenchComparison(rounds: bench.settings.count(5, quick: 1)).run([
                .init("batches by hand") { try await Self.byHand(count, storage) },
                .init("writeInBulk") { try await Self.inBulk(count, storage) },
            ])
            for result in results {
                await bench.report("\(count) writes, \(result.name)", Double(count) / result.seconds, "1/s")
            }
            await bench.report(
                "\(count) writes, rate of writeInBulk, share of batches by hand",
                results[0].seconds / results[1].seconds, "×", .atLeast(0.95))
            await bench.report(
                "\(count) writes, processor time of writeInBulk, times that by hand",
                results[1].cpuSeconds / results[0].cpuSeconds, "×")
            await backend.shutDown()
        }

        private static func write(_ number: Int) -> DocumentWrite {
            let data: DocumentData = [
                "number": .integer(Int64(number)), "name": .string("Product \(number)"),
                "price": .double(Double(number % 997) / 10),
            ]
            return DocumentWrite(path: StoragePath(unchecked: "products/p\(number)"), operation: .set(data))
        }

        private static func inBulk(_ count: Int, _ storage: any StorageClient) async throws {
            var options = BulkOptions()
            options.parallel = parallel
            options.batchSize = batchSize
            let report = try await storage.writeInBulk((0..<count).lazy.map(write), options: options)
            guard report.written == count, report.failed == 0 else { throw BenchFailure("\(report)") }
        }

        private static func byHand(_ count: Int, _ storage: any StorageClient) async throws {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (index, start) in stride(from: 0, to: count, by: batchSize).enumerated() {
                    if index >= parallel { try await group.next() }
                    group.addTask {
                        var batch = WriteBatch()
                        for number in start..<min(start + batchSize, count) { batch.append(write(number)) }
                        try await storage.commit(batch).acknowledged()
                    }
                }
                try await group.waitForAll()
            }
        }
    }
#endif
