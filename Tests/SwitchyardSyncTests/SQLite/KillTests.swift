import Foundation
import Switchyard
import SwitchyardTestRuns
import SwitchyardTestSupport
import Testing

@testable import SwitchyardSync

/// A process that writes through the store is killed at random moments, again and again over the same files; after each
/// death everything that had been reported as durable is there, whole and in order.
@Suite struct KillTests {
    /// How often: every round starts a process, so not thousands by default.
    private static let rounds =
        ProcessInfo.processInfo.environment["SWITCHYARD_KILLS"].flatMap { Int($0) } ?? RunSize.full(200, part: 30)

    /// Two series, each over files of its own.
    private static let series = SideRun([1, 1_000_000] as [UInt64]) {
        seed in try await onSpareThreads { try await KillSeries.run(of: rounds / 2, seed: seed) }
    }

    @Test(.beside(series), .timeLimit(.minutes(10)))
    func `What was reported durable survives being killed`() async throws {
        let (one, other) = (try await Self.series.value(of: 1), try await Self.series.value(of: 1_000_000))
        let (deaths, reports) = (one.deaths + other.deaths, one.reports + other.reports)
        #expect(deaths == KillTests.rounds / 2 * 2)
        print("kill -9: \(deaths) deaths, \(reports) reported operations, none lost")
        // On a busy machine many die before they have done anything.
        #expect(reports > KillTests.rounds / 4)
    }
}

private enum KillSeries {
    static func run(of rounds: Int, seed: UInt64) async throws -> (deaths: Int, reports: Int) {
        let folder = try TemporaryFolder()
        let path = folder.url.path
        var ledger = Ledger()
        var deaths = 0
        for round in 0..<rounds {
            let result = await #expect(processExitsWith: .failure) {
                [path = path as String, seed = seed + UInt64(round) as UInt64] in
                KilledWriter.run(in: path, seed: seed)
            }
            if case .signal(SIGKILL)? = result?.exitStatus { deaths += 1 }
            try ledger.read(folder.file("reports"))
            let store = try SQLiteStore(folder: folder.url)
            #expect(store.setAside == nil, "round \(round) of \(seed)")
            let problem = try ledger.check(store)
            #expect(problem == nil, "round \(round) of \(seed)")
            store.close()
        }
        return (deaths, ledger.reports)
    }
}

/// Runs in the process that is killed: queues batches, has some acknowledged, and reports each once it is durable.
private enum KilledWriter {
    static func run(in path: String, seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let folder = URL(fileURLWithPath: path, isDirectory: true)
        let reports = open(folder.appendingPathComponent("reports").path, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        guard reports >= 0, let store = try? SQLiteStore(folder: folder) else { return }
        let life = UInt32.random(in: 0...40_000, using: &generator)
        Thread.detachNewThread {
            usleep(life)
            kill(getpid(), SIGKILL)
        }
        let owner = QueueOwner("alice")
        while true {
            let acknowledges = UInt8.random(in: 0...99, using: &generator) < 40
            let size = Int.random(in: 0...3000, using: &generator)
            let report = try? store.transaction(.writeLocally) { rows throws(StorageError) -> String in
                try acknowledges ? acknowledge(rows, owner) : write(rows, owner, size: size)
            }
            guard let report else { return }
            // Written with one call, so a report is there whole or not at all; it outlives the process.
            _ = report.withCString { Foundation.write(reports, $0, strlen($0)) }
        }
    }

    private static func write(_ rows: any StoreRows, _ owner: QueueOwner, size: Int) throws(StorageError) -> String {
        var globals = try rows.globals
        globals.highestBatchNumber += 1
        let number = globals.highestBatchNumber
        try rows.setGlobals(globals)
        let path = StoragePath(unchecked: "queue/d\(number)")
        let write = DocumentWrite(
            path: path,
            operation: .set(["number": .integer(Int64(number)), "text": .string(String(repeating: "x", count: size))]))
        try rows.putBatch(
            QueuedBatch(number: number, id: "b\(number)", writes: [write], queuedAt: Timestamp(microseconds: 0)),
            of: owner)
        try rows.putOverlay(Overlay(write: write, batchNumber: number), of: owner)
        return "w\(number)\n"
    }

    /// The oldest batch leaves the queue, and its effect goes from the overlay to the document.
    private static func acknowledge(_ rows: any StoreRows, _ owner: QueueOwner) throws(StorageError) -> String {
        guard let batch = try rows.batches(of: owner, after: 0, limit: 1).first, let write = batch.writes.first else {
            return ""
        }
        try rows.removeBatch(batch, of: owner)
        try rows.removeOverlay(of: owner, at: write.path)
        let (data, _) = write.applied(to: nil, serverTime: .never)
        try rows.putDocument(
            .found(write.path, data ?? [:], version: Timestamp(microseconds: Int64(batch.number))),
            replacing: rows.document(at: write.path))
        return "a\(batch.number)\n"
    }
}

/// What the killed processes reported.
private struct Ledger {
    private(set) var written = 0
    private(set) var acknowledged = 0
    private(set) var reports = 0

    mutating func read(_ file: URL) throws {
        let lines = String(decoding: (try? Data(contentsOf: file)) ?? Data(), as: UTF8.self).split(separator: "\n")
        reports = lines.count
        for line in lines {
            let number = Int(line.dropFirst()) ?? 0
            if line.first == "w" { written = max(written, number) } else { acknowledged = max(acknowledged, number) }
        }
    }

    /// Compares the store with the reports. At most the one operation that was under way may be there in addition; from
    /// then on it counts as reported, since it has been seen.
    mutating func check(_ store: SQLiteStore) throws -> String? {
        let owner = QueueOwner("alice")
        let (written, acknowledged) = (written, acknowledged)
        var seen = (written: written, acknowledged: acknowledged)
        defer { (self.written, self.acknowledged) = (seen.written, seen.acknowledged) }
        return try store.transaction(.readQueue) { rows throws(StorageError) -> String? in
            let highest = try rows.globals.highestBatchNumber
            guard highest == written || highest == written + 1 else { return "\(written) reported, \(highest) there" }
            let batches = try rows.batches(of: owner, after: 0, limit: .max)
            let first = batches.first?.number ?? highest + 1
            seen = (highest, first - 1)
            guard first == acknowledged + 1 || first == acknowledged + 2 else { return "the queue begins at \(first)" }
            guard batches.map(\.number) == Array(first..<(highest + 1)) else { return "the queue has a gap" }
            let overlays = try rows.overlays(of: owner, in: .collection("queue"), afterBatch: nil)
            guard Set(overlays.map(\.batchNumber)) == Set(batches.map(\.number)) else { return "overlays differ" }
            for batch in batches {
                guard case .set(let data)? = batch.writes.first?.operation,
                    data["number"]?.integerValue == Int64(batch.number)
                else { return "batch \(batch.number) is not what was written" }
            }
            var documents = 0
            var bytes: Int64 = 0
            try rows.forEachDocument(in: .collection("queue"), readAfter: nil, screen: nil) { document in
                documents += 1
                bytes += document.storedBytes
            }
            guard documents == first - 1 else { return "\(documents) documents after \(first - 1) acknowledgements" }
            return try rows.documentBytes == bytes ? nil : "the size of the documents is wrong"
        }
    }
}
