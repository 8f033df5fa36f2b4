/// Makes clients from its modules: all of them together, or one.
///
/// ```swift
/// let factory = InfrastructureFactory(AcmeModule(configuration), MockModule())
/// var selection = InfrastructureSelection(default: .acme)
/// selection.messaging = .mock
/// let backend = try await factory.make(selection)
/// ```
///
/// There is no global registry: a factory knows only the modules you pass to it.
public struct InfrastructureFactory: Sendable {
    private let moduleSources: [ModuleSource]
    /// How single clients repeat calls, as a configuration says; those of an ``Infrastructure`` have its own configuration.
    private let retry: RetryPolicy?
    private let shared = SharedInfrastructures()

    /// - Parameters:
    ///   - modules: Modules that are set up in code. A configuration may override single settings.
    ///   - types: Modules that get their settings from a configuration.
    public init(_ modules: any InfrastructureModule..., configurable types: [any InfrastructureModule.Type] = []) {
        self.init(modules, configurable: types)
    }

    /// - Parameters:
    ///   - modules: Modules that are set up in code. A configuration may override single settings.
    ///   - types: Modules that get their settings from a configuration.
    public init(_ modules: [any InfrastructureModule], configurable types: [any InfrastructureModule.Type] = []) {
        self.init(moduleSources: modules.map { .configured($0) } + types.map { .configurable($0) }, retry: nil)
    }

    private init(moduleSources: [ModuleSource], retry: RetryPolicy?) {
        self.moduleSources = moduleSources
        self.retry = retry
    }

    /// The same modules, set up by `configuration` once, so that everything this factory makes shares their resources. Clients
    /// that it makes alone repeat calls as the configuration's `retry` says.
    ///
    /// - Throws: `.unknownProvider`, `.invalidConfiguration`.
    public func configured(by configuration: InfrastructureConfiguration) throws(InfrastructureError)
        -> InfrastructureFactory
    {
        try check(configuration)
        var modules: [ModuleSource] = []
        let wanted = configuration.selection.providers.union(configuration.settings.keys)
        for provider in wanted.sorted(by: { $0.rawValue < $1.rawValue }) {
            modules.append(.configured(try module(provider, configuration)))
        }
        return InfrastructureFactory(moduleSources: modules, retry: configuration.retry)
    }

    /// The same modules, with `module` replacing the one of its name, if there is one.
    package func replacing(_ module: some InfrastructureModule) -> InfrastructureFactory {
        let others = moduleSources.filter { $0.provider != type(of: module).provider }
        return InfrastructureFactory(moduleSources: others + [.configured(module)], retry: retry)
    }

    /// The names of all modules, sorted.
    public var providers: [InfrastructureProvider] {
        Set(moduleSources.map(\.provider)).sorted { $0.rawValue < $1.rawValue }
    }

    /// All clients of `selection`. Throws here if anything is wrong with it, and then leaves nothing behind.
    public func make(
        _ selection: InfrastructureSelection, in options: InfrastructureOptions = InfrastructureOptions()
    ) async throws(InfrastructureError) -> Infrastructure {
        try await make(InfrastructureConfiguration(selection), in: options)
    }

    /// All clients of `configuration`.
    ///
    /// - Throws: `.unknownProvider`, `.invalidConfiguration`, `.unsupported` for a client that its provider lacks, or a
    ///   module's own error.
    public func make(
        _ configuration: InfrastructureConfiguration,
        in options: InfrastructureOptions = InfrastructureOptions()
    ) async throws(InfrastructureError) -> Infrastructure {
        try await Infrastructure(factory: self, configuration: configuration, options: options)
    }

    // MARK: One client alone

    /// The auth client of `provider`, shared by all domain clients that this factory makes individually for that provider. It
    /// has the options of the first call, and lives as long as it or one of them is in use.
    public func createAuthClient(
        provider: InfrastructureProvider, in options: InfrastructureOptions = InfrastructureOptions()
    ) async throws(InfrastructureError) -> any AuthClient {
        try await sharedClient(\.auth, of: provider, options, on: [])
    }

    /// The storage of the user who is signed in with `auth`; by default with the client that ``createAuthClient(provider:in:)``
    /// makes. Requests to a provider without accounts are unauthenticated.
    ///
    /// Each call makes a client of its own. In a state folder, shut one down before you make the next.
    public func createStorageClient(
        provider: InfrastructureProvider, auth: (any AuthClient)? = nil,
        in options: InfrastructureOptions = InfrastructureOptions()
    ) async throws(InfrastructureError) -> any StorageClient {
        try await module(provider).makeStorageClient(context(for: provider, auth, options))
            .with(CallPolicies(retry: retry, options).policy(for: .storage, of: provider))
    }

    /// As ``createStorageClient(provider:auth:in:)``, for files.
    public func createFileStorageClient(
        provider: InfrastructureProvider, auth: (any AuthClient)? = nil,
        in options: InfrastructureOptions = InfrastructureOptions()
    ) async throws(InfrastructureError) -> any FileStorageClient {
        try await module(provider).makeFileStorageClient(context(for: provider, auth, options))
            .with(CallPolicies(retry: retry, options).policy(for: .files, of: provider))
    }

    /// As ``createStorageClient(provider:auth:in:)``, for messages.
    public func createMessagingClient(
        provider: InfrastructureProvider, auth: (any AuthClient)? = nil,
        in options: InfrastructureOptions = InfrastructureOptions()
    ) async throws(InfrastructureError) -> any MessagingClient {
        try await module(provider).makeMessagingClient(context(for: provider, auth, options))
            .with(CallPolicies(retry: retry, options).policy(for: .messaging, of: provider))
    }

