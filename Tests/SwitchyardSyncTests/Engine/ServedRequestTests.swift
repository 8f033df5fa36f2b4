import Switchyard
import SwitchyardConformance
import SwitchyardTestSupport
import Synchronization
import Testing

@testable import SwitchyardSync

/// The engine serves everybody: what it does goes on after the request that had it done.
@Suite(.timeLimit(.minutes(2))) struct ServedRequestTests {
    /// Notes for which requests it is called. Commits fail until they are let through.
    private final class NotingDriver: ForwardingDriver {
        let base: ModelDriver
        private let noted = Mutex<[ServedRequest?]>([])
        private let isReachable = Atomic(false)

        init(_ server: ModelServer) { base = ModelDriver(server) }

        var requests: [ServedRequest?] { noted.withLock { $0 } }
        func letThrough() { isReachable.store(true, ordering: .relaxed) }
        private func note() { noted.withLock { $0.append(ServedRequest.current) } }

        func openWatch() async throws(StorageError) -> any WatchConnection {
            note()
            return try await base.openWatch()
        }
        func commit(_ batch: OutgoingBatch) async throws(StorageError) -> CommitResult {
            note()
            guard isReachable.load(ordering: .relaxed) else {
                throw StorageError(.unavailable, "The server is away.", isRetryable: true)
            }
            return try await base.commit(batch)
        }
    }

    @Test func `A queue that a request has filled is sent in no user's name, even while the request goes on`()
        async throws
    {
        let server = ModelServer()
        let driver = NotingDriver(server)
        let storage = SyncedStorageClient(driver: driver)
        try await withRequest(id: "r1", deadline: .now + .milliseconds(50)) {
            let path: StoragePath = "rooms/a"
            var snapshots = storage.snapshots(of: path, options: ListenOptions()).makeAsyncIterator()
            _ = try await snapshots.next()
            let receipt = try await storage.setDocument(path, ["n": 1])
            try await eventually("it was tried") { driver.requests.count >= 2 }
            let error = await #expect(throws: StorageError.self) { try await receipt.acknowledged() }
            #expect(error?.code == .unavailable || error?.code == .deadlineExceeded)
            driver.letThrough()
            try await eventually("it has been sent") { !server.documents.isEmpty }
        }
        #expect(driver.requests.allSatisfy { $0 == nil })
        await storage.shutDown()
    }

    @Test func `Whoever waits for a receipt waits no longer than the request, and the write stays queued`() async throws
    {
        let server = ModelServer()
        let storage = SyncedStorageClient(driver: ModelDriver(server))
        try await storage.disableNetwork()
        let receipt = try await storage.setDocument("rooms/a", ["n": 1])
        let error = await #expect(throws: StorageError.self) {
            try await withRequest(deadline: .now + .milliseconds(50)) { try await receipt.acknowledged() }
        }
        #expect(error?.code == .deadlineExceeded)
        try await storage.enableNetwork()
        try await receipt.acknowledged()
        #expect(server.documents.count == 1)
        await storage.shutDown()
    }
}
