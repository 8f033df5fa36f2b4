import SwitchyardBytes

/// Makes, shares, exchanges and shuts down the clients of one ``Infrastructure``. One change at a time.
actor Assembly {
    private(set) var configuration: InfrastructureConfiguration
    private let factory: InfrastructureFactory
    private let surroundings: InfrastructureSurroundings
    private let boards: Switchboards
    private var instances: Instances
    private var isShutDown = false
    private var lastChange: Task<Void, Never>?
    private var wishes: WipeWishes?
    /// Whose data could not be deleted yet: tried again with the next wish, and before the choice changes.
    private var unfinished: [InfrastructureProvider: [AuthUser.ID?]] = [:]
    private var following: Task<Void, Never>?

    init(
        factory: InfrastructureFactory, configuration: InfrastructureConfiguration,
        surroundings: InfrastructureSurroundings, boards: Switchboards, instances: Instances
    ) {
        self.factory = factory
        self.configuration = configuration
        self.surroundings = surroundings
        self.boards = boards
        self.instances = instances
    }

    deinit { following?.cancel() }

    /// To be called once: from now on wishes to wipe local data reach also providers that are not chosen.
    func begin() async {
        let auth = Routed<any AuthClient>(LeasedRoute(boards.auth))
        let state = await auth.state
        wishes = WipeWishes(auth, state: state)
        if state.wipesLocalData { await forget([nil]) }
        let states = auth.authStateStream()
        following = Task { [weak self] in
            for await _ in states { await self?.heedWishes() }
        }
    }

    /// Carries out the wishes of those who have left; a change that is under way comes first.
    func heedWishes() async {
        let before = lastChange
        let task = Task {
            await before?.value
            let state = await Routed<any AuthClient>(LeasedRoute(boards.auth)).state
            await self.forget(self.wishes?.take(state) ?? [])
        }
        lastChange = task
        await task.value
    }

    private func forget(_ leavers: [AuthUser.ID?]) async {
        guard !leavers.isEmpty || !unfinished.isEmpty, !isShutDown else { return }
        var surroundings = surroundings
        if let folder = configuration.stateFolder { surroundings.stateFolder = folder }
        for provider in factory.providers where instances.storages[provider] == nil {
            // One that cannot be made with this configuration keeps nothing under it.
            guard let module = try? factory.module(provider, configuration) else { continue }
            let people = (unfinished.removeValue(forKey: provider) ?? []) + leavers
            do throws(InfrastructureError) {
                for userID in people {
                    try await module.wipeLocalData(of: userID, surroundings.context(for: provider, auth: nil))
                }
            } catch {
                unfinished[provider] = people
                surroundings.observer.observe(
                    InfrastructureEvent(
                        service: .storage, provider: provider,
                        kind: .notice("What is kept of the user's documents could not be deleted: \(error.message)")))
            }
        }
    }

    /// Changes wait for each other, so that none sees another one half done.
    func change(
        _ edit: @escaping @Sendable (inout InfrastructureConfiguration) -> Void
    ) async throws(InfrastructureError) -> SwitchReport {
        let before = lastChange
        let task = Task { () -> Result<SwitchReport, InfrastructureError> in
            await before?.value
            do throws(InfrastructureError) {
                return .success(try await self.apply(edit))
            } catch {
                return .failure(error)
            }
        }
        lastChange = Task { _ = await task.value }
        return try await task.value.get()
    }

    private func apply(
        _ edit: @Sendable (inout InfrastructureConfiguration) -> Void
    ) async throws(InfrastructureError) -> SwitchReport {
        guard !isShutDown else { throw InfrastructureError(.shutDown, "The infrastructure was shut down.") }
        await forget([])
        let watch = Stopwatch(surroundings.clock)
        let old = configuration
        var new = configuration
        edit(&new)

        let (next, _) = try await Instances.make(
            factory, new, surroundings, reusing: instances, authBoard: boards.auth)
        let previous = instances
        configuration = new
        instances = next

        let changed = InfrastructureService.allCases.filter {
            previous.identity(of: $0, old) != next.identity(of: $0, new)
        }
        let layers = Layers(retry: new.retry, surroundings)
        let drained = boards.replace(with: next.selected(new.selection, layers), only: Set(changed))
        let unused = previous.unused(in: next)
        let abandoned = await boards.drain(drained, within: surroundings.drainDeadline, clock: surroundings.clock)
        // Only now: a call that was under way may have added to a queue.
        var queued: [InfrastructureProvider: Int] = [:]
        for (provider, storage) in unused.storages {
            let count = await Self.pendingWrites(of: storage)
            if count > 0 { queued[provider] = count }
        }
        await unused.shutDown()
        return SwitchReport(
            moves: InfrastructureService.allCases.compactMap { service in
                let from = old.selection.provider(for: service)
                let to = new.selection.provider(for: service)
                return from == to ? nil : SwitchReport.Move(service: service, from: from, to: to)
            },
            queuedWrites: queued, abandonedCalls: abandoned, duration: watch.elapsed)
    }

    private static func pendingWrites(of storage: any StorageClient) async -> Int {
        do throws(StorageError) {
            for try await pending in storage.pendingWrites() { return pending.count }
        } catch {
            // A storage that cannot even tell has nothing that could be waited for.
        }
        return 0
    }

    func shutDown() async {
        let before = lastChange
        isShutDown = true
        following?.cancel()
        await before?.value
        let all = instances
        instances = Instances()
        await all.shutDown()
    }
}
