import Switchyard
import SwitchyardConformance
import SwitchyardTestSupport
import Synchronization
import Testing

@testable import SwitchyardSync

/// A write that the server takes while an older answer is on its way back.
@Suite struct ReadYourWritesTests {
    /// Holds back commits until a read has its answer, and the first answer until the commit is acknowledged.
    private final class CrossingDriver: ForwardingDriver {
        let base = ModelDriver(ModelServer())
        let isAnswered = Mutex(false)
        let receipt = Mutex<WriteReceipt?>(nil)
        let reads = Mutex(0)
        /// Whether an answer claims to be as of a later time than the write that is not in it.
        let isDatedLater: Bool

        init(isDatedLater: Bool = false) { self.isDatedLater = isDatedLater }

        func documents(_ paths: [StoragePath]) async throws(StorageError) -> FetchedDocuments {
            try await cross(base.documents(paths))
        }

        func results(of query: Query) async throws(StorageError) -> FetchedDocuments {
            try await cross(base.results(of: query))
        }

        func commit(_ batch: OutgoingBatch) async throws(StorageError) -> CommitResult {
            do {
                try await eventually("a read has its answer") { isAnswered.withLock { $0 } }
            } catch {
                throw StorageError(.deadlineExceeded, "There was no read.")
            }
            return try await base.commit(batch)
        }

        private func cross(_ answer: FetchedDocuments) async throws(StorageError) -> FetchedDocuments {
            let isFirst = reads.withLock { reads in
                reads += 1
                return reads == 1
            }
            if isFirst {
                isAnswered.withLock { $0 = true }
                let acknowledgement = try await receipt.withLock { $0 }?.acknowledged()
                if isDatedLater, let acknowledgement {
                    var answer = answer
                    answer.readTime = Timestamp(microseconds: acknowledgement.commitTime.microseconds + 1)
                    return answer
                }
            }
            return answer
        }
    }

    @Test(arguments: [false, true])
    func `A query asked before the server took a write does not lose it`(isDatedLater: Bool) async throws {
        let driver = CrossingDriver(isDatedLater: isDatedLater)
        let client = SyncedStorageClient(driver: driver)
        let receipt = try await client.setDocument("cities/ulm", ["pop": 126])
        driver.receipt.withLock { $0 = receipt }
        let results = try await client.documents(Query(in: "cities"), from: .server)
        #expect(results.documents.map(\.id) == ["ulm"])
        #expect(driver.reads.withLock { $0 } == 2)
        await client.shutDown()
    }

    @Test(arguments: [false, true])
    func `A query asked before the server took a deletion does not show what is deleted`(
        isDatedLater: Bool
    ) async throws {
        let driver = CrossingDriver(isDatedLater: isDatedLater)
        let other = SyncedStorageClient(driver: driver.base)
        try await other.setDocument("cities/ulm", ["pop": 126]).acknowledged()
        let client = SyncedStorageClient(driver: driver)
        let receipt = try await client.deleteDocument("cities/ulm")
        driver.receipt.withLock { $0 = receipt }
        let results = try await client.documents(Query(in: "cities"), from: .server)
        #expect(results.documents.isEmpty)
        #expect(driver.reads.withLock { $0 } == 2)
        await client.shutDown()
        await other.shutDown()
    }

    @Test func `A query is not asked again because of a write elsewhere`() async throws {
        let driver = CrossingDriver()
        let client = SyncedStorageClient(driver: driver)
        let receipt = try await client.setDocument("rivers/danube", ["length": 2850])
        driver.receipt.withLock { $0 = receipt }
        let results = try await client.documents(Query(in: "cities"), from: .server)
        #expect(results.documents.isEmpty)
        #expect(driver.reads.withLock { $0 } == 1)
        await client.shutDown()
    }

    @Test(arguments: [false, true])
    func `A document read before the server took an update is read again`(isDatedLater: Bool) async throws {
        let driver = CrossingDriver(isDatedLater: isDatedLater)
        let other = SyncedStorageClient(driver: driver.base)
        try await other.setDocument("cities/ulm", ["pop": 126, "name": "Ulm"]).acknowledged()
        let client = SyncedStorageClient(driver: driver)
        // Never read here, so that nothing but the server can say what the update left.
        let receipt = try await client.updateDocument("cities/ulm", ["pop": 127])
        driver.receipt.withLock { $0 = receipt }
        let document = try await client.document("cities/ulm", from: .server)
        #expect(document.data == ["pop": 127, "name": "Ulm"])
        await client.shutDown()
        await other.shutDown()
    }

    /// Speaks as of a time before everything that it has, as a database does while somebody's old transaction is open.
    private struct LaggingDriver: ForwardingDriver {
        let base: ModelDriver

        func documents(_ paths: [StoragePath]) async throws(StorageError) -> FetchedDocuments {
            var answer = try await base.documents(paths)
            answer.readTime = Timestamp(microseconds: 1)
            return answer
        }

        func openWatch() async throws(StorageError) -> any WatchConnection {
            throw StorageError(.unavailable, "The server does not answer.")
        }
    }

    @Test func `What another has deleted is missing, though the server speaks as of an older time`() async throws {
        let server = ModelServer()
        let client = SyncedStorageClient(driver: LaggingDriver(base: ModelDriver(server)))
        let path: StoragePath = "cities/ulm"
        // Somebody looks at it, so it is kept on this device.
        let watching = Task { for try await _ in client.snapshots(of: path) {} }
        try await client.setDocument(path, ["pop": 126]).acknowledged()
        #expect(try await client.document(path, from: .server).exists)
        _ = try server.commit([DocumentWrite(path: path, operation: .delete)])
        #expect(try await client.document(path, from: .server).exists == false)
        watching.cancel()
        await client.shutDown()
    }

    @Test func `What the server says is missing can be read though this device's store fails`() async throws {
        nonisolated(unsafe) let store = FlakyStore(MemoryStore())
        store.failing = [.readDocuments]
        let engine = SyncEngine(
            driver: ModelDriver(ModelServer()), policy: .standard, userID: nil, clock: ContinuousClock(),
            now: { Timestamp(microseconds: 1) }, chance: { 0.5 }
        ) { store }
        let client = SyncedStorageClient(engine)
        #expect(try await client.document("cities/ulm", from: .server).exists == false)
        await client.shutDown()
    }
}
