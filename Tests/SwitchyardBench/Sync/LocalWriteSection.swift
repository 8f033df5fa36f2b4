import Foundation
import Switchyard
import SwitchyardSync

/// The time from a write call to its receipt: the write is then durable, visible and queued. The server never answers.
struct LocalWriteSection: BenchSection {
    let name = "local writes"

    func run(_ bench: Bench) async throws {
        let folder = SyncSample.temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = try await latencies(bench.settings.count(4000, quick: 200), in: .folder(folder))
        await bench.report("durable write, SQLite full synchronous, median", Statistics.median(file) * 1000, "ms")
        await bench.report("durable write, p99", Statistics.percentile(file, 0.99) * 1000, "ms", .atMost(5))
        let memory = try await latencies(bench.settings.count(40_000, quick: 2000), in: .memory)
        await bench.report("write in memory, median", Statistics.median(memory) * 1e6, "µs", .atMost(50))
        await bench.report("write in memory, p99", Statistics.percentile(memory, 0.99) * 1e6, "µs")
    }

    private func latencies(_ count: Int, in storage: SyncStorage) async throws -> [Double] {
        let client = SyncedStorageClient(driver: SilentDriver(), storage: storage)
        var times: [Double] = []
        times.reserveCapacity(count)
        for number in 0..<count + 100 {
            let batch = WriteBatch([try DocumentWrite.set(SyncSample.path(number), data: SyncSample.fields(number))])
            let start = ContinuousClock().now
            try await client.commit(batch)
            if number >= 100 { times.append((ContinuousClock().now - start).inSeconds) }
        }
        await client.shutDown()
        return times
    }
}
