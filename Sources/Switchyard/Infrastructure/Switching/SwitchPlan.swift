import Foundation
import SwitchyardBytes

/// The target of a switch: the selection, the modules that make the clients, and their settings.
struct SwitchPlan: Sendable {
    let selection: InfrastructureSelection
    let options: InfrastructureOptions
    let policies: CallPolicies
    private let retry: RetryPolicy?
    private let isFromVariables: Bool
    /// The services that need clients.
    private let services: Set<InfrastructureService>
    /// Services that may be missing if their provider lacks them.
    let optionalServices: Set<InfrastructureService>
    private var makers: [InfrastructureProvider: Maker] = [:]
    /// Providers whose current clients have different settings.
    private(set) var providersWithNewSettings: Set<InfrastructureProvider> = []

    /// A provider's set-up; a different one needs new clients.
    struct Setup: Equatable, Sendable {
        let provider: InfrastructureProvider
        let settings: JSONObject
        /// Those of the modules that it stands for.
        let partSettings: [JSONObject]
        let stateFolder: URL?
        let localFiles: LocalFileOptions
    }

    /// The module that makes a provider's clients, now and later, so that they share its resources.
    private struct Maker: Sendable {
        let module: any InfrastructureModule
        let setup: Setup
    }

    /// Everything that distinguishes a client from another: its provider's set-up and, for a domain client, the set-ups of
    /// the clients it is built on.
    struct Identity: Equatable, Sendable {
        let setups: [Setup?]
        let retry: RetryPolicy?
    }

    /// - Parameter current: The current plan; a provider whose set-up is unchanged keeps its clients.
    init(
        _ configuration: InfrastructureConfiguration, for services: Set<InfrastructureService>,
        optionalServices: Set<InfrastructureService>,
        _ factory: InfrastructureFactory, _ options: InfrastructureOptions, after current: SwitchPlan?
    ) throws(InfrastructureError) {
        try factory.check(configuration)
        selection = configuration.selection
        retry = configuration.retry
        isFromVariables = configuration.isFromVariables
        self.services = services
        self.optionalServices = optionalServices
        self.options = try options.with(configuration)
        policies = CallPolicies(retry: configuration.retry, self.options)
        for provider in selection.providers.sorted(by: { $0.rawValue < $1.rawValue }) {
            let module = try factory.module(provider, configuration)
            let setup = Setup(
                provider: provider, settings: ModuleSource.settingsWithSecrets(of: module),
                partSettings: ((module as? any ModuleOfModules)?.parts ?? []).map {
                    ModuleSource.settingsWithSecrets(of: $0)
                },
                stateFolder: self.options.stateFolder, localFiles: self.options.localFiles)
            let known = current?.makers[provider]
            makers[provider] = known?.setup == setup ? known : Maker(module: module, setup: setup)
            if let known, known.setup != setup { providersWithNewSettings.insert(provider) }
        }
    }

    func module(of provider: InfrastructureProvider) -> (any InfrastructureModule)? { makers[provider]?.module }
    func setup(of provider: InfrastructureProvider) -> Setup? { makers[provider]?.setup }

    /// The providers that need a client for `service`. A pinned domain client needs its provider's storage.
    func providers(for service: InfrastructureService) -> [InfrastructureProvider] {
        guard services.contains(service) else { return [] }
        let pinned = InfrastructureService.domain.filter { services.contains($0) }.map { selection[$0] }
        let all = [selection.provider(for: service)] + (service == .storage ? pinned : [])
        return all.reduce(into: []) { all, next in
            if let next, !all.contains(next) { all.append(next) }
        }
    }

    /// The identity of a client for `service`.
    func identity(of service: InfrastructureService, by provider: InfrastructureProvider) -> Identity {
        let setup = makers[provider]?.setup
        // Retries wrap a core client and are not part of it.
        guard !service.isCore else { return Identity(setups: [setup], retry: nil) }
        let others = [InfrastructureService.auth, .files, .messaging].map { service in
            selection.provider(for: service).flatMap { makers[$0]?.setup }
        }
        return Identity(setups: [setup] + others, retry: retry)
    }

    /// The identity of the chosen client for `service`, including its layers.
    func installedIdentity(for service: InfrastructureService) -> Identity {
        guard let provider = providers(for: service).first else { return Identity(setups: [], retry: nil) }
        return Identity(setups: identity(of: service, by: provider).setups, retry: retry)
    }

    /// The error if `provider` could not make its client for `service`.
    func explained(
        _ error: InfrastructureError, _ service: InfrastructureService, by provider: InfrastructureProvider
    ) -> InfrastructureError {
        switch error.code {
        case .unsupported where service.isCore:
            // The storage may be needed only by a domain client that is pinned to its provider.
            let asking =
                selection.provider(for: service) == provider
                ? service : InfrastructureService.domain.first { selection[$0] == provider } ?? service
            let problem = ConfigurationProblem.missing(asking, by: provider, at: selection.place(of: asking), error)
            return (isFromVariables ? problem.inVariables : problem).error
        case .locked where providersWithNewSettings.contains(provider):
            return InfrastructureError(
                .locked,
                "“\(provider)” cannot begin with new settings in the folder that its current clients use. Put another "
                    + "provider in its place first, or give the new settings a folder of their own.",
                underlying: error)
        default: return error
        }
    }
}
