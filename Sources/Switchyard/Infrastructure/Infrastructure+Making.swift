public import Foundation

/// Short ways to make all clients. Use an ``InfrastructureFactory`` for more.
extension Infrastructure {
    /// All clients from one provider.
    ///
    /// ```swift
    /// let backend = try await Infrastructure(.acme(project: "demo", apiKey: key), stateFolder: folder)
    /// ```
    /// - Parameters:
    ///   - module: The provider, set up.
    ///   - others: Further providers, to switch to later with ``use(_:for:)``.
    ///   - stateFolder: A folder for data that must outlast the process, such as the session and pending writes; `nil` keeps
    ///     everything in memory.
    ///   - observer: Observes everything that clients do; ``LineObserver`` prints it.
    /// - Throws: `.invalidConfiguration` with what to change, or the module's own error. If the provider lacks files or
    ///   messaging, or they need further settings, their calls throw instead.
    public convenience init(
        _ module: some InfrastructureModule, others: [any InfrastructureModule] = [], stateFolder: URL? = nil,
        observer: any InfrastructureObserver = SilentObserver()
    ) async throws(InfrastructureError) {
        try await self.init(
            module, others: others,
            in: InfrastructureOptions(stateFolder: stateFolder, observer: observer))
    }

    /// All clients from one provider, with options that set more than a folder: interceptors, a clock, deadlines.
    public convenience init(
        _ module: some InfrastructureModule, others: [any InfrastructureModule] = [],
        in options: InfrastructureOptions
    ) async throws(InfrastructureError) {
        try await self.init(
            factory: InfrastructureFactory([module] + others),
            configuration: InfrastructureConfiguration(InfrastructureSelection(default: module.provider)),
            options: options, optionalServices: [.files, .messaging])
    }

    /// All clients from one provider, there at once: for places that can neither wait nor throw, such as `static let`, an app's
    /// `init` and the default value of a dependency.
    ///
    /// ```swift
    /// static let backend = Infrastructure.deferred(.acme(project: "demo", apiKey: key), stateFolder: folder)
    /// ```
    ///
    /// Nothing happens until a client is used for the first time, or ``start()`` is called. Calls and streams wait for the start,
    /// and fail with its error; the next use tries again. Until then the clients have no ``StorageClient/provider`` and no
    /// capabilities.
    ///
    /// - Parameters:
    ///   - module: The provider, set up.
    ///   - others: Further providers, to switch to later with ``use(_:for:)``.
    ///   - stateFolder: A folder for data that must outlast the process; `nil` keeps everything in memory.
    ///   - observer: Observes everything that clients do.
    public static func deferred(
        _ module: some InfrastructureModule, others: [any InfrastructureModule] = [], stateFolder: URL? = nil,
        observer: any InfrastructureObserver = SilentObserver()
    ) -> Infrastructure {
        deferred(module, others: others, in: InfrastructureOptions(stateFolder: stateFolder, observer: observer))
    }

    /// As ``deferred(_:others:stateFolder:observer:)``, with options that set more than a folder.
    public static func deferred(
        _ module: some InfrastructureModule, others: [any InfrastructureModule] = [], in options: InfrastructureOptions
    ) -> Infrastructure {
        deferred(
            InfrastructureConfiguration(InfrastructureSelection(default: module.provider)),
            by: InfrastructureFactory([module] + others), in: options, optionalServices: [.files, .messaging])
    }

    /// As ``deferred(_:others:stateFolder:observer:)``, for a choice of several providers.
    public static func deferred(
        _ selection: InfrastructureSelection, by factory: InfrastructureFactory,
        in options: InfrastructureOptions = InfrastructureOptions()
    ) -> Infrastructure {
        deferred(InfrastructureConfiguration(selection), by: factory, in: options)
    }

    private static func deferred(
        _ configuration: InfrastructureConfiguration, by factory: InfrastructureFactory,
        in options: InfrastructureOptions, optionalServices: Set<InfrastructureService> = []
    ) -> Infrastructure {
        let coordinator = SwitchCoordinator(
            factory: factory, configuration: configuration, options: options, optionalServices: optionalServices)
        let start = DeferredStart {
            do throws(InfrastructureError) { return .success(try await coordinator.begin()) } catch {
                return .failure(error)
            }
        }
        return Infrastructure(coordinator, start)
    }

    /// All clients, as configured in a file; see ``InfrastructureConfiguration`` for its format.
    ///
    /// ```swift
    /// let backend = try await Infrastructure(contentsOf: url, modules: [.acme, .globex])
    /// ```
    /// - Parameters:
    ///   - file: JSON with the choice of providers and their settings.
    ///   - modules: The providers that the file may name.
    ///   - options: The file's own state folder takes precedence over this one.
    ///   - environment: Where `${NAME}` is looked up.
    /// - Throws: `.localStore` if the file cannot be read; `.invalidConfiguration` and `.unknownProvider` with the place in the
    ///   file, or the module's own error.
    public convenience init(
        contentsOf file: URL, modules: [ConfigurableModule],
        in options: InfrastructureOptions = InfrastructureOptions(),
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) async throws(InfrastructureError) {
        try await self.init(
            InfrastructureConfiguration(contentsOf: file, environment: environment), modules: modules,
            in: options)
    }

    /// All clients of a configuration.
    public convenience init(
        _ configuration: InfrastructureConfiguration, modules: [ConfigurableModule],
        in options: InfrastructureOptions = InfrastructureOptions()
    ) async throws(InfrastructureError) {
        try await self.init(
            factory: InfrastructureFactory([], configurable: modules.map(\.type)), configuration: configuration,
            options: options)
    }
}

/// A provider that gets its settings from a configuration. Each provider's module adds its own: `.acme`.
///
/// ```swift
/// extension ConfigurableModule {
///     public static let acme = ConfigurableModule(AcmeModule.self)
/// }
/// ```
public struct ConfigurableModule: Sendable {
    public let type: any InfrastructureModule.Type
    public init(_ type: any InfrastructureModule.Type) { self.type = type }
}
