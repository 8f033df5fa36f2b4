import SwitchyardBytes

/// All services of an infrastructure, in the order in which clients are made and switched: auth first, so that no call
/// reaches a new storage with the old session. They are shut down in reverse order: a client may need a token to sign off.
struct ClientTable: Sendable {
    let auth = ServiceClients<any AuthClient>(
        .auth, { $0 }, with: { $0.with($1) }, end: { await $0.shutDown() }
    ) { module, dependencies throws(InfrastructureError) in try await module.makeAuthClient(dependencies.context) }

    let storage = ServiceClients<any StorageClient>(
        .storage, { $0 }, with: { $0.with($1) }, end: { await $0.shutDown() },
        attach: { PendingWriteReporter($0, $1.observer) }
    ) { module, dependencies throws(InfrastructureError) in try await module.makeStorageClient(dependencies.context) }

    let files = ServiceClients<any FileStorageClient>(
        .files, { $0 }, with: { $0.with($1) }, end: { await $0.shutDown() }
    ) { module, dependencies throws(InfrastructureError) in try await module.makeFileStorageClient(dependencies.context)
    }

    let messaging = ServiceClients<any MessagingClient>(
        .messaging, { $0 }, with: { $0.with($1) }, end: { await $0.shutDown() }
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

    /// The session of the chosen auth client, across every switch.
    let session: SessionFeed

    /// The network switch of the infrastructure's storage.
    let storageNetwork: StorageNetworkState

    init() {
        session = SessionFeed(auth.client())
        storageNetwork = StorageNetworkState { [storage] in storage.retiring().map(\.client) }
    }

    var all: [any AnyServiceClients] { [auth, storage, files, messaging, users, contacts, checkIns, notifications] }

    /// Reserves the clients that `plan` can reuse.
    ///
    /// - Returns: Whether all the others can be made.
    func reserve(_ plan: SwitchPlan) -> Bool { all.map { $0.reserve(plan) }.allSatisfy { $0 } }

    /// The writes queued on the storages that `change` replaced.
    func leftWrites(with change: Int, _ options: InfrastructureOptions) async -> [SwitchReport.LeftWrites] {
        var left: [SwitchReport.LeftWrites] = []
        for (provider, storage) in storage.retiring(since: change) {
            var unsent = await storage.unsentWrites
            if unsent == nil {
                unsent = UnsentWrites(
                    count: await Self.pendingWrites(of: storage), isOnDisk: options.stateFolder != nil)
            }
            guard let unsent, unsent.count > 0 else { continue }
            left.append(SwitchReport.LeftWrites(provider: provider, count: unsent.count, isOnDisk: unsent.isOnDisk))
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
            await sent(storage.retiring(since: change).map(\.client), within: rest, options.clock)
            left = await leftWrites(with: change, options)
        }
        for clients in all.reversed() where clients.service != .storage { await clients.closeRetired(by: change) }
        guard left.contains(where: { !$0.isOnDisk }) else {
            await storage.closeRetired(by: change)
            return SwitchReport.Drained(abandonedCalls: abandoned, leftWrites: left)
        }
        Task { [storage] in
            for left in storage.retiring(since: change) { await Self.sendAll(of: left.client) }
            await storage.closeRetired(by: change)
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
        do throws(StorageError) {
            // Each time a user's queue has changed.
            for try await _ in storage.pendingWrites() {
                if let unsent = await storage.unsentWrites, !unsent.isOnDisk, unsent.count > 0 { continue }
                return try await storage.waitForPendingWrites()
            }
        } catch {
            // It was shut down and can send nothing more.
        }
    }

    /// - Returns: The number of calls on replaced clients that had not ended by the deadline.
    private func drain(_ change: Int, within deadline: Duration, clock: any Clock<Duration>) async -> Int {
        await withTaskGroup(of: Int.self) { group in
            for clients in all { group.addTask { await clients.drain(change, within: deadline, clock: clock) } }
            return await group.reduce(0, +)
        }
    }

    func dependencies(
        of service: InfrastructureService, by provider: InfrastructureProvider, _ plan: SwitchPlan
    ) -> ClientDependencies {
        let selection = plan.selection
        return ClientDependencies(
            context: plan.options.context(for: provider, service == .auth ? nil : session),
            core: CoreClients(
                auth: auth.prepared(of: selection.provider(for: .auth), plan) ?? auth.unavailableClient,
                storage: storage.prepared(of: provider, plan) ?? storage.unavailableClient,
                files: files.prepared(of: selection.provider(for: .files), plan),
                messaging: messaging.prepared(of: selection.provider(for: .messaging), plan),
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
