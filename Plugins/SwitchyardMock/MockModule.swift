public import Switchyard
import Synchronization

extension InfrastructureProvider {
    /// Everything in memory; see ``MockModule``.
    public static let mock: InfrastructureProvider = "mock"
}

extension InfrastructureModule where Self == MockModule {
    /// A new, empty mock.
    public static var mock: MockModule { MockModule() }

    public static func mock(_ configuration: MockConfiguration) -> MockModule { MockModule(configuration) }

    /// A mock with a project that the test keeps a reference to.
    public static func mock(_ backend: MockBackend, network: MockNetwork = MockNetwork()) -> MockModule {
        MockModule(backend: backend, network: network)
    }
}

extension ConfigurableModule {
    /// The mock, set up by a configuration.
    public static let mock = ConfigurableModule(MockModule.self)
}

/// The mock as a provider: all four clients on one ``MockBackend``, sharing one ``MockNetwork``.
///
/// A module is one device: its clients share the connection, the saved session and the record of uploads. This applies to
/// everything created from it. A factory used twice with one module creates the same device twice, as if the app had been
/// restarted: the user of the first is signed in on the second. For another device of the same project, create another module
/// with the same backend, or call ``MockBackend/infrastructure(signedInAs:network:in:)``.
///
/// Nothing leaves the process, and no setup is needed. Queries run without an index, in time linear in the collection. With a
/// folder in the configuration, documents, accounts, files, subscriptions, the queue of writes and the cache are stored across
/// runs. If a file is damaged, creating the client fails once, with the name under which the file was set aside. A folder that
/// another process uses is refused with `.locked`; it is released when all clients of the module are shut down.
///
/// Queued writes and interrupted uploads belong to the user who created them, and wait until that user returns. Signing out
/// with `wipesLocalData` deletes them together with the cache. The observer gets events for refreshed tokens, for writes that
/// cannot be sent, and for a connection that comes back while streams are open.
///
/// Tests keep references to what they want to inspect:
///
/// ```swift
/// let backend = MockBackend()
/// let network = MockNetwork()
/// let factory = InfrastructureFactory(MockModule(backend: backend, network: network))
/// ```
/// Reach the clients' own controls with `backend.storage.mock?.controls` and the like.
public struct MockModule: InfrastructureModule {
    public static let provider: InfrastructureProvider = .mock
    public let configuration: MockConfiguration
    private let shared: Shared
    /// Whether the project was passed in.
    private let isGiven: Bool

    public init(_ configuration: MockConfiguration = MockConfiguration()) {
        self.configuration = configuration
        isGiven = false
        shared = Shared()
    }

    private init(_ configuration: MockConfiguration, shared: Shared) {
        self.configuration = configuration
        isGiven = true
        self.shared = shared
    }

    public func reconfigured(_ configuration: MockConfiguration) -> MockModule {
        isGiven ? MockModule(configuration, shared: shared) : MockModule(configuration)
    }

    /// Creates a module with a shared project. The settings of a configuration do not change this project.
    public init(backend: MockBackend, network: MockNetwork = MockNetwork()) {
        configuration = MockConfiguration()
        isGiven = true
        shared = Shared(
            Parts(
                backend: backend, network: network, sessions: MockSessionStore(), uploads: MockUploadStore(),
                closesBackend: false))
    }

    public func validate() throws(InfrastructureError) {
        guard (0...600_000).contains(configuration.latencyMilliseconds) else {
            throw InfrastructureError(
                .invalidConfiguration,
                "The mock's latencyMilliseconds must be 0 to 600000, not \(configuration.latencyMilliseconds).")
        }
    }

    public func makeAuthClient(_ context: ModuleContext) async throws(InfrastructureError) -> any AuthClient {
        let (parts, tenant) = try enter(context)
        let observer = context.observer
        return MockAuthClient(parts.backend, network: parts.network, store: parts.sessions, tenant: tenant) { kind in
            observer.observe(InfrastructureEvent(service: .auth, provider: .mock, kind: kind))
        }
    }

