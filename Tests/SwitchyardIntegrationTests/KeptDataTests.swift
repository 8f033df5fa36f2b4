import Foundation
import Switchyard
import SwitchyardConformance
import SwitchyardMock
import SwitchyardSync
import SwitchyardTestSupport
import Testing

/// What providers over the offline engine keep on a device, as users come and go and settings change.
@Suite(.timeLimit(.minutes(2))) struct KeptDataTests {
    /// The mock's people, and documents over the offline engine in the folder that it is given.
    private struct SavedModule: InfrastructureModule {
        static let provider: InfrastructureProvider = "kept"
        var configuration = Settings()
        var server = ModelServer()
        var backend = MockBackend()

        struct Settings: Codable, Sendable { var tint: String? }

        init() {}
        init(_ configuration: Settings) { self.configuration = configuration }

        func reconfigured(_ configuration: Settings) -> SavedModule {
            var module = self
            module.configuration = configuration
            return module
        }
        func wipeLocalData(of userID: AuthUser.ID?, _ context: ModuleContext) async throws(InfrastructureError) {
            if let folder = context.place(of: "documents") { try SyncStorage.wipe(folder, of: userID) }
        }
        func makeAuthClient(_ context: ModuleContext) async throws(InfrastructureError) -> any AuthClient {
            MockAuthClient(backend)
        }
        func makeStorageClient(_ context: ModuleContext) async throws(InfrastructureError) -> any StorageClient {
            try await SyncedStorageClient(
                driver: ModelDriver(server), folder: try context.folder("documents"), cacheBytes: 1 << 20,
                context: context)
        }
    }

    private let folder = ScratchSpace.url.appendingPathComponent("kept-\(UInt64.random(in: 0 ... .max))")
    private let module = SavedModule()

    private func make(_ tint: String? = nil) throws(InfrastructureError) -> InfrastructureConfiguration {
        var selection = InfrastructureSelection(default: "kept")
        selection.omit(.files)
        selection.omit(.messaging)
        var configuration = InfrastructureConfiguration(selection)
        configuration.stateFolder = folder
        if let tint { try configuration.setUp(SavedModule.self, with: SavedModule.Settings(tint: tint)) }
        return configuration
    }

    @Test func `New settings in the folder in use are refused, and streams live on`() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let backend = try await InfrastructureFactory(module).make(make())
        var documents = backend.storage.snapshots(of: "a/1" as StoragePath).makeAsyncIterator()
        #expect(try await documents.next()?.exists == false)
        do throws(InfrastructureError) {
            try await backend.use(make("green"))
            Issue.record("Two clients have one folder.")
        } catch {
            #expect(error.code == .locked && error.message.contains("“kept”"))
        }
        try await backend.storage.setDocument("a/1", ["n": 1]).acknowledged()
        while let document = try await documents.next(), document["n"] != 1 {}
        await backend.shutDown()
    }

    @Test func `A request to wipe reaches a provider that is not chosen, and takes no one else's writes`() async throws
    {
        defer { try? FileManager.default.removeItem(at: folder) }
        let backend = try await InfrastructureFactory(module, MockModule(backend: MockBackend())).make(make())
        func signUp(_ name: String) async throws {
            try await backend.auth.signUp(email: "\(name)@example.com", password: "secret")
        }
        func isCached(_ path: StoragePath) async -> Bool {
            (try? await backend.storage.document(path, from: .cache)) != nil
        }
        try await signUp("bob")
        try await backend.storage.disableNetwork()
        let bobs = try await backend.storage.setDocument("a/bob", ["n": 1]).batchID
        try await backend.auth.signOut()
        try await signUp("alice")
        try await backend.storage.setDocument("a/alice", ["n": 1])
        try await backend.use(.mock, for: .storage)
        try await backend.auth.signOut(.local, wipesLocalData: true)

        try await backend.auth.signIn(email: "alice@example.com", password: "secret")
        try await backend.use("kept", for: .storage)
        try await backend.storage.disableNetwork()
        #expect(await !isCached("a/alice"))
        #expect(module.server.documents.isEmpty)
        try await backend.auth.signOut()
        try await backend.auth.signIn(email: "bob@example.com", password: "secret")
        let waiting = try await backend.storage.pendingWrites().first { _ in true }
        #expect(waiting?.map(\.id) == [bobs])
        await backend.shutDown()
    }

    @Test func `A request to wipe is carried out although somebody signs in at once`() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let backend = try await InfrastructureFactory(module).make(make())
        try await backend.auth.signUp(email: "alice@example.com", password: "secret")
        for round in 1...10 {
            try await backend.storage.setDocument("a/1", ["n": .of(round)]).acknowledged()
            #expect(try await backend.storage.document("a/1", from: .cache).exists)
            try await backend.auth.signOut(.local, wipesLocalData: true)
            try await backend.auth.signUp(email: "user\(round)@example.com", password: "secret")
            await #expect(throws: StorageError.self) { try await backend.storage.document("a/1", from: .cache) }
        }
        await backend.shutDown()
    }

    @Test func `What one user has queued in memory outlives a switch, though somebody else has signed in`() async throws
    {
        var selection = InfrastructureSelection(default: "kept")
        selection.omit(.files)
        selection.omit(.messaging)
        let backend = try await InfrastructureFactory(module, MockModule(backend: MockBackend())).make(
            selection, in: InfrastructureOptions(drainDeadline: .zero))
        try await backend.auth.signUp(email: "alice@example.com", password: "secret")
        try await backend.storage.disableNetwork()
        try await backend.storage.setDocument("a/alice", ["n": 1])
        try await backend.auth.signOut()
        try await backend.auth.signUp(email: "bob@example.com", password: "secret")
        // Only what is queued at a place where the network is on is sent.
        let report = try await backend.use(.mock, for: .storage)
        #expect(report.leftWrites.map(\.count) == [1] && report.leftWrites.map(\.isOnDisk) == [false])
        #expect(await report.drained().leftWrites.map(\.count) == [1])
        try await backend.storage.enableNetwork()
        #expect(module.server.documents.isEmpty)
        try await backend.auth.signOut()
        try await backend.auth.signIn(email: "alice@example.com", password: "secret")
        try await eventually("it is sent") { module.server.documents.map(\.path) == ["a/alice"] }
        await backend.shutDown()
    }
}
