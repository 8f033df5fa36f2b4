struct AcmeModule: InfrastructureModule {
    struct Settings: Codable, Sendable {
        var project = "demo"
        var apiKey: Secret = "key"
    }
    static let provider: InfrastructureProvider = "acme"
    let configuration: Settings
    init(_ configuration: Settings = Settings()) { self.configuration = configuration }
    func makeAuthClient(_ context: ModuleContext) async throws(InfrastructureError) -> any AuthClient {
        throw .unsupported(.auth, by: "acme")
    }
    func makeStorageClient(_ context: ModuleContext) async throws(InfrastructureError) -> any StorageClient {
        throw .unsupported(.storage, by: "acme")
    }
}

extension InfrastructureModule where Self == AcmeModule {
    static func acme(project: String, apiKey: Secret) -> AcmeModule { AcmeModule() }
}

struct GlobexModule: InfrastructureModule {
    struct Settings: Codable, Sendable {
        var url = ""
        var key: Secret = "key"
    }
    static let provider: InfrastructureProvider = "globex"
    let configuration: Settings
    init(_ configuration: Settings = Settings()) { self.configuration = configuration }
    func makeAuthClient(_ context: ModuleContext) async throws(InfrastructureError) -> any AuthClient {
        throw .unsupported(.auth, by: "globex")
    }
    func makeStorageClient(_ context: ModuleContext) async throws(InfrastructureError) -> any StorageClient {
        throw .unsupported(.storage, by: "globex")
    }
}

extension InfrastructureProvider {
    static let acme: InfrastructureProvider = "acme"
    static let globex: InfrastructureProvider = "globex"
}

extension ConfigurableModule {
    static let globex = ConfigurableModule(GlobexModule.self)
}
