public import Switchyard
import SwitchyardBytes
import Synchronization

/// Messages from the ``MockMessages`` of a backend to this installation.
///
/// What arrives while nobody listens waits for the first who does; what was sent while the network was off arrives when
/// it is back.
public final class MockMessagingClient: MessagingClient {
    public let provider: InfrastructureProvider = .mock
    public let capabilities: MessagingCapabilities
    /// The test's hand on this client.
    public let controls: MockControls<MessagingError>

    private struct State {
        var permission = MessagingPermission.undetermined
        var answer = MessagingPermission.granted
        var platformToken: PlatformPushToken?
        var token: MessagingToken?
        var seen: Set<String> = []
        var unheard: [RemoteMessage] = []
        var listeners: [Int: EventStream<RemoteMessage, MessagingError>.Continuation] = [:]
        var tokenListeners: [Int: SnapshotStream<MessagingToken?, MessagingError>.Continuation] = [:]
        var lastListener = 0
        var isShutDown = false
    }

    private let server: MockMessages
    private let file: MockFile?
    private let tenant: MockTenant?
    private let state: Mutex<State>
    private let deliveries = DeliveryQueue()
    private let reachability = Mutex<Once?>(nil)

    public convenience init(
        _ backend: MockBackend = MockBackend(), network: MockNetwork = MockNetwork(),
        capabilities: MessagingCapabilities = .all
    ) {
        self.init(backend, network: network, capabilities: capabilities, token: nil, file: nil, tenant: nil)
    }

    /// An installation that keeps its token in `file` over restarts.
    ///
    /// - Throws: `.localStore` if the file is damaged; it has been set aside then.
    convenience init(
        _ backend: MockBackend, network: MockNetwork, file: MockFile?, tenant: MockTenant?
    ) throws(InfrastructureError) {
        let token: String?
        do throws(MockFile.Failure) {
            token = try file?.decode(String.self)
        } catch {
            throw InfrastructureError(.localStore, error.description)
        }
        self.init(
            backend, network: network, capabilities: .all, token: token.map { MessagingToken(Secret($0)) }, file: file,
            tenant: tenant)
    }

    private init(
        _ backend: MockBackend, network: MockNetwork, capabilities: MessagingCapabilities, token: MessagingToken?,
        file: MockFile?, tenant: MockTenant?
    ) {
        server = backend.messages
        self.file = file
        self.tenant = tenant
        self.capabilities = capabilities
        controls = MockControls(
            network: network, unavailable: MessagingError(.unavailable, "The mock's network is off."),
            cancelled: MessagingError(.cancelled, "The call was cancelled."))
        var state = State()
        state.token = token
        self.state = Mutex(state)
        if let token = state.token { connect(token) }
        let change = network.onChange { [weak self] isOnline in
            guard isOnline, let self, let token = self.state.withLock({ $0.token }) else { return }
            server.flush(token.value.reveal())
        }
        reachability.withLock { $0 = change }
    }

    deinit { reachability.withLock { $0 }?.run() }

    /// What a person will answer when asked; granted by default.
    public var permissionAnswer: MessagingPermission {
        get { state.withLock { $0.answer } }
        set { state.withLock { $0.answer = newValue } }
    }

    /// How many streams are open.
    public var listenerCount: Int { state.withLock { $0.listeners.count + $0.tokenListeners.count } }

    // MARK: Permission and token

    public var permission: MessagingPermission { get async { state.withLock { $0.permission } } }

    public func requestPermission() async throws(MessagingError) -> MessagingPermission {
        try checkOpen()
        if let scripted = try await controls.enter(.requestPermission) { return scripted }
        return state.withLock { state in
            if state.permission == .undetermined { state.permission = state.answer }
            return state.permission
        }
    }

    public func setPlatformToken(_ token: PlatformPushToken?) async throws(MessagingError) {
        try checkOpen()
        _ = try await controls.enter(.setPlatformToken, needsNetwork: true)
        state.withLock { $0.platformToken = token }
    }

    public func token() async throws(MessagingError) -> MessagingToken {
        try checkOpen()
        if let known = state.withLock({ $0.token }) { return known }
        if let scripted = try await controls.enter(.token, needsNetwork: true) { return scripted }
        let (token, isNew) = state.withLock { state -> (MessagingToken, Bool) in
            if let known = state.token { return (known, false) }
            let new = MessagingToken(Secret(RandomID.make(length: 40)))
            state.token = new
            tellToken(state)
            return (new, true)
        }
        if isNew {
            keep(token)
            connect(token)
        }
        deliveries.drain()
        return token
    }

