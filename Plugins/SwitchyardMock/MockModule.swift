public import Switchyard
import Synchronization

extension InfrastructureProvider {
    /// Everything in memory, by ``MockModule``.
    public static let mock: InfrastructureProvider = "mock"
}

extension InfrastructureModule where Self == MockModule {
    /// A mock that begins empty.
    public static var mock: MockModule { MockModule() }

    public static func mock(_ configuration: MockConfiguration) -> MockModule { MockModule(configuration) }

    /// A mock on a project that a test holds on to.
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
/// A module is one device: its clients share the connection, the kept session and the notes of uploads. Another device of
/// the same project is another module on the same backend.
///
/// Nothing leaves the process and nothing has to be set up. Queries run without an index, in time linear in the collection.
/// With a folder in the configuration, documents, accounts, files, subscriptions, the queue of writes and the cache are kept
/// across runs; a damaged file makes the client's making fail once, with the name under which it was set aside. A folder
/// that another process uses is refused as `.locked`; it is free again when every client of the module was shut down.
///
/// Writes that wait and uploads that were interrupted are whoever's they are: those of somebody who has signed out wait until
/// they come back. Who signs out with the wish to wipe local data has theirs forgotten, and the cache with them. The
/// observer is told of refreshed tokens, and of a connection that comes back while streams are open.
///
/// Tests hold on to what they want to look into:
///
/// ```swift
/// let backend = MockBackend()
/// let network = MockNetwork()
/// let factory = InfrastructureFactory(MockModule(backend: backend, network: network))
/// ```
/// The clients' own controls are reached by `unwrapped(as: MockStorageClient.self)` and its like.
public struct MockModule: InfrastructureModule {
    public static let provider: InfrastructureProvider = .mock
    public let configuration: MockConfiguration
    private let shared: Shared
    /// Whether the project came from outside.
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

    /// A module on a project that somebody else holds too. Settings of a configuration change nothing about that.
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
            parts.backend, network: parts.network, store: parts.uploads, tenant: tenant, auth: context.auth)
    }

    public func makeMessagingClient(_ context: ModuleContext) async throws(InfrastructureError) -> any MessagingClient {
        let (parts, tenant) = try enter(context)
        return try MockMessagingClient(
            parts.backend, network: parts.network, file: parts.backend.folder?.file("installation"),
            tenant: tenant, auth: context.auth)
    }

    public func makeCallerDesk(_ context: ModuleContext) async throws(InfrastructureError) -> any CallerDesk {
        let (parts, tenant) = try enter(context)
        return MockCallerDesk(parts.backend, network: parts.network, tenant: tenant)
    }

    private func enter(_ context: ModuleContext) throws(InfrastructureError) -> (Parts, MockTenant?) {
        try shared.enter { () throws(InfrastructureError) in
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
    }

    /// What the clients of one module have in common.
    private struct Parts: Sendable {
        let backend: MockBackend
        let network: MockNetwork
        let sessions: MockSessionStore
        let uploads: MockUploadStore
        let tenancy: MockTenancy

        /// - Parameter closesBackend: Whether the backend is nobody else's.
        init(
            backend: MockBackend, network: MockNetwork, sessions: MockSessionStore, uploads: MockUploadStore,
            closesBackend: Bool
        ) {
            self.backend = backend
            self.network = network
            self.sessions = sessions
            self.uploads = uploads
            let close: @Sendable () -> Void = { backend.close() }
            tenancy = MockTenancy(whenEmpty: closesBackend ? close : nil)
        }
    }

    /// Made with the first client, since only then the folder and the clocks are known; and anew once the folder was let go.
    private final class Shared: Sendable {
        private let known: Mutex<Parts?>

        init(_ parts: Parts? = nil) { known = Mutex(parts) }

        func enter(
            _ make: () throws(InfrastructureError) -> Parts
        ) throws(InfrastructureError) -> (Parts, MockTenant?) {
            try known.withLock { (known) throws(InfrastructureError) -> (Parts, MockTenant?) in
                if let known, let tenant = known.tenancy.enter() { return (known, tenant) }
                let parts = try make()
                known = parts
                return (parts, parts.tenancy.enter())
            }
        }
    }
}
