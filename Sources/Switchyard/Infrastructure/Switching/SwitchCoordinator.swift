import SwitchyardBytes
import Synchronization

/// Makes, shares, switches and shuts down the clients of one ``Infrastructure``. One change at a time.
actor SwitchCoordinator {
    nonisolated let clients = ClientTable()
    private(set) var configuration: InfrastructureConfiguration
    private let factory: InfrastructureFactory
    let options: InfrastructureOptions
    /// The observer of ``options``, and those that are added later.
    nonisolated let relay: ObserverRelay
    private var services: Set<InfrastructureService> = []
    private let optionalServices: Set<InfrastructureService>
    /// What is in effect; `nil` before the first change.
    private(set) var plan: SwitchPlan?
    private(set) var isShutDown = false
    private(set) var lastChange: Task<Void, Never>?
    private(set) var changes = 0
    /// The draining of replaced clients, by the change that replaced them.
    private var drains: [Int: Task<SwitchReport.Drained, Never>] = [:]

    /// Reports wipe requests, for providers without a client.
    private var subscription: SessionSubscription?
    /// Users whose data providers without a client have to delete, beside those of ``unfinishedWipes``.
    private var wipes: [AuthUser.ID?] = []
    /// Users whose data could not be deleted yet. Retried with the next wipe request, and before the selection changes.
    private var unfinishedWipes: [InfrastructureProvider: [AuthUser.ID?]] = [:]

    typealias FactoryResult = Result<any ServerClientFactory, InfrastructureError>
    /// The server client factories, each being made or ready.
    var factories: [InfrastructureProvider: Task<FactoryResult, Never>] = [:]
    /// All that have been made, also those with outdated settings, which may still be in use.
    private var madeFactories: [any ServerClientFactory] = []
    /// The combined factories of the current selection. `nil` during a change, and before the first use.
    nonisolated let serverClientFactories = Mutex<ServerClientFactories?>(nil)

    /// Makes nothing until ``begin()`` or ``add(_:)``.
    ///
    /// - Parameter optionalServices: Services that may be missing if their provider lacks them.
    init(
        factory: InfrastructureFactory, configuration: InfrastructureConfiguration,
        options: InfrastructureOptions, optionalServices: Set<InfrastructureService> = []
    ) {
        self.factory = factory
        self.optionalServices = optionalServices
        self.configuration = configuration
        relay = ObserverRelay(options.observer)
        var options = options
        options.observer = relay
        self.options = options
    }

    /// Makes all clients. From then on, requests to wipe local data also reach providers that are not chosen.
    func begin() async throws(InfrastructureError) {
        try await add(Set(InfrastructureService.allCases))
        subscription = clients.session.subscribe { [weak self] change in
            if case .wipe(let userID) = change { await self?.noteWipe(of: userID) }
        }
        await settleSession()
    }

    /// Also makes the clients for `services`.
    func add(_ services: Set<InfrastructureService>) async throws(InfrastructureError) {
        try await change(adding: services) { _ in }
    }

    // MARK: A change

    /// Changes wait for each other, so that none sees another half done.
    @discardableResult
    func change(
        adding services: Set<InfrastructureService> = [],
        _ edit: @escaping @Sendable (inout InfrastructureConfiguration) -> Void
    ) async throws(InfrastructureError) -> SwitchReport {
        let before = lastChange
        serverClientFactories.withLock { $0 = nil }
        let task = Task { () -> Result<SwitchReport, InfrastructureError> in
            await before?.value
            do throws(InfrastructureError) {
                return .success(try await self.apply(edit, adding: services))
            } catch {
                return .failure(error)
            }
        }
        lastChange = Task { _ = await task.value }
        return try await task.value.get()
    }

    /// A change has five steps: plan, prepare, settle, install, retire. Until the fourth, nothing of it can be seen.
    private func apply(
        _ edit: @Sendable (inout InfrastructureConfiguration) -> Void, adding added: Set<InfrastructureService>
    ) async throws(InfrastructureError) -> SwitchReport {
        guard !isShutDown else { throw .infrastructureShutDown }
        await followSession()
        let watch = Stopwatch(options.clock)
        let old = configuration.selection
        var new = configuration
        edit(&new)

        let next = try SwitchPlan(
            new, for: services.union(added), optionalServices: optionalServices, factory, options, after: plan)
        let wasOffline = !clients.storageNetwork.isOn
        try await prepare(next)
        // A client that learns of a sign-out only with its next call would miss it, because the next call goes to another
        // client.
        await followSession()
        services.formUnion(added)
        let change = install(next, new)
        if wasOffline || !clients.storageNetwork.isOn, let storage = chosenStorage(of: next) {
            await clients.storageNetwork.apply(to: storage)
        }
        let left = await clients.leftWrites(with: change, next.options)
        let draining = retire(change, next.options)

        return SwitchReport(
            moves: SwitchReport.moves(from: old, to: new.selection), leftWrites: left, duration: watch.elapsed,
            draining: draining)
    }

    /// Makes all clients of `next`, or none.
    ///
    /// - Throws: The reason why a client could not be made; new clients made so far are shut down again.
    private func prepare(_ next: SwitchPlan) async throws(InfrastructureError) {
        if !clients.reserve(next) {
            for drain in drains.values { _ = await drain.value }
            _ = clients.reserve(next)
        }
        do throws(InfrastructureError) {
            for service in clients.all {
                try await service.prepare(next, clients)
                // The first auth client is needed while the others are made.
                if plan == nil { service.install(next, in: 0) }
            }
            if let storage = chosenStorage(of: next) { try await clients.storageNetwork.prepare(storage) }
        } catch {
            for service in clients.all.reversed() {
                await service.discard()
                if plan == nil { await service.shutDown() }
            }
            throw error
        }
    }

    /// Puts `next` into effect, without a pause.
    private func install(_ next: SwitchPlan, _ configuration: InfrastructureConfiguration) -> Int {
        self.configuration = configuration
        plan = next
        for provider in next.providersWithNewSettings {
            factories[provider] = nil
        }
        changes += 1
        for service in clients.all { service.install(next, in: changes) }
        return changes
    }

    /// Lets the replaced clients finish, in the background.
    private func retire(_ change: Int, _ options: InfrastructureOptions) -> Task<SwitchReport.Drained, Never> {
        let draining = Task { [weak self, clients] in
            let drained = await clients.finish(change, options)
            await self?.drained(change)
            return drained
        }
        drains[change] = draining
        return draining
    }

    private func drained(_ change: Int) {
        drains[change] = nil
        // Data that could not be deleted while a client had the folder can be deleted now. Queued, because a change may be
        // waiting for this.
        if !unfinishedWipes.isEmpty { Task { await settleSession() } }
    }

    /// The storage itself, without a policy: what a switch does to it is not a call of the app, so observers are not notified.
    private func chosenStorage(of plan: SwitchPlan) -> (any StorageClient)? {
        plan.selection.provider(for: .storage).flatMap { clients.storage.open[$0] }
    }

    func shutDown() async {
        let before = lastChange
        isShutDown = true
        serverClientFactories.withLock { $0 = nil }
        subscription?.stop()
        await before?.value
        for service in clients.all.reversed() { await service.shutDown() }
        for factory in madeFactories { await factory.shutDown() }
    }

    /// - Parameters:
    ///   - factory: A new factory.
    ///   - setup: The set-up that it was made with.
    /// - Returns: Whether it may be used. If the settings have changed, or everything has been shut down, in the meantime, it is
    ///   shut down as well.
    func keep(_ factory: any ServerClientFactory, of setup: SwitchPlan.Setup?) async -> Bool {
        guard !isShutDown, let setup, plan?.setup(of: setup.provider) == setup else {
            await factory.shutDown()
            return false
        }
        madeFactories.append(factory)
        return true
    }

    // MARK: The session

    private func noteWipe(of userID: AuthUser.ID?) {
        wipes.append(userID)
        // Not here: a change in progress may be waiting for this.
        Task { await settleSession() }
    }

    /// Returns when everyone has followed the session and carried out its wipe requests, after a change in progress.
    func settleSession() async {
        let before = lastChange
        let task = Task {
            await before?.value
            await self.followSession()
        }
        lastChange = task
        await task.value
    }

    private func followSession() async {
        await clients.session.settle()
        await wipeUnusedProviders()
    }

    /// Lets providers without a storage client delete what they keep for users who asked for it.
    private func wipeUnusedProviders() async {
        let new = wipes
        wipes = []
        guard !new.isEmpty || !unfinishedWipes.isEmpty, !isShutDown, let plan else { return }
        // Providers with a client learn of it through the client, including one that is only sending its remaining queue. One
        // that is being shut down may have stopped listening, so its module is asked again afterwards.
        let busy = Set(clients.storage.open.keys).union(clients.storage.retiring().map(\.provider))
        for provider in factory.providers where !busy.contains(provider) {
            // A module that cannot be made with this configuration keeps nothing under it.
            guard let module = try? factory.module(provider, configuration) else { continue }
            let users = (unfinishedWipes.removeValue(forKey: provider) ?? []) + new
            do throws(InfrastructureError) {
                for userID in users {
                    try await module.wipeLocalData(of: userID, plan.options.context(for: provider, nil))
                }
            } catch {
                unfinishedWipes[provider] = users
                options.observer.observe(
                    InfrastructureEvent(
                        service: .storage, provider: provider,
                        kind: .notice("The user's local documents could not be deleted: \(error.message)")))
            }
        }
    }

    func currentPlan() throws(InfrastructureError) -> SwitchPlan {
        guard !isShutDown, let plan else {
            throw .infrastructureShutDown
        }
        return plan
    }
}

extension InfrastructureError {
    static let infrastructureShutDown = InfrastructureError(.shutDown, "The infrastructure was shut down.")
}
