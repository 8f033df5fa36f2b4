import Foundation
import Switchyard
import SwitchyardMock
import SwitchyardTestSupport
import Testing

/// All clients in one line.
@Suite struct MakingTests {
    @Test func `One line makes all clients of a provider`() async throws {
        let backend = try await Infrastructure(.mock)
        let user = try await backend.auth.signUp(email: "a@example.com", password: "long enough").get()
        try await backend.storage.setDocument("users/\(user.id)", ["n": 1])
        #expect(try await backend.storage.document("users/\(user.id)")["n"] == 1)
        #expect(await backend.selection.default == .mock)
        await backend.shutDown()
    }

    @Test func `Two devices of one project are two lines`() async throws {
        let project = MockBackend()
        let (phone, tablet) = (try await Infrastructure(.mock(project)), try await Infrastructure(.mock(project)))
        try await phone.storage.setDocument("a/1", ["n": 1]).acknowledged()
        #expect(try await tablet.storage.document("a/1")["n"] == 1)
        await phone.shutDown()
        await tablet.shutDown()
    }

    /// Has documents and accounts, and would have files if somebody set them up.
    struct Thrifty: MockBacked {
        static let provider: InfrastructureProvider = "thrifty"
        struct Configuration: Codable, Sendable { var name = "" }
        let configuration: Configuration
        let mock = MockModule(backend: MockBackend())
        init(_ configuration: Configuration = Configuration()) { self.configuration = configuration }
        func makeFileStorageClient(
            _ context: ModuleContext
        ) async throws(InfrastructureError) -> any FileStorageClient {
            throw InfrastructureError(.invalidConfiguration, "Files on Thrifty need a shelf.")
        }
    }

    @Test func `What a provider lacks stops nothing, and its calls say why`() async throws {
        let backend = try await Infrastructure(Thrifty())
        try await backend.storage.setDocument("a/1", ["n": 1])
        let files = await #expect(throws: FileStorageError.self) { try await backend.files.list() }
        #expect(files?.code == .unsupported && files?.message == "Files on Thrifty need a shelf.")
        let messages = await #expect(throws: MessagingError.self) { try await backend.messaging.token() }
        #expect(messages?.code == .unsupported && messages?.message.contains("thrifty") == true)
        await backend.shutDown()
    }

    @Test func `Another provider is gone over to by its name`() async throws {
        let backend = try await Infrastructure(.mock, others: [Thrifty()])
        try await backend.use("thrifty", for: .storage)
        #expect(backend.storage.provider == .mock || backend.storage.provider == "thrifty")
        #expect(await backend.selection.provider(for: .storage) == "thrifty")
        await backend.shutDown()
    }

    @Test func `A file says who stands behind what, among the modules it may name`() async throws {
        let folder = ScratchSpace.url.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("backend.json")
        try Data(#"{"default": "mock", "clients": {"messaging": "none"}}"#.utf8).write(to: file)
        let backend = try await Infrastructure(contentsOf: file, modules: [.mock])
        try await backend.storage.setDocument("a/1", ["n": 1])
        await #expect(throws: MessagingError.self) { try await backend.messaging.token() }
        await backend.shutDown()
        let error = await #expect(throws: InfrastructureError.self) {
            try await Infrastructure(contentsOf: file, modules: [ConfigurableModule(Thrifty.self)])
        }
        #expect(error?.code == .unknownProvider)
        let missing = folder.appendingPathComponent("none.json")
        let absent = await #expect(throws: InfrastructureError.self) {
            try await Infrastructure(contentsOf: missing, modules: [.mock])
        }
        #expect(absent?.code == .localStore)
    }
}
