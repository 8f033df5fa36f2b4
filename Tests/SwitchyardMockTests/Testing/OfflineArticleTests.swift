import Foundation
import Switchyard
import SwitchyardMock
import SwitchyardTestSupport
import Synchronization
import Testing

extension ClientError {
    var explanation: String {
        switch code {
        case .unauthorized: "You may not change this."
        case .unauthenticated: "Sign in again."
        case .unavailable, .deadlineExceeded: "There is no connection. Try again later."
        default: "That did not work."
        }
    }
}

extension InfrastructureProvider {
    fileprivate static let acme = mock
}

/// What the articles on working offline and on errors say, done on the mock.
@Suite struct OfflineArticleTests {
    private final class Screen: Sendable {
        private let shown = Mutex<[String]>([])
        var texts: [String] { shown.withLock { $0 } }
        func show(_ text: String) { shown.withLock { $0.append(text) } }
    }

    private let network = MockNetwork()
    private let storage: MockStorageClient
    private let screen = Screen()

    init() { storage = MockStorageClient(MockBackend(), network: network) }

    private func show(_ text: String) { screen.show(text) }
    private func log(_ text: String) { screen.show("log") }
    private func showBadge(_ isShown: Bool) { show(isShown ? "saving" : "saved") }
    private func askForProfile() { show("profile") }
    private func tryAgain(after pause: Duration?) { show("again") }

    private func age() async {
        do throws(StorageError) {
            try await storage.updateDocument("users/alice", ["age": 30]).acknowledged()
        } catch .notFound {
            askForProfile()
        } catch  where error.isRetryable {
            tryAgain(after: error.retryAfter)
        } catch {
            log(error.message)
            show("This could not be saved.")
        }
    }

    func profile(of userID: String) async throws -> DocumentSnapshot? {
        do throws(StorageError) {
            return try await storage.document("users/\(userID)", from: .server)
        } catch .unavailable {
            return nil
        } catch {
            throw error
        }
    }

    @Test func `A badge shows what is not saved yet`() async throws {
        network.isOnline = false
        try await storage.setDocument("users/alice", ["name": "Alice"])
        var options = ListenOptions()
        options.includesMetadataChanges = true
        for try await snapshot in storage.snapshots(of: "users/alice", options: options) {
            showBadge(snapshot.metadata.hasPendingWrites)
            if !snapshot.metadata.hasPendingWrites { break }
            network.isOnline = true
        }
        #expect(screen.texts.first == "saving" && screen.texts.last == "saved")
    }

    @Test func `Whoever waits for the server can stop waiting, and the write stays queued`() async throws {
        network.isOnline = false
        let receipt = try await storage.setDocument("notes/1", ["text": "…"])
        // Nothing comes of it for twenty seconds, and the test does not wait that long.
        let waiting = Task { [storage] in
            do throws(StorageError) {
                try await receipt.acknowledged(within: .seconds(20))
            } catch {
                log(error.message)
                show("Not on the server yet.")
            }
            try await storage.waitForPendingWrites(within: .seconds(20))
        }
        network.isOnline = true
        try await waiting.value
        #expect(screen.texts.isEmpty)
        #expect(try await storage.document("notes/1", from: .server)["text"] == "…")
    }

    @Test func `What was refused stays in a list until somebody decides`() async throws {
        network.isOnline = false
        storage.controls.fail(.send, with: .unauthorized)
        try await storage.setDocument("notes/1", ["text": "…"])
        network.isOnline = true
        for try await refused in storage.refusedWrites() {
            for write in refused { try await storage.resolveRefusedWrite(write.id, requeuing: nil) }
            if !refused.isEmpty { break }
        }
        for try await refused in storage.refusedWrites() {
            #expect(refused.isEmpty)
            break
        }
        #expect(storage.controls.unused.isEmpty)
    }

    @Test func `Errors are told apart by their code`() async throws {
        await age()
        storage.controls.fail(.commit, with: .unavailable)
        await age()
        storage.controls.fail(.commit, with: .unauthorized)
        await age()
        #expect(screen.texts == ["profile", "again", "log", "This could not be saved."])

        #expect(try await profile(of: "alice")?.exists == false)
        network.isOnline = false
        #expect(try await profile(of: "alice") == nil)
        await #expect(throws: StorageError.self) { try await profile(of: "a/b") }
    }

    @Test func `A screen says in its own words what its reader can do`() {
        #expect(StorageError(.unauthorized, "").explanation == "You may not change this.")
        #expect(AuthError(.unavailable, "").explanation == "There is no connection. Try again later.")
        #expect(FileStorageError(.unauthenticated, "").explanation == "Sign in again.")
        #expect(MessagingError(.unsupported, "").explanation == "That did not work.")
    }

    @Test func `An observer is set up in one line`() async throws {
        let backend = try await Infrastructure(.mock, observer: LineObserver())
        await backend.shutDown()
    }

    #if !canImport(Darwin)
        @Test func `An app group is refused where there are none, with what to do instead`() async {
            let factory = InfrastructureFactory(MockModule())
            let error = await #expect(throws: InfrastructureError.self) {
                var options = InfrastructureOptions()
                options.localFiles = LocalFileOptions(process: "widget", appGroup: "group.com.acme.app")
                let backend = try await factory.make(InfrastructureSelection(default: .acme), in: options)
                await backend.shutDown()
            }
            #expect(error?.code == .invalidConfiguration)
            #expect(error?.message.contains("Name a stateFolder") == true)
        }
    #endif

    @Test(arguments: [
        "Sources/Switchyard/Documentation.docc/Offline.md", "Sources/Switchyard/Documentation.docc/Errors.md",
    ])
    func `Every piece of Swift in the article stands above, line for line`(page: String) throws {
        let missing = try Article(page).missing(in: #filePath)
        #expect(missing.isEmpty, "not done in the test: \(missing)")
    }
}
