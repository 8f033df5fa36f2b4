import Switchyard
import SwitchyardMock
import Synchronization

/// Two providers of the same kind, told apart by name.
enum EastSide: TestSide { static let name: InfrastructureProvider = "east" }
enum WestSide: TestSide { static let name: InfrastructureProvider = "west" }

protocol TestSide: Sendable { static var name: InfrastructureProvider { get } }

struct MockSide<Side: TestSide>: InfrastructureModule {
    static var provider: InfrastructureProvider { Side.name }
    let configuration: Settings
    let backend = MockBackend()
    var network = MockNetwork()
    var hasMessaging = true
    /// Whether its storage has a queue.
    var isOffline = true
    /// Makes the making of a storage fail.
    let storageFailure = Flag()
    let storageClients = Flag()
    /// What happens while its auth is being made.
    var makingAuth: @Sendable () async -> Void = {}
    /// What surrounds its storage.
    var around: @Sendable (any StorageClient) -> any StorageClient = { $0 }

    struct Settings: Codable, Sendable { var tint: String? }

    final class Flag: Sendable {
        let value = Mutex(0)
        func raise() { value.withLock { $0 += 1 } }
        var count: Int { value.withLock { $0 } }
    }

    init(_ configuration: Settings = Settings()) { self.configuration = configuration }

    func makeAuthClient(_ context: ModuleContext) async throws(InfrastructureError) -> any AuthClient {
        await makingAuth()
        return MockAuthClient(backend)
    }
    func makeStorageClient(_ context: ModuleContext) async throws(InfrastructureError) -> any StorageClient {
        if storageFailure.count > 0 { throw InfrastructureError(.localStore, "The folder is locked.") }
        storageClients.raise()
        var capabilities = StorageCapabilities.all
        capabilities.offline = isOffline
        return around(MockStorageClient(backend, network: network, capabilities: capabilities))
    }
    func makeFileStorageClient(
        _ context: ModuleContext
    ) async throws(InfrastructureError) -> any FileStorageClient { MockFileStorageClient(backend) }
    func makeMessagingClient(_ context: ModuleContext) async throws(InfrastructureError) -> any MessagingClient {
        guard hasMessaging else { throw .unsupported(.messaging, by: Self.provider) }
        return MockMessagingClient(backend)
    }
}
