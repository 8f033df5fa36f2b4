import SwitchyardBytes

/// Every service of an infrastructure, in the order in which clients are made and exchanged: auth first, so that nobody asks
/// a new storage with the old session. They are shut down the other way round: a client may need a token to say goodbye.
struct Slots: Sendable {
    let auth = ServiceSlot<any AuthClient>(
        .auth, { $0 }, layered: { $0.layered($1) }, end: { await $0.shutDown() }
    ) { module, grounds throws(InfrastructureError) in try await module.makeAuthClient(grounds.context) }

    let storage = ServiceSlot<any StorageClient>(
        .storage, { $0 }, layered: { $0.layered($1) }, end: { await $0.shutDown() },
        companion: { QueueWatch($0, $1.observer) }
    ) { module, grounds throws(InfrastructureError) in try await module.makeStorageClient(grounds.context) }

    let files = ServiceSlot<any FileStorageClient>(
        .files, { $0 }, layered: { $0.layered($1) }, end: { await $0.shutDown() }
    ) { module, grounds throws(InfrastructureError) in try await module.makeFileStorageClient(grounds.context) }

    let messaging = ServiceSlot<any MessagingClient>(
        .messaging, { $0 }, layered: { $0.layered($1) }, end: { await $0.shutDown() }
    ) { module, grounds throws(InfrastructureError) in try await module.makeMessagingClient(grounds.context) }

    let users = ServiceSlot<any UserClient>(.users, { $0 }) { module, grounds throws(InfrastructureError) in
        try await module.makeUserClient(on: grounds.core)
    }
    let contacts = ServiceSlot<any ContactsClient>(.contacts, { $0 }) { module, grounds throws(InfrastructureError) in
        try await module.makeContactsClient(on: grounds.core)
    }
    let checkIns = ServiceSlot<any CheckInClient>(.checkIns, { $0 }) { module, grounds throws(InfrastructureError) in
        try await module.makeCheckInClient(on: grounds.core)
    }
    let notifications = ServiceSlot<any NotificationClient>(.notifications, { $0 }) {
        module, grounds throws(InfrastructureError) in try await module.makeNotificationClient(on: grounds.core)
    }

    /// Of the place where the storage stands.
    let storageNetwork: PlaceNetwork

    init() { storageNetwork = PlaceNetwork { [storage] in storage.leaving.map(\.client) } }

    var all: [any AnyServiceSlot] { [auth, storage, files, messaging, users, contacts, checkIns, notifications] }

    /// Sets aside what serves `plan` as it is.
    ///
    /// - Returns: Whether there is room for all the others.
    func reserve(_ plan: Plan) -> Bool { all.map { $0.reserve(plan) }.allSatisfy { $0 } }

    /// What is queued on the storages that left with `change`.
    func leftWrites(with change: Int, _ surroundings: InfrastructureSurroundings) async -> [SwitchReport.LeftWrites] {
        var left: [SwitchReport.LeftWrites] = []
        for (provider, storage) in storage.leaving(with: change) {
            let keeping = storage.unwrapped(as: (any QueueKeeping).self)
            let (own, everybodys) = await (Self.pendingWrites(of: storage), keeping?.writeCountInMemory)
            let count = everybodys ?? own
            guard count > 0 else { continue }
            left.append(
                SwitchReport.LeftWrites(
                    provider: provider, count: count,
                    isOnDisk: keeping?.keepsQueueOnDisk ?? (surroundings.stateFolder != nil)))
        }
        return left.sorted { $0.provider.rawValue < $1.provider.rawValue }
    }

    private static func pendingWrites(of storage: any StorageClient) async -> Int {
        do throws(StorageError) {
            for try await pending in storage.pendingWrites() { return pending.count }
        } catch {
            // A storage that cannot even tell has nothing that could be waited for.
        }
        return 0
    }

    /// Waits for what is under way on the clients that left with `change`, and ends them; a storage with writes in memory
    /// only once they are sent.
    func finish(_ change: Int, _ surroundings: InfrastructureSurroundings) async -> SwitchReport.Drained {
        let watch = Stopwatch(surroundings.clock)
        let deadline = surroundings.drainDeadline
        let abandoned = await drain(change, within: deadline, clock: surroundings.clock)
        // Only now: a call that was under way may have added to a queue.
        var left = await leftWrites(with: change, surroundings)
        if !left.isEmpty {
            let rest = deadline - watch.elapsed
            await sent(storage.leaving(with: change).map(\.client), within: rest, surroundings.clock)
            left = await leftWrites(with: change, surroundings)
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

    /// Waits for a queue that would be lost with its client: that of everybody who has used it. While one user is signed in,
    /// the writes of the others wait for their return.
    private static func sendAll(of storage: any StorageClient) async {
        let keeping = storage.unwrapped(as: (any QueueKeeping).self)
        do throws(StorageError) {
            // Each time that somebody's queue has changed.
            for try await _ in storage.pendingWrites() where await (keeping?.writeCountInMemory ?? 0) == 0 {
                return try await storage.waitForPendingWrites()
            }
        } catch {
            // It was shut down, and nothing can be sent any more.
        }
    }

    /// - Returns: How many calls on clients that were exchanged had not ended by the deadline.
    private func drain(_ change: Int, within deadline: Duration, clock: any Clock<Duration>) async -> Int {
        await withTaskGroup(of: Int.self) { group in
            for slot in all { group.addTask { await slot.drain(change, within: deadline, clock: clock) } }
            return await group.reduce(0, +)
        }
    }

    func grounds(
        of service: InfrastructureService, by provider: InfrastructureProvider, _ plan: Plan
    ) -> Grounds {
        let selection = plan.selection
        return Grounds(
            context: plan.surroundings.context(for: provider, auth: service == .auth ? nil : auth.client()),
            core: CoreClients(
                auth: auth.next(of: selection.provider(for: .auth), plan) ?? auth.absent,
                storage: storage.next(of: provider, plan) ?? storage.absent,
                files: files.next(of: selection.provider(for: .files), plan),
                messaging: messaging.next(of: selection.provider(for: .messaging), plan),
                now: plan.surroundings.now))
    }
}

/// What a client is made on.
struct Grounds: Sendable {
    /// For a core client. Its auth is the place of the chosen one: it stays valid over every switch.
    let context: ModuleContext
    /// For a domain client: clients that do not switch, so that it never works on one backend and half way on another.
    let core: CoreClients
}
