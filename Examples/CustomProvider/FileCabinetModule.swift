import Switchyard

extension InfrastructureProvider {
    static let fileCabinet: InfrastructureProvider = "fileCabinet"
}

/// Everything a factory needs to know of the provider. There is only a storage; for the rest it refuses by default.
struct FileCabinetModule: InfrastructureModule {
    static let provider = InfrastructureProvider.fileCabinet
    let configuration: FileCabinetConfiguration

    init(_ configuration: FileCabinetConfiguration) { self.configuration = configuration }

    func makeStorageClient(_ context: ModuleContext) async throws(InfrastructureError) -> any StorageClient {
        FileCabinetClient(cabinet: FileCabinet(now: context.now))
    }
}

/// The settings. None yet: a cabinet has no server.
struct FileCabinetConfiguration: Codable, Sendable {}