    public func deleteToken() async throws(MessagingError) {
        try checkOpen()
        if try await controls.enter(.deleteToken, needsNetwork: true) != nil { return }
        let old = state.withLock { state in
            defer {
                if state.token != nil {
                    state.token = nil
                    tellToken(state)
                }
            }
            return state.token
        }
        deliveries.drain()
        if let old { server.unregister(old.value.reveal()) }
        keep(nil)
        try controls.leave()
    }

    public func subscribe(to topic: MessagingTopic) async throws(MessagingError) {
        try await setSubscribed(true, topic, .subscribe)
    }

    public func unsubscribe(from topic: MessagingTopic) async throws(MessagingError) {
        try await setSubscribed(false, topic, .unsubscribe)
    }

    private func setSubscribed(
        _ isSubscribed: Bool, _ topic: MessagingTopic, _ operation: MockOperation<Bool, MessagingError>
    ) async throws(MessagingError) {
        guard capabilities.topics else {
            throw .unsupported("topics", by: provider, instead: "Send to tokens that you keep in documents.")
        }
        try checkOpen()
        if try await controls.enter(operation, topic.rawValue, needsNetwork: true) != nil { return }
        let token = try await token()
        try server.setSubscribed(isSubscribed, token.value.reveal(), topic)
        try controls.leave()
    }

    // MARK: Streams

    public func tokenStream() -> SnapshotStream<MessagingToken?, MessagingError> {
        SnapshotStream { [self] continuation in
            let id = state.withLock { state -> Int? in
                guard !state.isShutDown else { return nil }
                state.lastListener += 1
                state.tokenListeners[state.lastListener] = continuation
                let token = state.token
                deliveries.add([{ continuation.yield(token) }])
                return state.lastListener
            }
            deliveries.drain()
            guard let id else {
                continuation.finish(throwing: .shutDown)
                return {}
            }
            return { [self] in state.withLock { _ = $0.tokenListeners.removeValue(forKey: id) } }
        }
    }

    public func messageStream() -> EventStream<RemoteMessage, MessagingError> {
        EventStream { [self] continuation in
            let id = state.withLock { state -> Int? in
                guard !state.isShutDown else { return nil }
                state.lastListener += 1
                state.listeners[state.lastListener] = continuation
                let unheard = state.unheard
                state.unheard = []
                deliveries.add(unheard.map { message in { continuation.yield(message) } })
                return state.lastListener
            }
            deliveries.drain()
            guard let id else {
                continuation.finish(throwing: .shutDown)
                return {}
            }
            return { [self] in state.withLock { _ = $0.listeners.removeValue(forKey: id) } }
        }
    }

    @discardableResult
    public func receive(_ payload: RemotePayload) async throws(MessagingError) -> RemoteMessage? {
        try checkOpen()
        guard let message = try MockMessages.message(payload) else { return nil }
        take(message)
        return message
    }

    // MARK: Inside

    private func connect(_ token: MessagingToken) {
        server.register(token.value.reveal()) { [weak self] message in
            guard let self, controls.network.isOnline else { return false }
            return take(message)
        }
    }

    /// - Returns: `false` if nobody can take messages any more.
    @discardableResult
    private func take(_ message: RemoteMessage) -> Bool {
        let isTaken = state.withLock { state in
            guard !state.isShutDown else { return false }
            guard state.seen.insert(message.id).inserted else { return true }
            if state.listeners.isEmpty {
                state.unheard.append(message)
            } else {
                deliveries.add(state.listeners.values.map { listener in { listener.yield(message) } })
            }
            return true
        }
        deliveries.drain()
        return isTaken
    }

    private func tellToken(_ state: State) {
        let token = state.token
        deliveries.add(state.tokenListeners.values.map { listener in { listener.yield(token) } })
    }

    private func keep(_ token: MessagingToken?) {
        // A token that cannot be kept is asked for anew after the restart.
        try? file?.encode(token?.value.reveal())
    }

    private func checkOpen() throws(MessagingError) { if state.withLock({ $0.isShutDown }) { throw .shutDown } }

    public func shutDown() async {
        let (token, listeners, tokenListeners) = state.withLock { state in
            state.isShutDown = true
            defer {
                state.listeners = [:]
                state.tokenListeners = [:]
            }
            return (state.token, Array(state.listeners.values), Array(state.tokenListeners.values))
        }
        if let token { server.disconnect(token.value.reveal()) }
        for listener in listeners { listener.finish(throwing: .shutDown) }
        for listener in tokenListeners { listener.finish(throwing: .shutDown) }
        tenant?.leave()
    }
}

extension MessagingError {
    static let shutDown = MessagingError(.shutDown, "The client was shut down.")
}
