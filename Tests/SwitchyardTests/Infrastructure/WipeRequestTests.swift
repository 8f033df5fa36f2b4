import SwitchyardMock
import Synchronization
import Testing

@testable import Switchyard

private enum East: Side { static let name: InfrastructureProvider = "east" }
private enum West: Side { static let name: InfrastructureProvider = "west" }
private enum North: Side { static let name: InfrastructureProvider = "north" }
private protocol Side: Sendable { static var name: InfrastructureProvider { get } }

/// Whose data was deleted, in which order.
private final class Forgotten: Sendable {
    private let list = Mutex<[AuthUser.ID?]>([])
    var all: [AuthUser.ID?] { list.withLock { $0 } }
    func add(_ people: [AuthUser.ID?]) { list.withLock { $0 += people } }
}

private struct SideModule<Name: Side>: InfrastructureModule {
    static var provider: InfrastructureProvider { Name.name }
    let configuration = MockConfiguration()
    let backend = MockBackend()
    let forgotten = Forgotten()
    let elsewhere = Forgotten()

    init() {}
    init(_ configuration: MockConfiguration) {}

    func makeAuthClient(_ context: ModuleContext) async throws(InfrastructureError) -> any AuthClient {
        NamedAuth(route: Route<any AuthClient>(to: MockAuthClient(backend)), provider: Name.name)
    }
    func makeStorageClient(_ context: ModuleContext) async throws(InfrastructureError) -> any StorageClient {
        guard let session = context.session else { return MockStorageClient(backend) }
        return NotingStorage(MockStorageClient(backend), session, forgotten)
    }
    func wipeLocalData(of userID: AuthUser.ID?, _ context: ModuleContext) async throws(InfrastructureError) {
        elsewhere.add([userID])
    }
}

private struct NamedAuth: RoutedAuthClient {
    let route: Route<any AuthClient>
    let provider: InfrastructureProvider
    var session: SessionSnapshot {
        get async {
            let session = await Routed(route).session
            return SessionSnapshot(issuer: provider, state: session.state, wipeRequests: session.wipeRequests)
        }
    }
}

/// Notes whose data it was to delete.
private final class NotingStorage: StorageClientWrapper {
    let base: any StorageClient
    private let subscription: SessionSubscription

    init(_ base: any StorageClient, _ session: SessionFeed, _ forgotten: Forgotten) {
        self.base = base
        subscription = session.subscribe { change in
            if case .wipe(let userID) = change { forgotten.add([userID]) }
        }
    }
}

/// Sign-outs that ask for local data to be deleted, seen only when another auth client is chosen.
@Suite struct WipeRequestTests {
    private let east = SideModule<East>()
    private let west = SideModule<West>()
    private let north = SideModule<North>()

    private func make(
        _ edit: (inout InfrastructureSelection) -> Void = { _ in }
    ) async throws -> (Infrastructure, AuthUser) {
        var selection = InfrastructureSelection(default: "east")
        selection.omit(.files)
        selection.omit(.messaging)
        edit(&selection)
        let backend = try await InfrastructureFactory(east, west, north).make(selection)
        return (backend, try await backend.auth.signUp(email: "a@example.com", password: "long enough").get())
    }

    /// Only the requester is notified.
    private func signOutSilently(_ backend: Infrastructure) async throws {
        let mock = try #require(backend.auth.unwrapped(as: MockAuthClient.self))
        try await mock.signOut(.local, wipesLocalData: true)
    }

    @Test func `The storage forgets the user before another auth client takes the place of theirs`() async throws {
        let (backend, user) = try await make()
        try await signOutSilently(backend)
        try await backend.use("west", for: .auth)
        #expect(east.forgotten.all == [user.id])
        await backend.shutDown()
    }

    @Test func `A storage that has left and is still at work forgets the user too`() async throws {
        let (backend, user) = try await make()
        let mock = try #require(backend.storage.unwrapped(as: NotingStorage.self)?.base as? MockStorageClient)
        try await mock.disableNetwork()
        try await backend.storage.setDocument("notes/a", ["n": 1])
        // It waits for its queue, in memory, for as long as the infrastructure lives.
        try await backend.use("west", for: .storage)
        try await backend.auth.signOut(.local, wipesLocalData: true)
        #expect(east.forgotten.all == [user.id] && east.elsewhere.all.isEmpty)
        #expect(north.elsewhere.all == [user.id])
        await backend.shutDown()
    }

    @Test func `So does one that is left with the same change, one of a pinned client, and a provider not chosen`()
        async throws
    {
        let (backend, user) = try await make { $0.contacts = "west" }
        try await signOutSilently(backend)
        var selection = await backend.selection
        selection.default = "west"
        try await backend.use(selection)
        #expect(east.forgotten.all == [user.id])
        #expect(west.forgotten.all == [user.id])
        #expect(north.elsewhere.all == [user.id])
        await backend.shutDown()
    }
}
