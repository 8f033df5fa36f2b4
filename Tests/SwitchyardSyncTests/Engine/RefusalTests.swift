import Switchyard
import SwitchyardConformance
import SwitchyardTestSupport
import Synchronization
import Testing

@testable import SwitchyardSync

/// What makes a batch leave the queue for good, and what only makes it wait.
@Suite(.timeLimit(.minutes(2))) struct RefusalTests {
    private let server = ModelServer()

    private func device(_ driver: FailingDriver, _ storage: SyncStorage) -> SyncedStorageClient {
        SyncedStorageClient(driver: driver, storage: storage, clock: FastClock())
    }

    /// Waits until the first attempt has come to something.
    private func attempted(_ client: SyncedStorageClient) async throws {
        try await eventually("an attempt has failed") {
            let attempts = try await client.queue.first?.attempts ?? 0
            let refusals = try await client.refusals.count
            return attempts > 0 || refusals > 0
        }
    }

    @Test(arguments: [
        .shutDown, .unsupported, .invalidArgument, .unauthorized, .unauthenticated, .notFound, .failedPrecondition,
        .localStore, .cancelled, .codingFailed, StorageError.Code(rawValue: "new"),
    ])
    func `A failure that is no refusal of the server's keeps the queue, whatever its code`(
        _ code: StorageError.Code
    ) async throws {
        let folder = try TemporaryFolder(in: ScratchSpace.url)
        let driver = FailingDriver(server)
        driver.failure.withLock { $0 = StorageError(code, "Somebody else's trouble.", isRetryable: false) }
        let client = device(driver, .folder(folder.url))
        try await client.setDocument("a/b", ["n": 1])
        try await attempted(client)
        #expect(try await client.refusals.isEmpty)
        await client.shutDown()

        let again = device(FailingDriver(server), .folder(folder.url))
        try await again.waitForPendingWrites()
        #expect(server.documents.map { $0["n"] } == [1])
        #expect(try await again.refusals.isEmpty)
        await again.shutDown()
    }

    @Test(arguments: [StorageError.Code.unauthorized, .unavailable, StorageError.Code(rawValue: "new")])
    func `What the driver marks as the server's refusal leaves the queue, whatever its code`(
        _ code: StorageError.Code
    ) async throws {
        let driver = FailingDriver(server)
        driver.failure.withLock { $0 = StorageError(code, "Never.", isRefusal: true) }
        let client = device(driver, .memory)
        let receipt = try await client.setDocument("a/b", ["n": 1])
        let error = await #expect(throws: StorageError.self) { try await receipt.acknowledged() }
        #expect(error?.code == code && error?.isRefusal == true)
        #expect(try await client.queue.isEmpty)
        let kept = try #require(try await client.refusals.first)
        #expect(kept.error.isRefusal && !kept.error.isRetryable && kept.error.message == "Never.")
        await client.shutDown()
    }

    @Test func `A ledger that may not be read refuses no batch, and none takes effect twice`() async throws {
        let driver = FailingDriver(server)
        driver.losesAnswer.withLock { $0 = true }
        driver.lookUpFailure.withLock { $0 = StorageError(.unauthorized, "Not this ledger.") }
        let client = device(driver, .memory)
        let receipt = try await client.mergeDocument("a/b", ["n": .increment(1)])
        try await eventually("the ledger was asked") {
            let attempts = try await client.queue.first?.attempts ?? 0
            let refusals = try await client.refusals.count
            return attempts > 1 || refusals > 0
        }
        #expect(try await client.refusals.isEmpty)
        driver.lookUpFailure.withLock { $0 = nil }
        try await receipt.acknowledged()
        #expect(server.documents.map { $0["n"] } == [1])
        await client.shutDown()
    }
}
