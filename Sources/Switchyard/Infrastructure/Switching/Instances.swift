import Foundation
import SwitchyardBytes

/// The clients there are: one for each provider and service, however many ask for it.
struct Instances: Sendable {
    private(set) var auths: [InfrastructureProvider: any AuthClient] = [:]
    private(set) var storages: [InfrastructureProvider: any StorageClient] = [:]
    private(set) var files: [InfrastructureProvider: any FileStorageClient] = [:]
    private(set) var messagings: [InfrastructureProvider: any MessagingClient] = [:]
    private(set) var domain: DomainClients?
    /// Tells the observer of the queue of each storage.
    private var queueWatches: [InfrastructureProvider: QueueWatch] = [:]
    /// What each provider was set up with; another set-up needs other clients.
    private var setups: [InfrastructureProvider: Setup] = [:]
    /// Who made the clients, and makes those that are wanted later: what a module's clients share, they get from it.
    private var modules: [InfrastructureProvider: any InfrastructureModule] = [:]

    struct Setup: Equatable {
        let settings: JSONObject
        let stateFolder: URL?
    }

    struct DomainClients: Sendable {
        let users: any UserClient
        let contacts: any ContactsClient
        let checkIns: any CheckInClient
        let notifications: any NotificationClient
    }

    /// What stands on the boards.
    struct Selected: Sendable {
        let auth: any AuthClient
        let storage: any StorageClient
        let files: any FileStorageClient
        let messaging: any MessagingClient
        let domain: DomainClients
    }

    /// All clients that `configuration` asks for, old ones where they serve.
    ///
    /// - Parameter authBoard: The place of auth, from which clients take their tokens over every switch; `nil` the first time,
    ///   when it is made.
    /// - Throws: What any of them could not be made for; the new ones made so far are shut down again.
    static func make(
        _ factory: InfrastructureFactory, _ configuration: InfrastructureConfiguration,
        _ surroundings: InfrastructureSurroundings, reusing old: Instances,
        authBoard: Switchboard<any AuthClient>?
    ) async throws(InfrastructureError) -> (instances: Instances, authBoard: Switchboard<any AuthClient>) {
        try factory.check(configuration)
        let layers = Layers(retry: configuration.retry, surroundings)
        var maker = Maker(surroundings: surroundings, layers: layers, old: old, authBoard: authBoard)
        if let folder = configuration.stateFolder { maker.surroundings.stateFolder = folder }
        for provider in configuration.selection.providers.sorted(by: { $0.rawValue < $1.rawValue }) {
            maker.add(try factory.module(provider, configuration))
        }
        do throws(InfrastructureError) {
            try await maker.make(configuration.selection)
        } catch {
            await maker.made.shutDown()
            throw error
        }
        return (maker.result, maker.authBoard!)
    }

    /// What an app uses: the chosen clients with everything that is to stand around them.
    func selected(_ selection: InfrastructureSelection, _ layers: Layers) -> Selected {
        Selected(
            auth: layers.around(auths[selection.provider(for: .auth)!]!) { $0.layered($1) },
            storage: layers.around(storages[selection.provider(for: .storage)!]!) { $0.layered($1) },
            files: selection.provider(for: .files).map { layers.around(files[$0]!) { $0.layered($1) } }
                ?? Routed<any FileStorageClient>(RefusingRoute(absent: .files)),
            messaging: selection.provider(for: .messaging).map { layers.around(messagings[$0]!) { $0.layered($1) } }
                ?? Routed<any MessagingClient>(RefusingRoute(absent: .messaging)),
            domain: domain!)
    }

    /// Whatever makes a client another one than it was: its provider, how that is set up, and, for a domain client, the
    /// same of everything it stands on.
    func identity(
        of service: InfrastructureService, _ configuration: InfrastructureConfiguration
    ) -> [InfrastructureService: Identity] {
        let selection = configuration.selection
        let grounds: [InfrastructureService] = service.isCore ? [] : [.auth, .files, .messaging]
        var identity: [InfrastructureService: Identity] = [:]
        for service in grounds + [service] {
            identity[service] = selection.provider(for: service).map {
                Identity(provider: $0, setup: setups[$0], retry: configuration.retry)
            }
        }
        return identity
    }

    struct Identity: Equatable {
        let provider: InfrastructureProvider
        let setup: Setup?
        let retry: RetryPolicy?
    }

    /// The clients that `next` has no use for.
    func unused(in next: Instances) -> Instances {
        var unused = Instances()
        func isKept(_ provider: InfrastructureProvider) -> Bool { setups[provider] == next.setups[provider] }
        unused.auths = auths.filter { !isKept($0.key) || next.auths[$0.key] == nil }
        unused.storages = storages.filter { !isKept($0.key) || next.storages[$0.key] == nil }
        unused.files = files.filter { !isKept($0.key) || next.files[$0.key] == nil }
        unused.messagings = messagings.filter { !isKept($0.key) || next.messagings[$0.key] == nil }
        return unused
    }

    /// From the top down, auth last: the others may need a token to say goodbye.
    func shutDown() async {
        for client in messagings.values { await client.shutDown() }
        for client in files.values { await client.shutDown() }
        for client in storages.values { await client.shutDown() }
        for client in auths.values { await client.shutDown() }
    }

