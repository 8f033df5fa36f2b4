import SwitchyardBytes
import Synchronization

/// Makes, shares, switches and shuts down the clients of one ``Infrastructure``. One change at a time.
actor SwitchCoordinator {
    nonisolated let slots = ClientTable()
    private(set) var configuration: InfrastructureConfiguration
    private let factory: InfrastructureFactory
    private let options: InfrastructureOptions
    private var services: Set<InfrastructureService> = []
    private let spared: Set<InfrastructureService>
    private var present: SwitchPlan?
    private var isShutDown = false
    private var lastChange: Task<Void, Never>?
    private var wipeRequests: WipeRequestCursor?
    /// Users whose data could not be deleted yet. Retried with the next wipe request, and before the selection changes.
    private var unfinished: [InfrastructureProvider: [AuthUser.ID?]] = [:]
    /// The caller factories made so far.
    private var factories: [InfrastructureProvider: any ServerClientFactory] = [:]
    /// The factories that are being made.
    private var factoryMakings:
        [InfrastructureProvider: Task<Result<(any ServerClientFactory)?, InfrastructureError>, Never>] = [:]
    /// Factories with outdated settings, which may still be in use.
    private var oldFactories: [any ServerClientFactory] = []
    /// The combined factories of the current selection. `nil` during a change, and before the first use.
    private nonisolated let serverClientFactories = Mutex<ServerClientFactories?>(nil)
    private var following: Task<Void, Never>?
    private var changes = 0
    /// The draining of replaced clients, by the change that replaced them.
    private var drains: [Int: Task<SwitchReport.Drained, Never>] = [:]

    /// Makes nothing until ``begin()`` or ``add(_:)``.
    ///
    /// - Parameter spared: Services that may be missing if their provider lacks them.
    init(
        factory: InfrastructureFactory, configuration: InfrastructureConfiguration,
        options: InfrastructureOptions, sparing spared: Set<InfrastructureService> = []
    ) {
        self.factory = factory
        self.spared = spared
        self.configuration = configuration
        self.options = options
    }

    deinit { following?.cancel() }

    /// Makes all clients. From then on, requests to wipe local data also reach providers that are not chosen.
    func begin() async throws(InfrastructureError) {
        try await add(Set(InfrastructureService.allCases))
        let auth = slots.auth.client()
        let state = await auth.state
        wipeRequests = WipeRequestCursor(auth, state: state)
        if state.wipesLocalData { await forget([nil]) }
        let states = auth.authStateStream()
        following = Task { [weak self] in
            for await _ in states { await self?.settleSession() }
        }
    }

    /// Also makes the clients for `services`.
    func add(_ services: Set<InfrastructureService>) async throws(InfrastructureError) {
        try await change(adding: services) { _ in }
    }

    /// Carries out wipe requests, after a change in progress.
    func settleSession() async {
        let before = lastChange
        let task = Task {
            await before?.value
            await self.takeWipeRequests()
        }
        lastChange = task
        await task.value
    }

    private func takeWipeRequests() async {
        let state = await slots.auth.client().state
        await forget(wipeRequests?.take(state) ?? [])
    }

    private func forget(_ pendingWipes: [AuthUser.ID?]) async {
        guard !pendingWipes.isEmpty || !unfinished.isEmpty, !isShutDown, let present else { return }
        // Providers with a client learn of it through the client, including one that is only sending its remaining queue. One
        // that is being shut down may have stopped listening, so its module is asked again afterwards.
        let busy = Set(slots.storage.open.keys).union(slots.storage.leaving.map(\.provider))
        for (_, storage) in slots.storage.leaving {
            await storage.unwrapped(as: (any SignInFollowing).self)?.catchUp()
        }
        for provider in factory.providers where !busy.contains(provider) {
            // A module that cannot be made with this configuration keeps nothing under it.
            guard let module = try? factory.module(provider, configuration) else { continue }
            let people = (unfinished.removeValue(forKey: provider) ?? []) + pendingWipes
            do throws(InfrastructureError) {
                for userID in people {
                    try await module.wipeLocalData(of: userID, present.options.context(for: provider, auth: nil))
                }
            } catch {
                unfinished[provider] = people
                options.observer.observe(
                    InfrastructureEvent(
                        service: .storage, provider: provider,
                        kind: .notice("The user's local documents could not be deleted: \(error.message)")))
            }
        }
    }

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

    private func apply(
        _ edit: @Sendable (inout InfrastructureConfiguration) -> Void, adding added: Set<InfrastructureService>
    ) async throws(InfrastructureError) -> SwitchReport {
        guard !isShutDown else { throw InfrastructureError(.shutDown, "The infrastructure was shut down.") }
        await takeWipeRequests()
        let watch = Stopwatch(options.clock)
        let old = configuration
        var new = configuration
        edit(&new)
        let plan = try SwitchPlan(
            new, for: services.union(added), sparing: spared, factory, options, after: present)
        if !slots.reserve(plan) {
            for drain in drains.values { _ = await drain.value }
            _ = slots.reserve(plan)
        }
        let wasOff = !slots.storageNetwork.isOn
        try await prepare(plan)
        // A client that learns of a sign-out only with its next call would miss it, because the next call goes to another
        // client.
        await takeWipeRequests()
        for storage in slots.storage.open.values {
            await storage.unwrapped(as: (any SignInFollowing).self)?.catchUp()
        }
        configuration = new
        services.formUnion(added)
        present = plan
        for provider in plan.providersWithNewSettings {
            if let factory = factories.removeValue(forKey: provider) { oldFactories.append(factory) }
        }

        changes += 1
        let change = changes
        for slot in slots.all { slot.replace(plan, in: change) }
        if wasOff || !slots.storageNetwork.isOn, let storage = chosenStorage(of: plan) {
            await slots.storageNetwork.apply(to: storage)
        }
        let left = await slots.leftWrites(with: change, plan.options)
        let draining = Task { [weak self, slots, options = plan.options] in
            let drained = await slots.finish(change, options)
            await self?.drained(change)
            return drained
        }
        drains[change] = draining
        return SwitchReport(
            moves: InfrastructureService.allCases.compactMap { service in
                let from = old.selection.provider(for: service)
                let to = new.selection.provider(for: service)
                guard from != to else { return nil }
                let follows = !service.isCore && old.selection[service] == nil && new.selection[service] == nil
                return SwitchReport.Move(service: service, from: from, to: to, followsStorage: follows)
            },
            leftWrites: left, duration: watch.elapsed, draining: draining)
    }

    private func drained(_ change: Int) {
        drains[change] = nil
        // Data that could not be deleted while a client had the folder can be deleted now. Queued, because a change may be
        // waiting for this.
        if !unfinished.isEmpty { Task { await settleSession() } }
    }

    /// - Throws: The reason why a client could not be made; new clients made so far are shut down again.
    private func prepare(_ plan: SwitchPlan) async throws(InfrastructureError) {
        do throws(InfrastructureError) {
            for slot in slots.all {
                try await slot.prepare(plan, slots)
                // The first auth client is needed while the others are made.
                if present == nil { slot.replace(plan, in: 0) }
            }
            if let storage = chosenStorage(of: plan) { try await slots.storageNetwork.prepare(storage) }
        } catch {
            for slot in slots.all.reversed() {
                await slot.discard()
                if present == nil { await slot.shutDown() }
            }
            throw error
        }
    }

    /// The storage itself, without layers: what a switch does to it is no call of the app's, and observers hear nothing of it.
    private func chosenStorage(of plan: SwitchPlan) -> (any StorageClient)? {
        plan.selection.provider(for: .storage).flatMap { slots.storage.open[$0] }
    }

    func shutDown() async {
        let before = lastChange
        isShutDown = true
        serverClientFactories.withLock { $0 = nil }
        following?.cancel()
        await before?.value
        for slot in slots.all.reversed() { await slot.shutDown() }
        for factory in Array(factories.values) + oldFactories { await factory.shutDown() }
    }

    // MARK: Callers

    /// The factories that make clients for callers.
    nonisolated func factories() async throws(InfrastructureError) -> ServerClientFactories {
        if let ready = serverClientFactories.withLock({ $0 }) { return ready }
        return try await gatherFactories()
    }

    /// The factory of the provider chosen for `service`, and the layers around its clients.
    func factoryAndLayers(
        for service: InfrastructureService
    ) async throws(InfrastructureError) -> (factory: any ServerClientFactory, layers: Layers) {
        let factory = try await serverClientFactory(for: service)
        guard !isShutDown, let present else {
            throw InfrastructureError(.shutDown, "The infrastructure was shut down.")
        }
        return (factory, present.layers)
    }

    private func gatherFactories() async throws(InfrastructureError) -> ServerClientFactories {
        while true {
            let change = lastChange
            await change?.value
            let storage = try await serverClientFactory(for: .storage)
            let files: Result<any ServerClientFactory, InfrastructureError>
            var lasts = true
            do throws(InfrastructureError) {
                files = .success(try await serverClientFactory(for: .files))
            } catch {
                files = .failure(error)
                // Any other error may not happen again with the next request.
                lasts = error.code == .unsupported || error.code == .invalidConfiguration
            }
            // Another change or the shutdown may have begun in the meantime.
            guard let present, !isShutDown, change == lastChange else { continue }
            let made = ServerClientFactories(
                storage: storage, files: files, layers: present.layers, now: options.now)
            if lasts { serverClientFactories.withLock { $0 = made } }
            return made
        }
    }

    /// Makes only one at a time for a provider, however many callers ask for it: the transport of a second one would be shut
    /// down at once.
    private func makeServerClients(
        of provider: InfrastructureProvider, by module: any InfrastructureModule, _ plan: SwitchPlan, after change: Int
    ) async -> Result<(any ServerClientFactory)?, InfrastructureError> {
        let result: Result<any ServerClientFactory, InfrastructureError>
        do throws(InfrastructureError) {
            result = .success(
                try await module.makeServerClientFactory(plan.options.context(for: provider, auth: nil)))
        } catch {
            result = .failure(error)
        }
        factoryMakings[provider] = nil
        let isOutdated = isShutDown || change != changes
        switch result {
        case .success(let made) where isOutdated:
            await made.shutDown()
            return .success(nil)
        case .success(let made):
            factories[provider] = made
            return .success(made)
        case .failure(let error): return isOutdated ? .success(nil) : .failure(error)
        }
    }

    /// The factory of the provider that is chosen for `service`, made once.
    func serverClientFactory(for service: InfrastructureService) async throws(InfrastructureError)
        -> any ServerClientFactory
    {
        while true {
            // A change in progress may affect this service.
            await lastChange?.value
            guard !isShutDown, let present else {
                throw InfrastructureError(.shutDown, "The infrastructure was shut down.")
            }
            guard let provider = configuration.selection.provider(for: service),
                let module = present.module(of: provider)
            else {
                throw InfrastructureError(
                    .unsupported, "No provider was chosen for \(service.rawValue). Choose one in the selection.")
            }
            if let known = factories[provider] { return known }
            let making =
                factoryMakings[provider]
                ?? Task { [changes] in
                    await makeServerClients(of: provider, by: module, present, after: changes)
                }
            factoryMakings[provider] = making
            // `nil` if the settings have changed, or everything was shut down, in the meantime.
            if let made = try await making.value.get() { return made }
        }
    }
}
