public import Switchyard
import Synchronization

extension InfrastructureProvider {
    /// Documents and files that are moving from one provider to another; see ``MovingModule``.
    public static let moving: InfrastructureProvider = "moving"
}

/// A provider that stands for two others during a move.
///
/// ```swift
/// let factory = InfrastructureFactory(acme, MovingModule(from: acme, to: globex, name: "2026"))
/// var selection = InfrastructureSelection(default: acme.provider)
/// selection.storage = .moving
/// selection.files = .moving
/// ```
/// In a configuration, both providers have settings of their own, and `"moving": { "from": "firebase", "to": "supabase" }` names
/// them. Local data stays where each provider keeps it: an app that begins to use this module finds its cache and its queue.
/// Accounts and messages stay with the provider that is chosen for them.
public struct MovingModule: InfrastructureModule {
    public static let provider: InfrastructureProvider = .moving
    public let configuration: MovingConfiguration
    private let modules: Sides<any InfrastructureModule>?
    private let shared = Shared()

    /// What the clients of one infrastructure share.
    private final class Shared: Sendable {
        struct Weak { weak var storage: MovingStorageClient? }
        let storage = Mutex(Weak())
    }

    /// Needs the modules of both providers from the factory that it is given to.
    public init(_ configuration: MovingConfiguration) {
        self.configuration = configuration
        modules = nil
    }

    /// - Parameters:
    ///   - from: The module of the provider that the data are on.
    ///   - to: The module of the provider that they move to.
    ///   - name: The move's name, the same on all devices.
    public init(from: any InfrastructureModule, to: any InfrastructureModule, name: String = "default") {
        configuration = MovingConfiguration(from: from.provider, to: to.provider, name: name)
        modules = Sides(old: from, new: to)
    }

    private init(_ configuration: MovingConfiguration, _ modules: Sides<any InfrastructureModule>) {
        self.configuration = configuration
        self.modules = modules
    }

    public func reconfigured(_ configuration: MovingConfiguration) -> MovingModule {
        guard let modules, configuration.from == modules.old.provider, configuration.to == modules.new.provider else {
            return MovingModule(configuration)
        }
        return MovingModule(configuration, modules)
    }

    public func validate() throws(InfrastructureError) {
        do throws(MoveError) { _ = try MoveLayout(configuration.name) } catch {
            throw InfrastructureError(.invalidConfiguration, error.message)
        }
        guard configuration.from != .moving, configuration.to != .moving else {
            throw InfrastructureError(
                .invalidConfiguration, "A move leads from one provider to another, not to “moving”.")
        }
    }

    // MARK: Clients

    public func makeStorageClient(_ context: ModuleContext) async throws(InfrastructureError) -> any StorageClient {
        let modules = try sides()
        let old = try await modules.old.makeStorageClient(context.beside(modules.old.provider))
        let moving: MovingStorageClient
        do {
            let new = try await modules.new.makeStorageClient(context.beside(modules.new.provider))
            moving = try make(Sides(old: old, new: new), context.observer)
        } catch {
            await old.shutDown()
            throw error
        }
        shared.storage.withLock { $0.storage = moving }
        return moving
    }

    public func makeFileStorageClient(
        _ context: ModuleContext
    ) async throws(InfrastructureError) -> any FileStorageClient {
        guard let storage = shared.storage.withLock(\.storage) else {
            throw InfrastructureError(
                .invalidConfiguration, "Files move together with documents. Choose “moving” for the storage, too.")
        }
        let modules = try sides()
        let old = try await modules.old.makeFileStorageClient(context.beside(modules.old.provider))
        do throws(InfrastructureError) {
            let new = try await modules.new.makeFileStorageClient(context.beside(modules.new.provider))
            return MovingFileStorageClient(old: old, new: new, with: storage)
        } catch {
            await old.shutDown()
            throw error
        }
    }

    public func makeServerClientFactory(_ context: ModuleContext) async throws(InfrastructureError)
        -> any ServerClientFactory
    {
        let modules = try sides()
        let old = try await modules.old.makeServerClientFactory(context.beside(modules.old.provider))
        let new: any ServerClientFactory
        do throws(InfrastructureError) {
            new = try await modules.new.makeServerClientFactory(context.beside(modules.new.provider))
        } catch {
            await old.shutDown()
            throw error
        }
        return MovingServerClientFactory(Sides(old: old, new: new)) { clients throws(InfrastructureError) in
            try make(clients, context.observer)
        }
    }

    public func wipeLocalData(of userID: AuthUser.ID?, _ context: ModuleContext) async throws(InfrastructureError) {
        let modules = try sides()
        for module in [modules.old, modules.new] {
            try await module.wipeLocalData(of: userID, context.beside(module.provider))
        }
    }

    private func make(
        _ clients: Sides<any StorageClient>, _ observer: any InfrastructureObserver
    ) throws(InfrastructureError) -> MovingStorageClient {
        do throws(MoveError) {
            return try MovingStorageClient(clients, try MoveLayout(configuration.name), observer)
        } catch {
            throw InfrastructureError(.invalidConfiguration, error.message, underlying: error)
        }
    }

    private func sides() throws(InfrastructureError) -> Sides<any InfrastructureModule> {
        if let modules { return modules }
        throw InfrastructureError(
            .invalidConfiguration,
            "The move does not know the modules “\(configuration.from)” and “\(configuration.to)”. Give them to the factory, too."
        )
    }
}

extension MovingModule: ModuleOfModules {
    package var parts: [any InfrastructureModule] { modules.map { [$0.old, $0.new] } ?? [] }

    package func resolved(
        _ module: (InfrastructureProvider) throws(InfrastructureError) -> any InfrastructureModule
    ) throws(InfrastructureError) -> any InfrastructureModule {
        guard modules == nil else { return self }
        return MovingModule(
            configuration, Sides(old: try module(configuration.from), new: try module(configuration.to)))
    }
}

/// The settings of a ``MovingModule``.
public struct MovingConfiguration: Sendable, Hashable, Codable {
    /// The provider that the data are on.
    public var from: InfrastructureProvider
    /// The provider that they move to.
    public var to: InfrastructureProvider
    /// The move's name, the same on all devices.
    public var name: String

    public init(from: InfrastructureProvider, to: InfrastructureProvider, name: String = "default") {
        self.from = from
        self.to = to
        self.name = name
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        from = try container.decode(InfrastructureProvider.self, forKey: .from)
        to = try container.decode(InfrastructureProvider.self, forKey: .to)
        name = try container.decodeIfPresent(String.self, forKey: .name) ?? "default"
    }
}
