import Switchyard
import SwitchyardMock
import SwitchyardTestSupport
import Testing

@Suite struct MockOfflineTests {
    let backend = MockBackend()
    let network = MockNetwork()
    let phone: MockStorageClient
    let tablet: MockStorageClient

    init() {
        phone = MockStorageClient(backend, network: network)
        tablet = MockStorageClient(backend)
    }

    @Test func `What was deleted while the device was offline stays away when it is offline again`() async throws {
        try await phone.setDocument("a/1", ["n": 1])
        try await phone.setDocument("a/2", ["n": 2])
        let seen = Gathered(phone.snapshots(of: Query(in: "a")))
        try await eventually("both") { seen.last?.count == 2 }
        network.isOnline = false
        try await tablet.deleteDocument("a/1")
        network.isOnline = true
        try await eventually("one is gone") { seen.last?.count == 1 }
        network.isOnline = false
        #expect(try await phone.documents(Query(in: "a")).documents.map(\.id) == ["2"])
        #expect(try await phone.document("a/1").exists == false)
    }

    @Test func `Without a network, reads come from what was read before`() async throws {
        try await tablet.setDocument("a/1", ["n": 1])
        try await tablet.setDocument("a/2", ["n": 2])
        _ = try await phone.document("a/1")
        network.isOnline = false
        try await tablet.updateDocument("a/1", ["n": 10])
        let known = try await phone.document("a/1")
        #expect(known["n"] == 1)
        #expect(known.metadata.isFromCache)
        do throws(StorageError) {
            _ = try await phone.document("a/2")
            Issue.record("An unknown document was read.")
        } catch {
            #expect(error.code == .unavailable && error.isRetryable)
        }
        await #expect(throws: StorageError.self) { try await phone.document("a/1", from: .server) }
        #expect(try await phone.documents(Query(in: "a")).documents.map(\.id) == ["1"])
    }

    @Test func `A write without a network shows at once and goes out later`() async throws {
        try await phone.disableNetwork()
        let receipt = try await phone.setDocument("a/1", ["n": 1, "at": .serverTime])
        let local = try await phone.document("a/1")
        #expect(local["n"] == 1 && local.metadata.hasPendingWrites && local.updateTime == nil)
        #expect(local["at"]?.timestampValue?.isEstimate == true)
        #expect(try await !tablet.document("a/1").exists)
        let pending = try #require(await firstValue(of: phone.pendingWrites()))
        #expect(pending.map(\.id) == [receipt.batchID])

        try await phone.enableNetwork()
        let answer = try await receipt.acknowledged()
        let stored = try await tablet.document("a/1")
        #expect(stored["n"] == 1 && stored.updateTime == answer.updateTimes[0])
        #expect(try await !phone.document("a/1").metadata.hasPendingWrites)
    }

    @Test func `A write that waits for the network says so, as with a provider that cannot be reached`() async throws {
        network.isOnline = false
        let receipt = try await phone.setDocument("a/1", ["n": 1])
        let waiting = try await firstValue(of: phone.pendingWrites())?.first
        #expect(waiting?.lastError?.code == .unavailable && waiting?.nextAttempt == nil)
        #expect(waiting?.lastError?.message.contains("The mock's network is off") == true)
        let error = await #expect(throws: StorageError.self) { try await receipt.acknowledged(within: .zero) }
        #expect(error?.code == .unavailable && error?.isRetryable == true)

        // What the app itself has switched off comes first.
        try await phone.disableNetwork()
        let stopped = try await firstValue(of: phone.pendingWrites())?.first
        #expect(stopped?.lastError?.message.contains("enableNetwork()") == true)
        let transaction = await #expect(throws: StorageError.self) { try await phone.makeTransaction() }
        #expect(transaction?.message.hasPrefix("A transaction needs the server. The network is switched off") == true)
        try await phone.enableNetwork()
        let again = try await firstValue(of: phone.pendingWrites())?.first
        #expect(again?.lastError?.message == waiting?.lastError?.message)

        network.isOnline = true
        try await receipt.acknowledged()
        #expect(try await tablet.document("a/1")["n"] == 1)
    }

