import SwitchyardBytes

/// All services of an infrastructure, in the order in which clients are made and switched: auth first, so that no call
/// reaches a new storage with the old session. They are shut down in reverse order: a client may need a token to sign off.
struct ClientTable: Sendable {
    let auth = ServiceClients<any AuthClient>(
        .auth, { $0 }, layered: { $0.layered($1) }, end: { await $0.shutDown() }
    ) { module, dependencies throws(InfrastructureError) in try await module.makeAuthClient(dependencies.context) }

    let storage = ServiceClients<any StorageClient>(
        .storage, { $0 }, layered: { $0.layered($1) }, end: { await $0.shutDown() },
        companion: { PendingWriteReporter($0, $1.observer) }
    ) { module, dependencies throws(InfrastructureError) in try await module.makeStorageClient(dependencies.context) }

    let files = ServiceClients<any FileStorageClient>(
        .files, { $0 }, layered: { $0.layered($1) }, end: { await $0.shutDown() }
    ) { module, dependencies throws(InfrastructureError) in try await module.makeFileStorageClient(dependencies.context)
    }

    let messaging = ServiceClients<any MessagingClient>(
        .messaging, { $0 }, layered: { $0.layered($1) }, end: { await $0.shutDown() }
    ) { module, dependencies throws(InfrastructureError) in try await module.makeMessagingClient(dependencies.context) }

    let users = ServiceClients<any UserClient>(.users, { $0 }) { module, dependencies throws(InfrastructureError) in
        try await module.makeUserClient(on: dependencies.core)
    }
    let contacts = ServiceClients<any ContactsClient>(.contacts, { $0 }) {
        module, dependencies throws(InfrastructureError) in
        try await module.makeContactsClient(on: dependencies.core)
    }
    let checkIns = ServiceClients<any CheckInClient>(.checkIns, { $0 }) {
        module, dependencies throws(InfrastructureError) in
        try await module.makeCheckInClient(on: dependencies.core)
    }
    let notifications = ServiceClients<any NotificationClient>(.notifications, { $0 }) {
        module, dependencies throws(InfrastructureError) in
        try await module.makeNotificationClient(on: dependencies.core)
    }

    /// The network switch of the infrastructure's storage.
    let storageNetwork: StorageNetworkState

    init() { storageNetwork = StorageNetworkState { [storage] in storage.leaving.map(\.client) } }

    var all: [any AnyServiceClients] { [auth, storage, files, messaging, users, contacts, checkIns, notifications] }

    /// Reserves the clients that `plan` can reuse.
    ///
    /// - Returns: Whether all the others can be made.
    func reserve(_ plan: SwitchPlan) -> Bool { all.map { $0.reserve(plan) }.allSatisfy { $0 } }

    /// The writes queued on the storages that `change` replaced.
    func leftWrites(with change: Int, _ options: InfrastructureOptions) async -> [SwitchReport.LeftWrites] {
        var left: [SwitchReport.LeftWrites] = []
        for (provider, storage) in storage.leaving(with: change) {
            let keeping = storage.unwrapped(as: (any UnsentWriteStoring).self)
            let (own, everybodys) = await (Self.pendingWrites(of: storage), keeping?.writeCountInMemory)
            let count = everybodys ?? own
            guard count > 0 else { continue }
            left.append(
                SwitchReport.LeftWrites(
                    provider: provider, count: count,
                    isOnDisk: keeping?.keepsQueueOnDisk ?? (options.stateFolder != nil)))
        }
        return left.sorted { $0.provider.rawValue < $1.provider.rawValue }
    }

    private static func pendingWrites(of storage: any StorageClient) async -> Int {
        do throws(StorageError) {
            for try await pending in storage.pendingWrites() { return pending.count }
        } catch {
            // If the storage cannot even report its queue, there is nothing to wait for.
        }
        return 0
    }

    /// Waits for calls on the clients that `change` replaced, and ends them; a storage with writes in memory ends only after
    /// sending them.
    func finish(_ change: Int, _ options: InfrastructureOptions) async -> SwitchReport.Drained {
        let watch = Stopwatch(options.clock)
        let deadline = options.drainDeadline
        let abandoned = await drain(change, within: deadline, clock: options.clock)
        // Only now, because a call in progress may have added to a queue.
        var left = await leftWrites(with: change, options)
        if !left.isEmpty {
            let rest = deadline - watch.elapsed
            await sent(storage.leaving(with: change).map(\.client), within: rest, options.clock)
            left = await leftWrites(with: change, options)
        }
        for slot in all.reversed() where slot.service != .storage { await slot.endLeaving(with: change) }
        guard left.contains(where: { !$0.isOnDisk }) else {
            await storage.endLeaving(with: change)
            return SwitchReport.Drained(abandonedCalls: abandoned, leftWrites: left)
        }
        Task { [storage] in
            for left in storage.leaving(with: change) { await Self.sendAll(of: left.client) }
            await storage.endLeaving(with: change)
        }
        return SwitchReport.Drained(abandonedCalls: abandoned, leftWrites: left)
    }

    /// Waits until the queues of `storages` are empty.
    private func sent(_ storages: [any StorageClient], within deadline: Duration, _ clock: any Clock<Duration>) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                for storage in storages { try? await storage.waitForPendingWrites() }
            }
            group.addTask { try? await clock.sleep(for: deadline) }
            await group.next()
            group.cancelAll()
        }
    }

    /// Waits for a queue that would be lost with its client, including the writes of all its users. While one user is signed
    /// in, the writes of the others wait until they sign in again.
    private static func sendAll(of storage: any StorageClient) async {
        let keeping = storage.unwrapped(as: (any UnsentWriteStoring).self)
        do throws(StorageError) {
            // Each time a user's queue has changed.
            for try await _ in storage.pendingWrites() where await (keeping?.writeCountInMemory ?? 0) == 0 {
                return try await storage.waitForPendingWrites()
            }
        } catch {
            // It was shut down and can send nothing more.
        }
    }

    /// - Returns: The number of calls on replaced clients that had not ended by the deadline.
    private func drain(_ change: Int, within deadline: Duration, clock: any Clock<Duration>) async -> Int {
        await withTaskGroup(of: Int.self) { group in
            for slot in all { group.addTask { await slot.drain(change, within: deadline, clock: clock) } }
            return await group.reduce(0, +)
        }
    }

    func dependencies(
        of service: InfrastructureService, by provider: InfrastructureProvider, _ plan: SwitchPlan
    ) -> ClientDependencies {
        let selection = plan.selection
        return ClientDependencies(
            context: plan.options.context(for: provider, auth: service == .auth ? nil : auth.client()),
            core: CoreClients(
                auth: auth.next(of: selection.provider(for: .auth), plan) ?? auth.absent,
                storage: storage.next(of: provider, plan) ?? storage.absent,
                files: files.next(of: selection.provider(for: .files), plan),
                messaging: messaging.next(of: selection.provider(for: .messaging), plan),
                now: plan.options.now))
    }
}

/// The dependencies of a client.
struct ClientDependencies: Sendable {
    /// For a core client. Its auth forwards to the chosen client, so it stays valid after every switch.
    let context: ModuleContext
    /// For a domain client: clients that do not switch, so that an operation never moves to another backend halfway.
    let core: CoreClients
}
