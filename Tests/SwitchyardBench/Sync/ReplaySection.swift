import Foundation
import Switchyard
import SwitchyardConformance
import SwitchyardSync

/// A queue that has grown offline and is then sent in order; and the engine's memory meanwhile.
struct ReplaySection: BenchSection {
    let name = "replay"

    func run(_ bench: Bench) async throws {
        let count = bench.settings.count(10_000, quick: 1000)
        for (task, title) in [("memory", "in memory"), ("sqlite", "over SQLite")] {
            let rate = try await bench.inChild(task, rounds: bench.settings.count(5, quick: 1))
            await bench.report("\(count) queued writes, \(title)", rate, "1/s", .atLeast(5000))
        }
        // The time of each stays the same unless every acknowledgement visits all of them.
        let few = try await bench.inChild("few of one", rounds: bench.settings.count(5, quick: 1))
        let many = try await bench.inChild("all of one", rounds: bench.settings.count(5, quick: 1))
        await bench.report(
            "\(count) queued increments of one document, time of each ÷ among \(count / 4)", few / many, "×",
            .atMost(1.5))
        for (task, title) in [
            ("resident queue", "resident memory ÷ data, \(count) queued writes of 1 KB"),
            ("resident view", "resident memory ÷ data, a live query of \(count) of 1 KB"),
        ] {
            let share = try await bench.inChild(task, rounds: bench.settings.count(5, quick: 1))
            await bench.report(title, share, "×", .atMost(3))
        }
    }

    func runChild(_ task: String, _ settings: BenchSettings) async throws -> Double {
        let count = settings.count(10_000, quick: 1000)
        switch task {
        case "memory": return try await replay(count, .memory)
        case "sqlite":
            let folder = SyncSample.temporaryFolder()
            defer { try? FileManager.default.removeItem(at: folder) }
            return try await replay(count, .folder(folder))
        case "few of one": return try await replay(count / 4, .memory, of: Self.increment)
        case "all of one": return try await replay(count, .memory, of: Self.increment)
        case "resident queue": return try await queueShare(count)
        case "resident view": return try viewShare(count)
        default: throw BenchFailure("no such task")
        }
    }

    /// Acknowledged writes per second.
    private func replay(
        _ count: Int, _ storage: SyncStorage, of write: (Int) throws -> DocumentWrite = { try Self.write($0) }
    ) async throws -> Double {
        let server = ModelServer()
        let client = SyncedStorageClient(driver: ModelDriver(server), storage: storage)
        try await client.disableNetwork()
        var paths = Set<StoragePath>()
        for number in 0..<count {
            let write = try write(number)
            paths.insert(write.path)
            try await client.commit(WriteBatch([write]))
        }
        let start = ContinuousClock().now
        try await client.enableNetwork()
        try await client.waitForPendingWrites()
        let time = (ContinuousClock().now - start).inSeconds
        guard server.documents.count == paths.count else { throw BenchFailure("writes are missing") }
        await client.shutDown()
        return Double(count) / time
    }

    private func fill(_ client: SyncedStorageClient, _ count: Int, words: Int = 30) async throws {
        try await client.disableNetwork()
        for number in 0..<count { try await client.commit(WriteBatch([Self.write(number, words)])) }
    }

    private static func write(_ number: Int, _ words: Int = 30) throws -> DocumentWrite {
        try DocumentWrite.set(SyncSample.path(number), data: SyncSample.fields(number, words: words))
    }

    private static func increment(_: Int) throws -> DocumentWrite {
        try DocumentWrite.merge("counters/one", ["n": .increment(1)])
    }

    /// The memory for 10 000 queued writes, as a share of their contents.
    private func queueShare(_ count: Int) async throws -> Double {
        let client = SyncedStorageClient(driver: SilentDriver())
        try await client.disableNetwork()
        try await client.commit(WriteBatch([Self.write(count)]))
        let before = Usage.residentBytes
        try await fill(client, count, words: Self.large)
        let share = Double(Usage.residentBytes - before) / Double(Self.dataBytes(count))
        try await client.commit(WriteBatch([Self.write(count)]))
        return share
    }

    /// The memory for a listener of 10 000 documents, including the cache in memory.
    private func viewShare(_ count: Int) throws -> Double {
        let setup = try SyncBenchSetup(MemoryStore())
        setup.feed(.listen(1, .query(Query(in: "items")), ViewOptions()))
        setup.feed(.watched(.added([2])))
        let before = Usage.residentBytes
        for number in 0..<count { setup.feed(.watched(.changed(Self.document(number), targets: [2]))) }
        setup.feed(.watched(.current([2], token: [1])))
        setup.feed(.watched(.snapshot(version: SyncSample.version)))
        let share = Double(Usage.residentBytes - before) / Double(Self.dataBytes(count))
        guard setup.snapshots[1]?.documents.count == count else { throw BenchFailure("documents are missing") }
        return share
    }

    /// The number of words that makes a document of about a kilobyte.
    private static let large = 180

    private static func document(_ number: Int) -> DocumentSnapshot {
        .existing(
            SyncSample.path(number), SyncSample.fields(number, words: large), createTime: SyncSample.version,
            updateTime: SyncSample.version)
    }

    private static func dataBytes(_ count: Int) -> Int {
        (0..<count).reduce(0) {
            $0 + SyncSample.fields($1, words: large).storedBytes + SyncSample.path($1).rawValue.utf8.count
        }
    }
}
