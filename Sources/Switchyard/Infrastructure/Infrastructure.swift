/// All clients of a program, each on its chosen provider. You can change the providers while the clients are in use.
///
/// Pass the clients around once and keep them: ``use(_:for:)`` changes the provider behind them, not the values. Calls in
/// progress finish where they began, later ones go to the new provider, and live streams move over. A network that was
/// switched off by ``StorageClient/disableNetwork()`` stays off.
public final class Infrastructure: Sendable {
    public let auth: any AuthClient
    public let storage: any StorageClient
    public let files: any FileStorageClient
    public let messaging: any MessagingClient
    public let users: any UserClient
    public let contacts: any ContactsClient
    public let checkIns: any CheckInClient
    public let notifications: any NotificationClient

    let coordinator: SwitchCoordinator
    /// What makes the clients when they are first used; `nil` if they are there from the beginning.
    private let deferredStart: DeferredStart?

    /// - Parameter optionalServices: Services that may be missing if their provider lacks them; their calls then say why.
    convenience init(
        factory: InfrastructureFactory, configuration: InfrastructureConfiguration,
        options: InfrastructureOptions, optionalServices: Set<InfrastructureService> = []
    ) async throws(InfrastructureError) {
        let coordinator = SwitchCoordinator(
            factory: factory, configuration: configuration, options: options, optionalServices: optionalServices)
        self.init(coordinator, nil)
        try await coordinator.begin()
    }

    /// - Parameter start: Makes the clients when they are first used.
    init(_ coordinator: SwitchCoordinator, _ start: DeferredStart?) {
        self.coordinator = coordinator
        deferredStart = start
        let clients = coordinator.clients
        auth = InfrastructureAuthClient(route: Route(clients.auth.board, after: start)) {
            await coordinator.settleSession()
        }
        storage = InfrastructureStorageClient(
            route: Route(clients.storage.board, after: start), network: clients.storageNetwork,
            coordinator: coordinator)
        files = clients.files.client(keeping: coordinator, after: start)
        messaging = clients.messaging.client(keeping: coordinator, after: start)
        users = clients.users.client(keeping: coordinator, after: start)
        contacts = clients.contacts.client(keeping: coordinator, after: start)
        checkIns = clients.checkIns.client(keeping: coordinator, after: start)
        notifications = clients.notifications.client(keeping: coordinator, after: start)
    }

    /// Makes the clients of an infrastructure that was ``deferred(_:others:in:)``, if no one has used them yet. Otherwise this
    /// returns at once.
    ///
    /// - Throws: As the initializers. You can call this again, and so does the next use of a client.
    public func start() async throws(InfrastructureError) { try await deferredStart?.wait() }

    /// The current selection.
    public var selection: InfrastructureSelection { get async { await coordinator.configuration.selection } }

    /// Switches one client to `provider`, and returns once the new client is in use.
    ///
    /// The old client finishes its calls and sends the writes in its queue; ``SwitchReport/drained()`` waits for that.
    /// - Throws: As ``InfrastructureFactory/make(_:in:)-(InfrastructureSelection,_)``; in that case nothing has changed.
    @discardableResult
    public func use(
        _ provider: InfrastructureProvider, for service: InfrastructureService
    ) async throws(InfrastructureError) -> SwitchReport {
        try await start()
        return try await coordinator.change { $0.selection[service] = provider }
    }

    /// Switches to another selection.
    @discardableResult
    public func use(_ selection: InfrastructureSelection) async throws(InfrastructureError) -> SwitchReport {
        try await start()
        return try await coordinator.change { $0.selection = selection }
    }

    /// Switches to another configuration. A provider whose settings differ gets new clients.
    ///
    /// - Throws: As ``use(_:for:)``; `.locked` if a provider's new clients need the folder that its current ones use until
    ///   they are drained. Switch to another provider first, or choose another folder.
    @discardableResult
    public func use(_ configuration: InfrastructureConfiguration) async throws(InfrastructureError) -> SwitchReport {
        try await start()
        return try await coordinator.change { $0 = configuration }
    }

    /// For servers: verifies the tokens of requests, as issued by the chosen auth provider. After ``use(_:for:)`` with
    /// another provider for auth, call this again: an existing verifier keeps accepting the tokens of its own provider.
    ///
    /// - Throws: `.unsupported` if the provider has no verifier.
    public func tokenVerifier() async throws(InfrastructureError) -> any TokenVerifier {
        try await start()
        let (factory, policies) = try await coordinator.factoryAndPolicies(for: .auth)
        let verifier = factory.verifier
        return verifier.with(policies.policy(for: .auth, of: verifier.provider))
    }

    /// For servers: the clients for one request, which act for the user who sent it. They share this infrastructure's
    /// connections and limits, take microseconds to make, and need no shutdown.
    ///
    /// - Throws: `.unsupported` if the storage's provider cannot act for callers.
    public func acting(as caller: VerifiedToken) async throws(InfrastructureError) -> ActingClients {
        try await start()
        return try ActingClients(caller, by: try await coordinator.factories())
    }

    /// For servers: clients that act for the project itself, with the service account or service key of its configuration.
    /// They bypass all rules, so use ``acting(as:)`` to serve callers' requests. Nothing is kept between calls: a write is
    /// done when its call returns.
    ///
    /// - Throws: `.invalidConfiguration` if the configuration has no such credential; `.unsupported` if the provider does not
    ///   support it.
    public func actingAsProject() async throws(InfrastructureError) -> ProjectClients {
        try await start()
        return try ProjectClients(by: try await coordinator.factories())
    }

    /// For servers: manages all accounts of the chosen auth provider's project.
    ///
    /// - Throws: As ``actingAsProject()``.
    public func admin() async throws(InfrastructureError) -> any AdminClient {
        try await start()
        let (factory, policies) = try await coordinator.factoryAndPolicies(for: .auth)
        let admin = try factory.makeAdminClient()
        return admin.with(policies.policy(for: .auth, of: admin.provider))
    }

    /// For servers: sends messages on behalf of the chosen messaging provider's project.
    ///
    /// - Throws: As ``actingAsProject()``.
    public func messageSender() async throws(InfrastructureError) -> any MessageSender {
        try await start()
        let (factory, policies) = try await coordinator.factoryAndPolicies(for: .messaging)
        let sender = try factory.makeMessageSender()
        return sender.with(policies.policy(for: .messaging, of: sender.provider))
    }

    /// Shuts down every client. Streams end, and later calls throw `.shutDown`. You may call this twice.
    public func shutDown() async { await coordinator.shutDown() }
}
