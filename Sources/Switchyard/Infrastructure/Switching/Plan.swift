import Foundation
import SwitchyardBytes

/// What an infrastructure goes over to: who is chosen for what, who makes the clients, and what they are set up with.
struct Plan: Sendable {
    let selection: InfrastructureSelection
    let surroundings: InfrastructureSurroundings
    let layers: Layers
    private let retry: RetryPolicy?
    /// Which services there are to be clients for.
    private let services: Set<InfrastructureService>
    /// What is done without where its provider lacks it.
    let spared: Set<InfrastructureService>
    private var makers: [InfrastructureProvider: Maker] = [:]
    /// Whose present clients have other settings.
    private(set) var refitted: Set<InfrastructureProvider> = []

    /// What a provider was set up with; another set-up needs other clients.
    struct Setup: Equatable, Sendable {
        let provider: InfrastructureProvider
        let settings: JSONObject
        let stateFolder: URL?
    }

    /// Who makes a provider's clients, also those that are wanted later: what they share, they get from their module.
    private struct Maker: Sendable {
        let module: any InfrastructureModule
        let setup: Setup
    }

    /// Whatever makes a client another one than it was: how its provider is set up, and, for a domain client, the same of
    /// everything it stands on.
    struct Identity: Equatable, Sendable {
        let setups: [Setup?]
        let retry: RetryPolicy?
    }

    /// - Parameter present: What holds now; a provider that is set up as it was goes on with the clients it has.
    init(
        _ configuration: InfrastructureConfiguration, for services: Set<InfrastructureService>,
        sparing spared: Set<InfrastructureService>,
        _ factory: InfrastructureFactory, _ surroundings: InfrastructureSurroundings, after present: Plan?
    ) throws(InfrastructureError) {
        try factory.check(configuration)
        selection = configuration.selection
        retry = configuration.retry
        self.services = services
        self.spared = spared
        self.surroundings = surroundings.with(configuration)
        layers = Layers(retry: configuration.retry, surroundings)
        for provider in selection.providers.sorted(by: { $0.rawValue < $1.rawValue }) {
            let module = try factory.module(provider, configuration)
            let setup = Setup(
                provider: provider, settings: ModuleSupplier.settingsWithSecrets(of: module),
                stateFolder: self.surroundings.stateFolder)
            let known = present?.makers[provider]
            makers[provider] = known?.setup == setup ? known : Maker(module: module, setup: setup)
            if let known, known.setup != setup { refitted.insert(provider) }
        }
    }

    func module(of provider: InfrastructureProvider) -> (any InfrastructureModule)? { makers[provider]?.module }

    /// Whose clients for `service` there have to be. A domain client that is pinned needs its provider's storage.
    func providers(for service: InfrastructureService) -> [InfrastructureProvider] {
        guard services.contains(service) else { return [] }
        let pinned = InfrastructureService.domain.filter { services.contains($0) }.map { selection[$0] }
        let all = [selection.provider(for: service)] + (service == .storage ? pinned : [])
        return all.reduce(into: []) { all, next in
            if let next, !all.contains(next) { all.append(next) }
        }
    }

    /// What a client for `service` is made of.
    func identity(of service: InfrastructureService, by provider: InfrastructureProvider) -> Identity {
        let setup = makers[provider]?.setup
        // Retries stand around a core client, and are nothing of its own.
        guard !service.isCore else { return Identity(setups: [setup], retry: nil) }
        let grounds = [InfrastructureService.auth, .files, .messaging].map { service in
            selection.provider(for: service).flatMap { makers[$0]?.setup }
        }
        return Identity(setups: [setup] + grounds, retry: retry)
    }

    /// What stands in the place of `service`, with everything around it.
    func standing(for service: InfrastructureService) -> Identity {
        guard let provider = providers(for: service).first else { return Identity(setups: [], retry: nil) }
        return Identity(setups: identity(of: service, by: provider).setups, retry: retry)
    }

    /// What to say when `provider` could not make its client for `service`.
    func explained(
        _ error: InfrastructureError, _ service: InfrastructureService, by provider: InfrastructureProvider
    ) -> InfrastructureError {
        switch error.code {
        case .unsupported where service.isCore:
            // A storage may be needed only by a domain client that is pinned to its provider.
            let asking =
                selection.provider(for: service) == provider
                ? service : InfrastructureService.domain.first { selection[$0] == provider } ?? service
            return ConfigurationProblem.lacking(asking, by: provider, at: selection.place(of: asking), error).error
        case .locked where refitted.contains(provider):
            return InfrastructureError(
                .locked,
                "“\(provider)” cannot begin with new settings in the folder that its present clients use. Put another "
                    + "provider in its place first, or give the new settings a folder of their own.",
                underlying: error)
        default: return error
        }
    }
}
