import Switchyard
import SwitchyardConformance
import SwitchyardSync
import SwitchyardTestSupport
import Synchronization
import Testing

/// A driver that carries out several batches in one request, all or nothing.
@Suite struct MergedBatchesTests {
    private final class MergingDriver: ForwardingDriver {
        let base = ModelDriver(ModelServer())
        let isOpen = Mutex(false)
        /// How many batches each request held.
        let requests = Mutex<[Int]>([])
        let lookUps = Mutex(0)
        /// Whether the next answer gets lost.
        let losesAnswer = Mutex(false)
        /// Whether a shared request stops before the first batch that is refused, and keeps those before it.
        let stopsShort = Mutex(false)

        let traits = SyncDriverTraits(hasLedger: true, mergesBatches: true)

        func result(of batch: OutgoingBatch) async throws(StorageError) -> CommitResult? {
            lookUps.withLock { $0 += 1 }
            return try await base.result(of: batch)
        }

        /// The first commit waits, so that others gather behind it.
        func commit(_ batch: OutgoingBatch) async throws(StorageError) -> CommitResult {
            requests.withLock { $0.append(1) }
            do {
                try await eventually("the gate opens") { isOpen.withLock { $0 } }
            } catch {
                throw StorageError(.deadlineExceeded, "The gate stayed closed.")
            }
            let result = try await base.commit(batch)
            let isLost = losesAnswer.withLock { loses in
                defer { loses = false }
                return loses
            }
            if isLost { throw StorageError(.unavailable, "lost") }
            return result
        }

        func commit(_ batches: [OutgoingBatch]) async throws(StorageError) -> [CommitResult] {
            requests.withLock { $0.append(batches.count) }
            if stopsShort.withLock({ $0 }) {
                var results: [CommitResult] = []
                for batch in batches {
                    guard let result = try? await base.commit(batch) else { break }
                    results.append(result)
                }
                return results
            }
            let whole = OutgoingBatch(
                id: "all of \(batches[0].id)", writes: batches.flatMap(\.writes), mayHaveBeenSent: false)
            let result = try await base.commit(whole)
            return batches.map { _ in CommitResult(commitTime: result.commitTime) }
        }
    }

    @Test func `Batches that wait travel together, in order, and each has its receipt`() async throws {
        let driver = MergingDriver()
        let client = SyncedStorageClient(driver: driver)
        var receipts: [WriteReceipt] = []
        for number in 0..<6 {
            receipts.append(try await client.mergeDocument("a/one", ["n": .increment(1), "last": .of(number)]))
            if number == 0 { try await eventually("the first is under way") { !driver.requests.withLock(\.isEmpty) } }
        }
        driver.isOpen.withLock { $0 = true }
        for receipt in receipts { try await receipt.acknowledged() }
        #expect(driver.requests.withLock { $0 } == [1, 5])
        let document = try await client.document("a/one", from: .server)
        #expect(document["n"] == 6)
        #expect(document["last"] == 5)
        await client.shutDown()
    }

    @Test func `What never left is not looked for after an answer was lost, and travels together`() async throws {
        let driver = MergingDriver()
        let client = SyncedStorageClient(driver: driver)
        driver.losesAnswer.withLock { $0 = true }
        var receipts: [WriteReceipt] = []
        for number in 0..<6 {
            receipts.append(try await client.mergeDocument("a/one", ["n": .increment(1), "last": .of(number)]))
            if number == 0 { try await eventually("the first is under way") { !driver.requests.withLock(\.isEmpty) } }
        }
        driver.isOpen.withLock { $0 = true }
        for receipt in receipts { try await receipt.acknowledged() }
        #expect(driver.lookUps.withLock { $0 } == 1)
        #expect(driver.requests.withLock { $0 } == [1, 5])
        #expect(try await client.document("a/one", from: .server)["n"] == 6)
        await client.shutDown()
    }

    @Test func `Of batches that were refused together only the one to blame is refused in the end`() async throws {
        let driver = MergingDriver()
        let client = SyncedStorageClient(driver: driver)
        let first = try await client.setDocument("a/one", ["n": 0])
        try await eventually("the first is under way") { !driver.requests.withLock(\.isEmpty) }
        let good = try await client.mergeDocument("a/one", ["n": .increment(1)])
        let bad = try await client.updateDocument("a/none", ["n": 1])
        let last = try await client.mergeDocument("a/one", ["n": .increment(1)])
        driver.isOpen.withLock { $0 = true }
        try await first.acknowledged()
        try await good.acknowledged()
        let error = await #expect(throws: StorageError.self) { try await bad.acknowledged() }
        #expect(error?.code == .notFound)
        try await last.acknowledged()
        #expect(try await client.document("a/one", from: .server)["n"] == 2)
        await client.shutDown()
    }

    @Test func `A request that stops before a refused batch has that one sent by itself, and the others together`()
        async throws
    {
        let driver = MergingDriver()
        driver.stopsShort.withLock { $0 = true }
        let client = SyncedStorageClient(driver: driver)
        let first = try await client.setDocument("a/one", ["n": 0])
        try await eventually("the first is under way") { !driver.requests.withLock(\.isEmpty) }
        var receipts: [WriteReceipt] = []
        for path: StoragePath in ["a/one", "a/one", "a/none", "a/one", "a/one"] {
            receipts.append(try await client.updateDocument(path, ["n": .increment(1)]))
        }
        driver.isOpen.withLock { $0 = true }
        try await first.acknowledged()
        for (index, receipt) in receipts.enumerated() where index != 2 { try await receipt.acknowledged() }
        let error = await #expect(throws: StorageError.self) { try await receipts[2].acknowledged() }
        #expect(error?.code == .notFound)
        #expect(driver.requests.withLock { $0 } == [1, 5, 1, 2])
        #expect(driver.lookUps.withLock { $0 } == 0)
        #expect(try await client.document("a/one", from: .server)["n"] == 4)
        await client.shutDown()
    }
}
