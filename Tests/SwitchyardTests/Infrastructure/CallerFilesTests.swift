import Foundation
import Switchyard
import SwitchyardMock
import Synchronization
import Testing

/// Files among the clients of a request.
@Suite struct CallerFilesTests {
    /// A provider whose manager knows documents only.
    private struct Bare: MockBacked {
        static let provider: InfrastructureProvider = "bare"
        struct Configuration: Codable, Sendable { var name = "" }
        let configuration: Configuration
        let mock = MockModule(backend: MockBackend())
        init(_ configuration: Configuration = Configuration()) { self.configuration = configuration }

        func makeServerClientFactory(_ context: ModuleContext) async throws(InfrastructureError)
            -> any ServerClientFactory
        {
            Manager(base: try await mock.makeServerClientFactory(context))
        }
    }

    /// A provider whose manager cannot be made until it can.
    private struct Clumsy: MockBacked {
        static let provider: InfrastructureProvider = "clumsy"
        struct Configuration: Codable, Sendable { var name = "" }
        let configuration: Configuration
        let mock = MockModule(backend: MockBackend())
        let key = KeyFile()
        init(_ configuration: Configuration = Configuration()) { self.configuration = configuration }

        final class KeyFile: Sendable {
            let isReadable = Atomic(false)
        }

        func makeFileStorageClient(
            _ context: ModuleContext
        ) async throws(InfrastructureError) -> any FileStorageClient { try await mock.makeFileStorageClient(context) }
        func makeServerClientFactory(_ context: ModuleContext) async throws(InfrastructureError)
            -> any ServerClientFactory
        {
            guard key.isReadable.load(ordering: .relaxed) else {
                throw InfrastructureError(.localStore, "The key file could not be read just now.")
            }
            return try await mock.makeServerClientFactory(context)
        }
    }

    private struct Manager: ServerClientFactory {
        let base: any ServerClientFactory
        var verifier: any TokenVerifier { base.verifier }
        func makeStorageClient(
            for caller: VerifiedToken, auth: any AuthClient
        ) throws(InfrastructureError) -> any StorageClient { try base.makeStorageClient(for: caller, auth: auth) }
        func makeProjectStorageClient() throws(InfrastructureError) -> any StorageClient {
            try base.makeProjectStorageClient()
        }
        func shutDown() async { await base.shutDown() }
    }

    private static let caller = VerifiedToken(
        token: Secret("any"), provider: .mock, userID: "alice", issuer: "somebody",
        expiresAt: Date(timeIntervalSinceNow: 3600))

    @Test func `Callers and the project have the files of the provider that is chosen for files`() async throws {
        let project = MockBackend()
        let backend = try await Infrastructure(Bare(), others: [MockModule(backend: project)])
        try await backend.use(.mock, for: .files)
        let mine = try await backend.acting(as: Self.caller)
        try await mine.files.put(Data("hello".utf8), at: "users/alice/a.txt")
        #expect(mine.files.provider == .mock && mine.storage.provider == .mock)
        #expect(!mine.files.capabilities.resumableUploads)
        let others = try await project.infrastructure()
        #expect(try await others.files.data(at: "users/alice/a.txt") == Data("hello".utf8))
        #expect(try await backend.actingAsProject().files.data(at: "users/alice/a.txt") == Data("hello".utf8))
        await mine.files.shutDown()
        #expect(try await mine.files.metadata(of: "users/alice/a.txt").size == 5)
        await others.shutDown()
        await backend.shutDown()
    }

    @Test func `Without files for callers each call says why, and documents are there`() async throws {
        let backend = try await Infrastructure(Bare())
        let mine = try await backend.acting(as: Self.caller)
        try await mine.storage.setDocument("users/alice", ["n": 1])
        for files in [mine.files, try await backend.actingAsProject().files] {
            let error = await #expect(throws: FileStorageError.self) { try await files.metadata(of: "a") }
            #expect(error?.code == .unsupported && error?.message.contains("has no files") == true)
        }
        await backend.shutDown()
    }

    @Test func `What kept files from one request is not held against the next`() async throws {
        let clumsy = Clumsy()
        let backend = try await Infrastructure(Bare(), others: [clumsy])
        try await backend.use("clumsy", for: .files)
        let first = try await backend.acting(as: Self.caller).files
        let error = await #expect(throws: FileStorageError.self) { try await first.list() }
        #expect(error?.message == "The key file could not be read just now.")
        clumsy.key.isReadable.store(true, ordering: .relaxed)
        #expect(try await backend.acting(as: Self.caller).files.list().files.isEmpty)
        await backend.shutDown()
    }

    @Test func `A request's deadline and name hold for its files`() async throws {
        let backend = try await Infrastructure(.mock)
        let files = try await backend.acting(as: Self.caller).files
        await withRequest(deadline: .now - .seconds(1)) {
            let error = await #expect(throws: FileStorageError.self) { try await files.metadata(of: "a") }
            #expect(error?.code == .deadlineExceeded)
        }
        await backend.shutDown()
    }
}
