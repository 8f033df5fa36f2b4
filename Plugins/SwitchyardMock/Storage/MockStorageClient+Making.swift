public import Switchyard
import SwitchyardProviderKit
import Synchronization

extension MockStorageClient {
    /// - Parameters:
    ///   - backend: The project; a new and empty one by default.
    ///   - network: The device's connection, shared with its other clients.
    ///   - capabilities: Fewer than everything, to see how an app does with a provider that has less.
    public convenience init(
        _ backend: MockBackend = MockBackend(), network: MockNetwork = MockNetwork(),
        capabilities: StorageCapabilities = .all
    ) { self.init(backend, network: network, capabilities: capabilities, MockDevice(), Surroundings()) }

    /// A device whose queue of writes and cache are kept in the backend's folder under `name`; without a folder, as any
    /// other.
    ///
    /// What waits there is sent on. The cache is kept as it was when the device last went offline or was shut down.
    /// - Throws: `.localStore` if the kept queue or cache is damaged; its file has been set aside.
    public convenience init(
        _ backend: MockBackend, network: MockNetwork = MockNetwork(), capabilities: StorageCapabilities = .all,
        keptAs name: String
    ) throws(InfrastructureError) {
        self.init(backend, network: network, capabilities: capabilities, MockDevice(), Surroundings())
        try begin(keptAs: name)
    }

    /// A client that keeps nothing, for the requests of one user or, above the rules, of the project itself.
    convenience init(_ backend: MockBackend, network: MockNetwork, actingFor userID: AuthUser.ID?) {
        let device = MockDevice()
        if userID != nil { device.rules = backend.rules }
        backend.database.withState { _ in _ = device.queue.use(userID ?? "") }
        var capabilities = StorageCapabilities.all
        capabilities.offline = false
        self.init(backend, network: network, capabilities: capabilities, device, Surroundings())
    }

    /// A module's client: the user's documents go when they sign out from `auth` with that wish.
    convenience init(
        _ backend: MockBackend, network: MockNetwork, keptAs name: String, tenant: MockTenant?,
        _ context: ModuleContext
    ) async throws(InfrastructureError) {
        let device = MockDevice()
        device.rules = backend.rules
        let relay = Relay()
        var surroundings = Surroundings(tenant: tenant)
        surroundings.report = { [observer = context.observer] kind in
            observer.observe(InfrastructureEvent(service: .storage, provider: .mock, kind: kind))
        }
        if let auth = context.auth {
            let known = await auth.state
            backend.database.withState { _ in _ = device.queue.use(known.user?.id ?? "") }
            surroundings.follower = SignOutFollower(auth, known: known) { leavers, state in
                for leaver in leavers { Self.forgetEverything(of: leaver, on: device, in: backend) }
                // While nothing is known of the session, nothing changes.
                if state == .unknown || state == .locked { return }
                let owner = state.user?.id ?? ""
                backend.database.change { ((), device.use(owner, $0.documents)) }
                relay.client.withLock { $0.value }?.sendQueue()
            }
        }
        self.init(backend, network: network, capabilities: .all, device, surroundings)
        relay.client.withLock { $0.value = self }
        try begin(keptAs: name)
    }

    private func begin(keptAs name: String) throws(InfrastructureError) {
        try backend.restore(device, as: name)
        sendQueue()
    }
}