    private struct Maker {
        var surroundings: InfrastructureSurroundings
        let layers: Layers
        let old: Instances
        var authBoard: Switchboard<any AuthClient>?
        var result = Instances()
        /// Of `result`, what is new.
        var made = Instances()

        init(
            surroundings: InfrastructureSurroundings, layers: Layers, old: Instances,
            authBoard: Switchboard<any AuthClient>?
        ) {
            self.surroundings = surroundings
            self.layers = layers
            self.old = old
            self.authBoard = authBoard
        }

        mutating func add(_ module: any InfrastructureModule) {
            let provider = type(of: module).provider
            result.setups[provider] = Setup(
                settings: ModuleSupplier.settingsWithSecrets(of: module), stateFolder: surroundings.stateFolder)
            result.modules[provider] = isReusable(provider) ? old.modules[provider] : module
        }

        func isReusable(_ provider: InfrastructureProvider) -> Bool {
            old.setups[provider] == result.setups[provider]
        }

        mutating func make(_ selection: InfrastructureSelection) async throws(InfrastructureError) {
            if let provider = try await make(
                .auth, selection, \.auths,
                { module, context throws(InfrastructureError) in try await module.makeAuthClient(context) }),
                authBoard == nil, let client = result.auths[provider]
            {
                authBoard = Switchboard(layers.around(client) { $0.layered($1) })
            }
            for service in [.storage] + InfrastructureService.domain
            where service == .storage || selection[service] != nil {
                _ = try await make(service, selection, \.storages) { module, context throws(InfrastructureError) in
                    try await module.makeStorageClient(context)
                }
            }
            _ = try await make(.files, selection, \.files) { module, context throws(InfrastructureError) in
                try await module.makeFileStorageClient(context)
            }
            _ = try await make(.messaging, selection, \.messagings) { module, context throws(InfrastructureError) in
                try await module.makeMessagingClient(context)
            }
            try await makeDomain(selection)
            for (provider, storage) in result.storages {
                let known = made.storages[provider] == nil ? old.queueWatches[provider] : nil
                result.queueWatches[provider] = known ?? QueueWatch(storage, surroundings.observer)
            }
        }

        /// Makes the client for `service`, unless there is one that serves.
        ///
        /// - Returns: Whose it is; `nil` if nobody is chosen.
        private mutating func make<Client>(
            _ service: InfrastructureService, _ selection: InfrastructureSelection,
            _ place: WritableKeyPath<Instances, [InfrastructureProvider: Client]>,
            _ make: (any InfrastructureModule, ModuleContext) async throws(InfrastructureError) -> Client
        ) async throws(InfrastructureError) -> InfrastructureProvider? {
            guard let provider = selection.provider(for: service) else { return nil }
            guard result[keyPath: place][provider] == nil else { return provider }
            if isReusable(provider), let client = old[keyPath: place][provider] {
                result[keyPath: place][provider] = client
                return provider
            }
            let auth = service == .auth ? nil : authBoard.map { Routed<any AuthClient>(LeasedRoute($0)) }
            do throws(InfrastructureError) {
                let client = try await make(result.modules[provider]!, surroundings.context(for: provider, auth: auth))
                result[keyPath: place][provider] = client
                made[keyPath: place][provider] = client
            } catch {
                switch error.code {
                case .unsupported:
                    throw ConfigurationProblem.lacking(
                        service, by: provider, at: selection.place(of: service), error
                    ).error
                case .locked where old.setups[provider] != nil && !isReusable(provider):
                    throw InfrastructureError(
                        .locked,
                        "“\(provider)” cannot begin with new settings in the folder that its present clients use. Put "
                            + "another provider in its place first, or give the new settings a folder of their own.",
                        underlying: error)
                default: throw error
                }
            }
            return provider
        }

        /// On clients that do not switch: a domain client of one backend never works on another's half way.
        private mutating func makeDomain(_ selection: InfrastructureSelection) async throws(InfrastructureError) {
            let auth = layers.around(result.auths[selection.provider(for: .auth)!]!) { $0.layered($1) }
            let files = selection.provider(for: .files).flatMap { result.files[$0] }.map {
                layers.around($0) { $0.layered($1) }
            }
            let messaging = selection.provider(for: .messaging).flatMap { result.messagings[$0] }.map {
                layers.around($0) { $0.layered($1) }
            }
            func core(_ service: InfrastructureService) -> (any InfrastructureModule, CoreClients) {
                let provider = selection.provider(for: service)!
                return (
                    result.modules[provider]!,
                    CoreClients(
                        auth: auth, storage: layers.around(result.storages[provider]!) { $0.layered($1) }, files: files,
                        messaging: messaging,
                        now: surroundings.now)
                )
            }
            let (users, usersCore) = core(.users)
            let (contacts, contactsCore) = core(.contacts)
            let (checkIns, checkInsCore) = core(.checkIns)
            let (notifications, notificationsCore) = core(.notifications)
            result.domain = DomainClients(
                users: try await users.makeUserClient(on: usersCore),
                contacts: try await contacts.makeContactsClient(on: contactsCore),
                checkIns: try await checkIns.makeCheckInClient(on: checkInsCore),
                notifications: try await notifications.makeNotificationClient(on: notificationsCore))
        }
    }
}
