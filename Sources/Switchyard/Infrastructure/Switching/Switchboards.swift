/// The places of all clients of an ``Infrastructure``.
struct Switchboards: Sendable {
    let auth: Switchboard<any AuthClient>
    let storage: Switchboard<any StorageClient>
    let files: Switchboard<any FileStorageClient>
    let messaging: Switchboard<any MessagingClient>
    let users: Switchboard<any UserClient>
    let contacts: Switchboard<any ContactsClient>
    let checkIns: Switchboard<any CheckInClient>
    let notifications: Switchboard<any NotificationClient>

    init(auth: Switchboard<any AuthClient>, _ clients: Instances.Selected) {
        self.auth = auth
        storage = Switchboard(clients.storage)
        files = Switchboard(clients.files)
        messaging = Switchboard(clients.messaging)
        users = Switchboard(clients.domain.users)
        contacts = Switchboard(clients.domain.contacts)
        checkIns = Switchboard(clients.domain.checkIns)
        notifications = Switchboard(clients.domain.notifications)
    }

    /// Which calls may still be under way on the clients before a change, for each place that changed.
    typealias Generations = [InfrastructureService: Int]

    /// Auth first, so that nobody asks the new storage with the old session.
    func replace(with clients: Instances.Selected, only changed: Set<InfrastructureService>) -> Generations {
        var generations: Generations = [:]
        for service in InfrastructureService.allCases where changed.contains(service) {
            generations[service] =
                switch service {
                case .auth: auth.replace(with: clients.auth)
                case .storage: storage.replace(with: clients.storage)
                case .files: files.replace(with: clients.files)
                case .messaging: messaging.replace(with: clients.messaging)
                case .users: users.replace(with: clients.domain.users)
                case .contacts: contacts.replace(with: clients.domain.contacts)
                case .checkIns: checkIns.replace(with: clients.domain.checkIns)
                case .notifications: notifications.replace(with: clients.domain.notifications)
                }
        }
        return generations
    }

    /// - Returns: How many calls had not ended by the deadline.
    func drain(_ generations: Generations, within deadline: Duration, clock: any Clock<Duration>) async -> Int {
        await withTaskGroup(of: Int.self) { group in
            for (service, generation) in generations {
                group.addTask { await drain(service, generation, within: deadline, clock: clock) }
            }
            return await group.reduce(0, +)
        }
    }

    private func drain(
        _ service: InfrastructureService, _ generation: Int, within deadline: Duration, clock: any Clock<Duration>
    ) async -> Int {
        switch service {
        case .auth: await auth.drain(generation, within: deadline, clock: clock)
        case .storage: await storage.drain(generation, within: deadline, clock: clock)
        case .files: await files.drain(generation, within: deadline, clock: clock)
        case .messaging: await messaging.drain(generation, within: deadline, clock: clock)
        case .users: await users.drain(generation, within: deadline, clock: clock)
        case .contacts: await contacts.drain(generation, within: deadline, clock: clock)
        case .checkIns: await checkIns.drain(generation, within: deadline, clock: clock)
        case .notifications: await notifications.drain(generation, within: deadline, clock: clock)
        }
    }
}
