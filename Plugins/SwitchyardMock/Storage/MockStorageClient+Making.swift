public import Switchyard
import SwitchyardProviderKit
import Synchronization

extension MockStorageClient {
    /// - Parameters:
    ///   - backend: The project; a new, empty one by default.
    ///   - network: The device's connection, shared with its other clients.
    ///   - capabilities: The capabilities; reduce them to test an app with a provider that has fewer.
    public convenience init(
        _ backend: MockBackend = MockBackend(), network: MockNetwork = MockNetwork(),
        capabilities: StorageCapabilities = .all
    ) { self.init(backend, network: network, capabilities: capabilities, MockDevice(), Options()) }

    /// Creates a device whose queue of writes and cache are stored in the backend's folder under `name`.
    ///
    /// Without a folder, nothing is stored.
    ///
    /// Stored writes are sent again. The cache is stored when the device goes offline or is shut down.
    ///
    /// - Throws: `.localStore` if the stored queue or cache is damaged; its file has been set aside.
    public convenience init(
        _ backend: MockBackend, network: MockNetwork = MockNetwork(), capabilities: StorageCapabilities = .all,
        keptAs name: String
    ) throws(InfrastructureError) {
        self.init(backend, network: network, capabilities: capabilities, MockDevice(), Options())
        try begin(keptAs: name)
    }

    /// Creates a client that stores nothing, for the requests of one user or, bypassing the rules, of the project itself.
    convenience init(_ backend: MockBackend, network: MockNetwork, actingFor userID: AuthUser.ID?) {
        let device = MockDevice()
        if userID != nil { device.rules = backend.rules }
        backend.database.withState { _ in _ = device.queue.use(userID ?? "") }
        var capabilities = StorageCapabilities.all
        capabilities.offline = false
        self.init(backend, network: network, capabilities: capabilities, device, Options())
    }

    /// Creates a module's client, which deletes a user's documents when they sign out from `auth` with `wipesLocalData`.
    convenience init(
        _ backend: MockBackend, network: MockNetwork, keptAs name: String, tenant: MockBackendLease?,
        _ context: ModuleContext
    ) async throws(InfrastructureError) {
        let device = MockDevice()
        device.rules = backend.rules
        let relay = Relay()
        var options = Options(tenant: tenant)
        options.report = { [observer = context.observer] kind in
            observer.observe(InfrastructureEvent(service: .storage, provider: .mock, kind: kind))
        }
        if let session = context.session {
            let known = await session.session.state
            backend.database.withState { _ in _ = device.queue.use(known.user?.id ?? "") }
            options.session = session.subscribe { change in
                let state: AuthState
                switch change {
                case .wipe(let userID): return Self.forgetEverything(of: userID, on: device, in: backend)
                case .state(let new): state = new
                }
                let owner = state.user?.id ?? ""
                backend.database.change { server in
                    // As elsewhere, a user whom the server has signed out leaves no streams behind.
                    let isOver = state.isEndedByServer && !device.queue.owner.isEmpty
                    let actions = isOver ? device.endListeners(throwing: .sessionEndedByServer) : []
                    return ((), actions + device.use(owner, server.documents))
                }
                let client = relay.client.withLock { $0.value }
                client?.endPause()
                client?.sendQueue()
            }
        }
        self.init(backend, network: network, capabilities: .all, device, options)
        relay.client.withLock { $0.value = self }
        try begin(keptAs: name)
        await session?.catchUp()
    }

    private func begin(keptAs name: String) throws(InfrastructureError) {
        try backend.restore(device, as: name)
        sendQueue()
    }
}