    private func context(
        for provider: InfrastructureProvider, _ auth: (any AuthClient)?, _ options: InfrastructureOptions
    ) async throws(InfrastructureError) -> ModuleContext {
        var auth = auth
        do throws(InfrastructureError) {
            if auth == nil { auth = try await createAuthClient(provider: provider, in: options) }
        } catch {
            // A provider without accounts knows no one by name.
            guard error.code == .unsupported else { throw error }
        }
        return options.context(for: provider, auth.map(SessionFeed.init))
    }

    /// The provider's client for users, built on existing clients.
    public func createUserClient(
        provider: InfrastructureProvider, on core: CoreClients
    ) async throws(InfrastructureError) -> any UserClient { try await module(provider).makeUserClient(on: core) }

    public func createContactsClient(
        provider: InfrastructureProvider, on core: CoreClients
    ) async throws(InfrastructureError) -> any ContactsClient {
        try await module(provider).makeContactsClient(on: core)
    }

    public func createCheckInClient(
        provider: InfrastructureProvider, on core: CoreClients
    ) async throws(InfrastructureError) -> any CheckInClient { try await module(provider).makeCheckInClient(on: core) }

    public func createNotificationClient(
        provider: InfrastructureProvider, on core: CoreClients
    ) async throws(InfrastructureError) -> any NotificationClient {
        try await module(provider).makeNotificationClient(on: core)
    }

    /// The client for users, entirely on `provider`. Its user is the one signed in with the auth client that this factory
    /// makes for the provider; without such a client, it uses the session stored on the device.
    ///
    /// All domain clients that a factory makes this way for one provider share one storage. It is made with the first client,
    /// in that client's options, and lives as long as any of them. For all clients and an explicit shutdown, use an
    /// ``Infrastructure``.
    public func createUserClient(
        provider: InfrastructureProvider, in options: InfrastructureOptions = InfrastructureOptions()
    ) async throws(InfrastructureError) -> any UserClient {
        try await sharedClient(\.users, of: provider, options, on: [.auth, .storage, .files])
    }
    /// As ``createUserClient(provider:in:)``.
    public func createContactsClient(
        provider: InfrastructureProvider, in options: InfrastructureOptions = InfrastructureOptions()
    ) async throws(InfrastructureError) -> any ContactsClient {
        try await sharedClient(\.contacts, of: provider, options)
    }
    /// As ``createUserClient(provider:in:)``.
    public func createCheckInClient(
        provider: InfrastructureProvider, in options: InfrastructureOptions = InfrastructureOptions()
    ) async throws(InfrastructureError) -> any CheckInClient {
        try await sharedClient(\.checkIns, of: provider, options)
    }
    /// As ``createUserClient(provider:in:)``.
    public func createNotificationClient(
        provider: InfrastructureProvider, in options: InfrastructureOptions = InfrastructureOptions()
    ) async throws(InfrastructureError) -> any NotificationClient {
        try await sharedClient(\.notifications, of: provider, options)
    }

    private func sharedClient<Client>(
        _ service: KeyPath<ClientTable, ServiceClients<Client>>, of provider: InfrastructureProvider,
        _ options: InfrastructureOptions,
        on foundations: Set<InfrastructureService> = [.auth, .storage]
    ) async throws(InfrastructureError) -> Client {
        let coordinator = coordinator(of: provider, options)
        let clients = coordinator.clients[keyPath: service]
        try await coordinator.add(foundations.union([clients.service]))
        return clients.client(keeping: coordinator)
    }

    private func coordinator(of provider: InfrastructureProvider, _ options: InfrastructureOptions)
        -> SwitchCoordinator
    {
        shared.coordinator(of: provider) {
            var configuration = InfrastructureConfiguration(InfrastructureSelection(default: provider))
            configuration.retry = retry
            return SwitchCoordinator(
                factory: self, configuration: configuration,
                options: options, optionalServices: [.files])  // needed only for user images
        }
    }

    private func module(
        _ provider: InfrastructureProvider
    ) throws(InfrastructureError) -> any InfrastructureModule {
        let configuration = InfrastructureConfiguration(InfrastructureSelection(default: provider))
        try check(configuration)
        return try module(provider, configuration)
    }

    func module(
        _ provider: InfrastructureProvider, _ configuration: InfrastructureConfiguration
    ) throws(InfrastructureError) -> any InfrastructureModule {
        guard let supplier = moduleSources.first(where: { $0.provider == provider }) else {
            throw configuration.error(.unknownProvider(provider, at: ["default"], known: providers))
        }
        let module = try supplier.module(configuration)
        guard let combined = module as? any ModuleOfModules else { return module }
        return try combined.resolved { (provider) throws(InfrastructureError) in
            try self.module(provider, configuration)
        }
    }

    /// Checks everything that can be checked without making a client, including providers that are not chosen now.
    func check(_ configuration: InfrastructureConfiguration) throws(InfrastructureError) {
        for provider in providers where moduleSources.count(where: { $0.provider == provider }) > 1 {
            throw InfrastructureError(
                .invalidConfiguration, "The factory was given two modules “\(provider)”; keep one.")
        }
        for service in InfrastructureService.allCases {
            guard let provider = configuration.selection.provider(for: service) else { continue }
            guard !providers.contains(provider) else { continue }
            throw configuration.error(
                .unknownProvider(provider, at: configuration.selection.place(of: service), known: providers))
        }
        for provider in configuration.settings.keys.sorted(by: { $0.rawValue < $1.rawValue }) {
            guard providers.contains(provider) else {
                throw configuration.error(
                    .unknownProvider(provider, at: ["providers", provider.rawValue], known: providers))
            }
            _ = try module(provider, configuration)
        }
    }
}
