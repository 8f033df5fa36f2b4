import Switchyard
import SwitchyardSync

extension InfrastructureProvider {
    static let warehouse: InfrastructureProvider = "warehouse"
}

/// What a factory needs to know of the provider: accounts and documents. For the rest it refuses by default.
struct WarehouseModule: InfrastructureModule {
    struct Configuration: Codable, Sendable {}

    static let provider = InfrastructureProvider.warehouse
    let configuration: Configuration
    private let warehouse: Warehouse

    /// Needed for settings from a file, where a real module finds its server's address.
    init(_ configuration: Configuration) {
        self.configuration = configuration
        warehouse = Warehouse()
    }

    init(_ warehouse: Warehouse) {
        configuration = Configuration()
        self.warehouse = warehouse
    }

    func makeAuthClient(_ context: ModuleContext) async throws(InfrastructureError) -> any AuthClient {
        try WarehouseAuth(warehouse, context)
    }

    func makeStorageClient(_ context: ModuleContext) async throws(InfrastructureError) -> any StorageClient {
        try await SyncedStorageClient(
            driver: WarehouseDriver(warehouse: warehouse, auth: context.auth), folder: try context.folder("documents"),
            context: context)
    }
}
