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

    var all: [any AnyServiceSlot] { [auth, storage, files, messaging, users, contacts, checkIns, notifications] }

    /// - Returns: How many calls on clients that were exchanged had not ended by the deadline.
    func drain(within deadline: Duration, clock: any Clock<Duration>) async -> Int {
        await withTaskGroup(of: Int.self) { group in
            for slot in all { group.addTask { await slot.drain(within: deadline, clock: clock) } }
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
