import Switchyard
import SwitchyardConformance
import SwitchyardTestSupport
import Synchronization
import Testing

@testable import SwitchyardSync

/// Reads whose answers come back after the data on the device, or the user, have changed.
@Suite struct InterruptedReadTests {
    /// Holds back every answer until it is let go.
    private final class SlowDriver: ForwardingDriver {
        let base: ModelDriver
        let isAsked = Mutex(false)
        let isLetGo = Mutex(false)

        init(_ server: ModelServer) { base = ModelDriver(server) }

        func documents(_ paths: [StoragePath]) async throws(StorageError) -> FetchedDocuments {
            try await hold(base.documents(paths))
        }

        func results(of query: Query) async throws(StorageError) -> FetchedDocuments {
            try await hold(base.results(of: query))
        }

        private func hold(_ answer: FetchedDocuments) async throws(StorageError) -> FetchedDocuments {
            isAsked.withLock { $0 = true }
            do {
                try await eventually("the answer is let go") { isLetGo.withLock { $0 } }
            } catch {
                throw StorageError(.deadlineExceeded, "The test has forgotten the answer.")
            }
            return answer
        }
    }

    enum Interruption: CaseIterable { case wipe, userChange, clear }

    @Test(arguments: [false, true], Interruption.allCases)
    func `An answer for the user before is neither stored nor shown`(
        isQuery: Bool, interruption: Interruption
    ) async throws {
        let folder = try TemporaryFolder(in: ScratchSpace.url)
        let server = ModelServer()
        _ = try server.commit([.set("notes/secret", ["n": 1])])
        let driver = SlowDriver(server)
        let client = SyncedStorageClient(
            SyncEngine(
                driver, .folder(folder.url), userID: "alice", clock: FastClock(),
                now: { Timestamp(microseconds: 77_000_000) }, chance: { 0.5 }))
        let read = Task { () async throws -> Void in
            if isQuery {
                _ = try await client.documents(Query(in: "notes"), from: .standard)
            } else {
                _ = try await client.document("notes/secret", from: .standard)
            }
        }
        try await eventually("the server is asked") { driver.isAsked.withLock { $0 } }
        switch interruption {
        case .wipe: try await client.wipe()
        case .clear: try await client.clearPersistence()
        case .userChange: await client.setUser("bob")
        }
        driver.isLetGo.withLock { $0 = true }
        let error = await #expect(throws: StorageError.self) { try await read.value }
        #expect(error?.code == .sessionChanged)
        await #expect(throws: StorageError.self) { try await client.document("notes/secret", from: .cache) }
        #expect(try await client.documents(Query(in: "notes"), from: .cache).isEmpty)
        await client.shutDown()

        let again = device(server, .folder(folder.url), user: "bob")
        #expect(try await again.documents(Query(in: "notes"), from: .cache).isEmpty)
        await again.shutDown()
    }
}
