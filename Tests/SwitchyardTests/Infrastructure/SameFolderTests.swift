import Foundation
import Switchyard
import SwitchyardMock
import SwitchyardTestSupport
import Testing

/// A provider that keeps its state in a folder, when its choice or its settings change while it is in use.
@Suite struct SameFolderTests {
    private let folder = ScratchSpace.url.appendingPathComponent("same-\(UInt64.random(in: 0 ... .max))")

    private func configuration(_ more: String = "", clients: String = "") throws -> InfrastructureConfiguration {
        try InfrastructureConfiguration(
            json: Data(
                #"{"default": "mock", "clients": {\#(clients)}, "providers": {"mock": {"folder": "\#(folder.path)"\#(more)}}}"#
                    .utf8), environment: [:])
    }

    @Test func `Another client of a provider in use joins the others, though it is wanted later`() async throws {
        let factory = InfrastructureFactory(configurable: [MockModule.self])
        let backend = try await factory.make(configuration(clients: #""files": "none", "messaging": "none""#))
        try await backend.auth.signUp(email: "alice@example.com", password: "secret")
        let report = try await backend.use(.mock, for: .files)
        #expect(report.moves.map(\.service) == [.files])
        try await backend.files.put(Data([1]), at: "a")
        #expect(try await backend.files.data(at: "a", limit: 10) == Data([1]))
        await backend.shutDown()
        // Everybody has left, so the folder is free again.
        try MockBackend(folder: folder).close()
        try? FileManager.default.removeItem(at: folder)
    }

    @Test func `New settings in the folder in use are refused with what to do, and nothing has changed`() async throws {
        let factory = InfrastructureFactory(configurable: [MockModule.self])
        let backend = try await factory.make(configuration())
        try await backend.storage.setDocument("a/1", ["n": 1])
        let slower = try configuration(#", "latencyMilliseconds": 1"#)
        do throws(InfrastructureError) {
            try await backend.use(slower)
            Issue.record("Two clients have one folder.")
        } catch {
            #expect(error.code == .locked && !error.isRetryable)
            #expect(error.message.contains("“mock”") && error.message.contains("first"))
        }
        try await backend.storage.setDocument("a/1", ["n": 2])
        #expect(try await backend.storage.document("a/1")["n"] == 2)
        await backend.shutDown()
        try? FileManager.default.removeItem(at: folder)
    }

    @Test func `As it says: by way of another provider the new settings have the folder`() async throws {
        struct Spare: InfrastructureModule {
            static let provider: InfrastructureProvider = "spare"
            let inner = MockModule(backend: MockBackend())
            var configuration: MockConfiguration { inner.configuration }
            init() {}
            init(_ configuration: MockConfiguration) {}
            func makeAuthClient(_ context: ModuleContext) async throws(InfrastructureError) -> any AuthClient {
                try await inner.makeAuthClient(context)
            }
            func makeStorageClient(_ context: ModuleContext) async throws(InfrastructureError) -> any StorageClient {
                try await inner.makeStorageClient(context)
            }
        }
        let factory = InfrastructureFactory(Spare(), configurable: [MockModule.self])
        let backend = try await factory.make(configuration())
        try await backend.storage.setDocument("a/1", ["n": 1])
        var elsewhere = InfrastructureSelection(default: "spare")
        elsewhere.omit(.files)
        elsewhere.omit(.messaging)
        try await backend.use(elsewhere)
        try await backend.use(configuration(#", "latencyMilliseconds": 1"#))
        #expect(try await backend.storage.document("a/1")["n"] == 1)
        await backend.shutDown()
        try? FileManager.default.removeItem(at: folder)
    }
}
