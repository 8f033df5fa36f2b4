import Switchyard
import SwitchyardMock

/// Three companies, each with one thing to offer. Every one is a module of its own, as a real provider would be; behind
/// each stands a mock project, so that the example needs no server.
protocol Company: Sendable {
    static var name: InfrastructureProvider { get }
}

enum Doorman: Company { static let name = InfrastructureProvider.doorman }
enum Library: Company { static let name = InfrastructureProvider.library }
enum Attic: Company { static let name = InfrastructureProvider.attic }

extension InfrastructureProvider {
    static let doorman: InfrastructureProvider = "doorman"
    static let library: InfrastructureProvider = "library"
    static let attic: InfrastructureProvider = "attic"
}

struct CompanyModule<Name: Company>: InfrastructureModule {
    static var provider: InfrastructureProvider { Name.name }
    let configuration: CompanySettings
    private let project = MockBackend()

    init(_ configuration: CompanySettings = CompanySettings()) { self.configuration = configuration }

    func makeAuthClient(_ context: ModuleContext) async throws(InfrastructureError) -> any AuthClient {
        guard Self.provider == .doorman else { throw .unsupported(.auth, by: Self.provider) }
        return try await MockModule(backend: project).makeAuthClient(context)
    }

    func makeStorageClient(_ context: ModuleContext) async throws(InfrastructureError) -> any StorageClient {
        guard Self.provider != .doorman else { throw .unsupported(.storage, by: Self.provider) }
        return try await MockModule(backend: project).makeStorageClient(context)
    }

    func makeFileStorageClient(_ context: ModuleContext) async throws(InfrastructureError) -> any FileStorageClient {
        guard Self.provider == .attic else { throw .unsupported(.files, by: Self.provider) }
        return try await MockModule(backend: project).makeFileStorageClient(context)
    }
}

struct CompanySettings: Codable, Sendable {}