    @Test func `Waiting writes are shown on top of each other and sent in order`() async throws {
        try await phone.setDocument("a/1", ["n": 1])
        network.isOnline = false
        try await phone.updateDocument("a/1", ["n": .increment(1)])
        try await phone.updateDocument("a/1", ["n": .increment(5)])
        #expect(try await phone.document("a/1")["n"] == 7)
        try await tablet.updateDocument("a/1", ["n": 100])
        network.isOnline = true
        try await phone.waitForPendingWrites()
        #expect(try await tablet.document("a/1")["n"] == 106)
    }

    @Test func `A refused write is taken back, reported on its receipt and stored until somebody decides`() async throws
    {
        try await phone.setDocument("a/1", ["n": 1])
        network.isOnline = false
        let receipt = try await phone.updateDocument("a/1", ["n": 2])
        try await tablet.deleteDocument("a/1")
        network.isOnline = true
        do throws(StorageError) {
            try await receipt.acknowledged()
            Issue.record("The write was taken.")
        } catch {
            #expect(error.code == .notFound)
        }
        let refused = try #require(await firstValue(of: phone.refusedWrites()))
        #expect(refused.map(\.id) == [receipt.batchID])
        #expect(try await !phone.document("a/1").exists)
        try await phone.resolveRefusedWrite(receipt.batchID, requeuing: WriteBatch([.set("a/1", ["n": 3])]))
        try await phone.waitForPendingWrites()
        #expect(try await tablet.document("a/1")["n"] == 3)
        #expect(try #require(await firstValue(of: phone.refusedWrites())).isEmpty)
    }

    @Test func `A waiting write can be taken out of the queue`() async throws {
        try await phone.setDocument("a/1", ["n": 1])
        network.isOnline = false
        let receipt = try await phone.updateDocument("a/1", ["n": 2])
        #expect(try await phone.cancelPendingWrite(receipt.batchID))
        #expect(try await !phone.cancelPendingWrite(receipt.batchID))
        #expect(try await phone.document("a/1")["n"] == 1)
        await #expect(throws: StorageError.self) { try await receipt.acknowledged() }
    }

    @Test func `A write whose answer is lost takes effect once`() async throws {
        try await phone.setDocument("a/1", ["n": 1])
        phone.controls.loseAnswers()
        let receipt = try await phone.updateDocument("a/1", ["n": .increment(1)])
        try await phone.retryPendingWrites()
        try await receipt.acknowledged()
        #expect(try await tablet.document("a/1")["n"] == 2)
        #expect(try await phone.document("a/1")["n"] == 2)
    }

    @Test func `A live query goes on without the network and catches up after it`() async throws {
        try await tablet.setDocument("a/1", ["n": 1])
        let options = ListenOptions(includesMetadataChanges: true)
        let seen = Gathered(phone.snapshots(of: Query(in: "a"), options: options))
        try await eventually("the first snapshot") { seen.last?.count == 1 }
        network.isOnline = false
        try await eventually("the cache shows") { seen.last?.metadata.isFromCache == true }
        try await tablet.setDocument("a/2", ["n": 2])
        try await phone.setDocument("a/3", ["n": 3])
        try await eventually("the own write") { seen.last?.documents.map(\.id) == ["1", "3"] }
        #expect(seen.last?.metadata.hasPendingWrites == true)
        network.isOnline = true
        try await eventually("everything") {
            seen.last?.documents.map(\.id) == ["1", "2", "3"] && seen.last?.metadata == SnapshotMetadata()
        }
    }

    @Test func `Transactions need the network`() async throws {
        network.isOnline = false
        await #expect(throws: StorageError.self) {
            try await phone.transaction(TransactionOptions(maximumAttempts: 1)) { transaction in
                try await transaction.set("a/1", ["n": 1])
            }
        }
    }

    @Test func `Clearing the local store forgets the cache and the queue`() async throws {
        try await phone.setDocument("a/1", ["n": 1])
        network.isOnline = false
        let receipt = try await phone.updateDocument("a/1", ["n": 2])
        try await phone.clearPersistence()
        await #expect(throws: StorageError.self) { try await phone.document("a/1") }
        await #expect(throws: StorageError.self) { try await receipt.acknowledged() }
    }
}

/// The first element of a stream.
func firstValue<Stream: AsyncSequence>(of stream: Stream) async throws -> Stream.Element? {
    for try await element in stream { return element }
    return nil
}
