import Foundation
import Switchyard
import SwitchyardConformance
import SwitchyardSync
import SwitchyardTestSupport
import Synchronization
import Testing

// swift-format-ignore: AlwaysUseLowerCamelCase
private func AcmeDriver(_ server: ModelServer) -> ModelDriver { ModelDriver(server) }

/// What the articles on the engine and on its reference say, done.
@Suite struct SyncArticleTests {
    private final class Screen: Sendable {
        private let shown = Mutex<[[String]]>([])
        var queues: [[String]] { shown.withLock { $0 } }
        func show(_ queue: [String]) { shown.withLock { $0.append(queue) } }
    }

    private let screen = Screen()
    private func show(_ queue: [String]) { screen.show(queue) }
    private func mended(_ write: RefusedWrite) -> WriteBatch? { nil }

    @Test func `The queue is looked at, taken back and waited for`() async throws {
        let server = ModelServer()
        let folder = ScratchSpace.url.appendingPathComponent("sync-article-\(UInt64.random(in: 0 ... .max))")
        defer { try? FileManager.default.removeItem(at: folder) }
        let storage = SyncedStorageClient(driver: AcmeDriver(server), storage: .folder(folder))
        try await storage.disableNetwork()
        let receipt = try await storage.setDocument("notes/1", ["text": "…"])
        let following = Task {
            for try await queue in storage.pendingWrites() {
                show(queue.map { "\($0.queuedAt): tried \($0.attempts) times, \($0.lastError?.message ?? "")" })
            }
        }
        try await eventually("one waits") { screen.queues.last?.count == 1 }
        let wasTakenBack = try await storage.cancelPendingWrite(receipt.batchID)
        #expect(wasTakenBack)
        try await eventually("none waits") { screen.queues.last?.isEmpty == true }
        following.cancel()
        _ = await following.result
        try await storage.enableNetwork()
        try await storage.setDocument("notes/2", ["text": "…"])
        try await storage.retryPendingWrites()
        try await storage.waitForPendingWrites()
        #expect(try await storage.document("notes/2", from: .server).exists)
        #expect(try await !storage.document("notes/1", from: .server).exists)
        await storage.shutDown()
    }

    @Test func `What was refused is dropped, or mended and sent again`() async throws {
        let server = ModelServer()
        let storage = SyncedStorageClient(driver: ModelDriver(server))
        server.refuse { _ in StorageError(.unauthorized, "Not allowed.") }
        try await storage.setDocument("notes/1", ["text": "…"])
        let deciding = Task {
            for try await refused in storage.refusedWrites() {
                for write in refused { try await storage.resolveRefusedWrite(write.id, requeuing: mended(write)) }
                if !refused.isEmpty { break }
            }
        }
        try await deciding.value
        for try await refused in storage.refusedWrites() {
            #expect(refused.isEmpty)
            break
        }
        await storage.shutDown()
    }

    @Test func `A bundle goes to the client behind the layers, where it has a format`() async throws {
        let data = Data("{}".utf8)
        let storage: any StorageClient = SyncedStorageClient(driver: ModelDriver(ModelServer()))
        let error = await #expect(throws: StorageError.self) {
            if let synced = storage.unwrapped(as: SyncedStorageClient.self) {
                try await synced.loadBundle(data)
                let query = try await synced.namedQuery("latest stories")
                #expect(query == nil)
            }
        }
        #expect(error?.code == .unsupported)
        await storage.shutDown()
    }

    @Test(arguments: [
        "Sources/SwitchyardSync/Documentation.docc/SwitchyardSync.md",
        "Sources/SwitchyardConformance/Documentation.docc/SwitchyardConformance.md",
    ])
    func `Every piece of Swift in the article stands above, line for line`(page: String) throws {
        let missing = try Article(page).missing(in: #filePath)
        #expect(missing.isEmpty, "not done in the test: \(missing)")
    }
}