    public func makeStorageClient(_ context: ModuleContext) async throws(InfrastructureError) -> any StorageClient {
        let (parts, tenant) = try enter(context)
        return try await MockStorageClient(
            parts.backend, network: parts.network, keptAs: "device", tenant: tenant, context)
    }

    public func makeFileStorageClient(
        _ context: ModuleContext
    ) async throws(InfrastructureError) -> any FileStorageClient {
        let (parts, tenant) = try enter(context)
        return MockFileStorageClient(
            parts.backend, network: parts.network, store: parts.uploads, tenant: tenant, session: context.session)
    }

    public func makeMessagingClient(_ context: ModuleContext) async throws(InfrastructureError) -> any MessagingClient {
        let (parts, tenant) = try enter(context)
        return try MockMessagingClient(
            parts.backend, network: parts.network, file: parts.backend.folder?.file("installation"),
            tenant: tenant, session: context.session)
    }

    public func makeServerClientFactory(_ context: ModuleContext) async throws(InfrastructureError)
        -> any ServerClientFactory
    {
        let (parts, tenant) = try enter(context)
        return MockServerClientFactory(parts.backend, network: parts.network, tenant: tenant)
    }

    private func enter(_ context: ModuleContext) throws(InfrastructureError) -> (Parts, MockBackendLease?) {
        let entered = try shared.enter { () throws(InfrastructureError) in
            try validate()
            let folder = configuration.folder ?? (configuration.usesStateFolder ? context.stateFolder : nil)
            let observer = context.observer
            let backend =
                if let folder {
                    try MockBackend(
                        folder: folder, now: context.now,
                        report: { text in
                            observer.observe(
                                InfrastructureEvent(service: .storage, provider: .mock, kind: .notice(text)))
                        })
                } else { MockBackend(now: context.now) }
            if configuration.hasSampleData { try MockSample.fill(backend) }
            backend.accounts.asksForConfirmation = configuration.asksForConfirmation
            return Parts(
                backend: backend,
                network: MockNetwork(
                    clock: context.clock, latency: .milliseconds(configuration.latencyMilliseconds)),
                sessions: backend.folder?.sessions ?? MockSessionStore(),
                uploads: backend.folder?.uploads ?? MockUploadStore(),
                closesBackend: folder != nil)
        }
        entered.0.network.callLimits = context.callLimits
        return entered
    }

    /// What the clients of one module share.
    private struct Parts: Sendable {
        let backend: MockBackend
        let network: MockNetwork
        let sessions: MockSessionStore
        let uploads: MockUploadStore
        let usage: MockBackendUsage

        /// - Parameter closesBackend: Whether the backend belongs to this module alone.
        init(
            backend: MockBackend, network: MockNetwork, sessions: MockSessionStore, uploads: MockUploadStore,
            closesBackend: Bool
        ) {
            self.backend = backend
            self.network = network
            self.sessions = sessions
            self.uploads = uploads
            let close: @Sendable () -> Void = { backend.close() }
            usage = MockBackendUsage(whenEmpty: closesBackend ? close : nil)
        }
    }

    /// Created with the first client, which provides the folder and the clocks, and again after the folder was released.
    private final class Shared: Sendable {
        private let known: Mutex<Parts?>

        init(_ parts: Parts? = nil) { known = Mutex(parts) }

        func enter(
            _ make: () throws(InfrastructureError) -> Parts
        ) throws(InfrastructureError) -> (Parts, MockBackendLease?) {
            try known.withLock { (known) throws(InfrastructureError) -> (Parts, MockBackendLease?) in
                if let known, let tenant = known.usage.enter() { return (known, tenant) }
                let parts = try make()
                known = parts
                return (parts, parts.usage.enter())
            }
        }
    }
}
