/// Makes clients from the modules it was given: all of them together, or one.
///
/// ```swift
/// let factory = InfrastructureFactory(AcmeModule(acme), MockModule())
/// var selection = InfrastructureSelection(default: .acme)
/// selection.messaging = .mock
/// let backend = try await factory.make(selection)
/// ```
///
/// There is no registry behind it: what a factory knows is what it was handed.
public struct InfrastructureFactory: Sendable {
    private let suppliers: [ModuleSupplier]

    /// - Parameters:
    ///   - modules: Modules that are set up in code. A configuration may override single settings of theirs.
    ///   - types: Modules that get their settings from a configuration.
    public init(_ modules: any InfrastructureModule..., configurable types: [any InfrastructureModule.Type] = []) {
        suppliers = modules.map { .configured($0) } + types.map { .configurable($0) }
    }

    private init(suppliers: [ModuleSupplier]) { self.suppliers = suppliers }

    /// The same modules, set up by `configuration` once and for all: what is made by this factory shares what they share.
    package func configured(by configuration: InfrastructureConfiguration) throws(InfrastructureError)
        -> InfrastructureFactory
    {
        try checkSettings(configuration)
        var modules: [ModuleSupplier] = []
        for provider in configuration.selection.providers.sorted(by: { $0.rawValue < $1.rawValue }) {
            modules.append(.configured(try module(provider, configuration)))
        }
        return InfrastructureFactory(suppliers: modules)
    }

    /// The names of all modules, sorted.
    public var providers: [InfrastructureProvider] {
        Set(suppliers.map(\.provider)).sorted { $0.rawValue < $1.rawValue }
    }

    /// All clients of `selection`. Everything that can be wrong with it is said here, and then nothing is left behind.
    public func make(
        _ selection: InfrastructureSelection, in surroundings: InfrastructureSurroundings = InfrastructureSurroundings()
    ) async throws(InfrastructureError) -> Infrastructure {
        try await make(InfrastructureConfiguration(selection), in: surroundings)
    }

    /// All clients of `configuration`.
    ///
    /// - Throws: `.unknownProvider`, `.invalidConfiguration`, `.unsupported` for a client that its provider lacks, or what a
    ///   module has to say.
    public func make(
        _ configuration: InfrastructureConfiguration,
        in surroundings: InfrastructureSurroundings = InfrastructureSurroundings()
    ) async throws(InfrastructureError) -> Infrastructure {
        try await Infrastructure(factory: self, configuration: configuration, surroundings: surroundings)
    }

    // MARK: One client alone

    public func createAuthClient(
        provider: InfrastructureProvider, in surroundings: InfrastructureSurroundings = InfrastructureSurroundings()
    ) async throws(InfrastructureError) -> any AuthClient {
        try await module(provider).makeAuthClient(surroundings.context(for: provider, auth: nil))
    }

    /// The storage uses the tokens of `auth`; without one it works for nobody in particular.
    public func createStorageClient(
        provider: InfrastructureProvider, auth: (any AuthClient)? = nil,
        in surroundings: InfrastructureSurroundings = InfrastructureSurroundings()
    ) async throws(InfrastructureError) -> any StorageClient {
        try await module(provider).makeStorageClient(surroundings.context(for: provider, auth: auth))
    }

    public func createFileStorageClient(
        provider: InfrastructureProvider, auth: (any AuthClient)? = nil,
        in surroundings: InfrastructureSurroundings = InfrastructureSurroundings()
    ) async throws(InfrastructureError) -> any FileStorageClient {
        try await module(provider).makeFileStorageClient(surroundings.context(for: provider, auth: auth))
    }

    public func createMessagingClient(
        provider: InfrastructureProvider, auth: (any AuthClient)? = nil,
        in surroundings: InfrastructureSurroundings = InfrastructureSurroundings()
    ) async throws(InfrastructureError) -> any MessagingClient {
        try await module(provider).makeMessagingClient(surroundings.context(for: provider, auth: auth))
    }

    /// The provider's client for users on clients that exist already.
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

    /// The client for users with its own auth, storage and files, all of `provider`.
    public func createUserClient(
        provider: InfrastructureProvider, in surroundings: InfrastructureSurroundings = InfrastructureSurroundings()
    ) async throws(InfrastructureError) -> any UserClient {
        try await make(InfrastructureSelection(default: provider, files: true), in: surroundings).users
    }
    public func createContactsClient(
        provider: InfrastructureProvider, in surroundings: InfrastructureSurroundings = InfrastructureSurroundings()
    ) async throws(InfrastructureError) -> any ContactsClient {
        try await make(InfrastructureSelection(default: provider, files: false), in: surroundings).contacts
    }
    public func createCheckInClient(
        provider: InfrastructureProvider, in surroundings: InfrastructureSurroundings = InfrastructureSurroundings()
    ) async throws(InfrastructureError) -> any CheckInClient {
        try await make(InfrastructureSelection(default: provider, files: false), in: surroundings).checkIns
    }
    public func createNotificationClient(
        provider: InfrastructureProvider, in surroundings: InfrastructureSurroundings = InfrastructureSurroundings()
    ) async throws(InfrastructureError) -> any NotificationClient {
        try await make(InfrastructureSelection(default: provider, files: false), in: surroundings).notifications
    }

    private func module(
        _ provider: InfrastructureProvider
    ) throws(InfrastructureError) -> any InfrastructureModule {
        try module(provider, InfrastructureConfiguration(InfrastructureSelection(default: provider)))
    }

    func module(
        _ provider: InfrastructureProvider, _ configuration: InfrastructureConfiguration
    ) throws(InfrastructureError) -> any InfrastructureModule {
        let matching = suppliers.filter { $0.provider == provider }
        guard let supplier = matching.first else {
            let known = providers.map(\.rawValue)
            let hint =
                ConfigurationProblem.nearest(to: provider.rawValue, in: known).map { " Did you mean “\($0)”?" } ?? ""
            throw InfrastructureError(
                .unknownProvider,
                "There is no module “\(provider)”; the factory was given \(known.isEmpty ? "none" : known.joined(separator: ", ")).\(hint)"
            )
        }
        guard matching.count == 1 else {
            throw InfrastructureError(
                .invalidConfiguration, "The factory was given two modules “\(provider)”; keep one.")
        }
        return try supplier.module(configuration)
    }

    /// Settings that nobody will read are a mistake too.
    func checkSettings(_ configuration: InfrastructureConfiguration) throws(InfrastructureError) {
        for provider in configuration.settings.keys.sorted(by: { $0.rawValue < $1.rawValue }) {
            guard !suppliers.contains(where: { $0.provider == provider }) else { continue }
            throw ConfigurationProblem(
                path: ["providers", provider.rawValue], found: "settings of an unknown provider",
                expected: "one of \(providers.map(\.rawValue).joined(separator: ", "))",
                suggestion: ConfigurationProblem.nearest(to: provider.rawValue, in: providers.map(\.rawValue))
            ).error
        }
    }
}

extension InfrastructureSelection {
    /// Everything on one provider, and no messaging.
    fileprivate init(default provider: InfrastructureProvider, files: Bool) {
        self.init(default: provider)
        omit(.messaging)
        if !files { omit(.files) }
    }
}
