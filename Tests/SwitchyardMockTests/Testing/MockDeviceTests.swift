import Switchyard
import SwitchyardMock
import Testing

/// Which clients are on one device: as the article says.
@Suite struct MockDeviceTests {
    private let project = MockBackend()
    private let selection = InfrastructureSelection(default: .mock)

    @Test func `A factory used twice makes the same device twice`() async throws {
        let network = MockNetwork()
        let factory = InfrastructureFactory(MockModule(backend: project, network: network))
        let first = try await factory.make(selection)
        let alice = try await first.auth.signUp(email: "alice@example.com", password: "long enough").get()
        let second = try await factory.make(selection)
        #expect(try await second.auth.reloadUser().id == alice.id)
        network.isOnline = false
        await #expect(throws: StorageError.self) { try await first.storage.document("a/1", from: .server) }
        await #expect(throws: StorageError.self) { try await second.storage.document("a/1", from: .server) }
        await first.shutDown()
        await second.shutDown()
    }

    @Test func `Another module on the backend is another device of the same project`() async throws {
        let network = MockNetwork()
        let phone = try await Infrastructure(.mock(project, network: network))
        try await phone.auth.signUp(email: "alice@example.com", password: "long enough")
        let tablet = try await Infrastructure(.mock(project))
        await #expect(throws: AuthError.self) { try await tablet.auth.reloadUser() }
        try await phone.storage.setDocument("a/1", ["n": 1])
        network.isOnline = false
        #expect(try await tablet.storage.document("a/1", from: .server)["n"] == 1)
        await phone.shutDown()
        await tablet.shutDown()
    }
}
