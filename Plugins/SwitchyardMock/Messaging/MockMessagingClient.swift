public import Switchyard
import SwitchyardBytes
import SwitchyardProviderKit
import Synchronization

/// Delivers messages of a backend's ``MockMessages`` to this installation.
///
/// A message without a listener waits for the first one, as long as the same user uses the device. Messages sent while the
/// network was off arrive when it is back.
public final class MockMessagingClient: MessagingClient {
    public let provider: InfrastructureProvider = .mock
    public let capabilities: MessagingCapabilities
    /// Scripts and records the calls of this client.
    public let controls: MockControls<MessagingError>

    private struct State {
        var permission = MessagingPermission.undetermined
        var platformToken: PlatformPushToken?
        var token: MessagingToken?
    }

    private let server: MockMessages
    private let file: MockFile?
    private let tenant: MockBackendLease?
    private let state: Mutex<State>
    private let hub: MessageInbox
    private let reachability = Mutex<Once?>(nil)

    public convenience init(
        _ backend: MockBackend = MockBackend(), network: MockNetwork = MockNetwork(),
        capabilities: MessagingCapabilities = .all
    ) {
        self.init(
            backend, network: network, capabilities: capabilities, token: nil, file: nil, tenant: nil, session: nil)
    }

    /// Creates an installation that stores its token in `file`, across restarts.
    ///
    /// - Throws: `.localStore` if the file is damaged; it has then been set aside.
    convenience init(
        _ backend: MockBackend, network: MockNetwork, file: MockFile?, tenant: MockBackendLease?,
        session: SessionFeed?
    ) throws(InfrastructureError) {
        let token: String?
        do throws(MockFile.Failure) {
            token = try file?.decode(String.self)
        } catch {
            throw InfrastructureError(.localStore, error.description)
        }
        self.init(
            backend, network: network, capabilities: .all, token: token.map { MessagingToken(Secret($0)) }, file: file,
            tenant: tenant, session: session)
    }

    private init(
        _ backend: MockBackend, network: MockNetwork, capabilities: MessagingCapabilities, token: MessagingToken?,
        file: MockFile?, tenant: MockBackendLease?, session: SessionFeed?
    ) {
        server = backend.messages
        self.file = file
        self.tenant = tenant
        hub = MessageInbox(following: session)
        self.capabilities = capabilities
        controls = MockControls(
            network: network, unavailable: MessagingError(.unavailable, "The mock's network is off."),
            cancelled: MessagingError(.cancelled, "The call was cancelled."))
        var state = State()
        state.token = token
        self.state = Mutex(state)
        if let token {
            hub.tell(token)
            connect(token)
        }
        let change = network.onChange { [weak self] isOnline in
            guard isOnline, let self, let token = self.state.withLock({ $0.token }) else { return }
            server.flush(token.value.reveal())
        }
        reachability.withLock { $0 = change }
    }

    deinit { reachability.withLock { $0 }?.run() }

    /// The number of open streams.
    public var listenerCount: Int { hub.listenerCount }

    // MARK: Permission and token

    public var permission: MessagingPermission { get async { state.withLock { $0.permission } } }

    public func setPermission(_ permission: MessagingPermission) async throws(MessagingError) {
        try hub.checkOpen()
        if try await controls.enter(.setPermission) != nil { return }
        state.withLock { $0.permission = permission }
        if permission == .denied { endRegistration() }
    }

    public func setPlatformToken(_ token: PlatformPushToken?) async throws(MessagingError) {
        try hub.checkOpen()
        _ = try await controls.enter(.setPlatformToken, needsNetwork: true)
        state.withLock { $0.platformToken = token }
    }

    public func token() async throws(MessagingError) -> MessagingToken {
        try hub.checkOpen()
        try await permission.check()
        if let known = state.withLock({ $0.token }) { return known }
        if let scripted = try await controls.enter(.token, needsNetwork: true) { return scripted }
        let (token, isNew) = state.withLock { state -> (MessagingToken, Bool) in
            if let known = state.token { return (known, false) }
            let new = MessagingToken(Secret(RandomID.make(length: 40)))
            state.token = new
            return (new, true)
        }
        if isNew {
            keep(token)
            connect(token)
            hub.tell(token)
        }
        return token
    }

    public func deleteToken() async throws(MessagingError) {
        try hub.checkOpen()
        if try await controls.enter(.deleteToken, needsNetwork: true) != nil { return }
        endRegistration()
        try controls.leave()
    }

    private func endRegistration() {
        let old = state.withLock { state in
            defer { state.token = nil }
            return state.token
        }
        hub.tell(nil)
        if let old { server.unregister(old.value.reveal()) }
        keep(nil)
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
        try hub.checkOpen()
        if try await controls.enter(operation, topic.rawValue, needsNetwork: true) != nil { return }
        let token = try await token()
        try server.setSubscribed(isSubscribed, token.value.reveal(), topic)
        try controls.leave()
    }

    // MARK: Streams

    public func tokenStream() -> SnapshotStream<MessagingToken?, MessagingError> {
        SnapshotStream { [hub] continuation in hub.listen(tokens: continuation) }
    }

    public func messageStream() -> EventStream<RemoteMessage, MessagingError> {
        EventStream { [hub] continuation in hub.listen(messages: continuation) }
    }

    @discardableResult
    public func receive(_ payload: RemotePayload) async throws(MessagingError) -> RemoteMessage? {
        try hub.checkOpen()
        guard let message = try MockMessages.message(payload) else { return nil }
        hub.take(message)
        return message
    }

    // MARK: Internal

    private func connect(_ token: MessagingToken) {
        server.register(token.value.reveal()) { [weak self] message in
            guard let self, controls.network.isOnline else { return false }
            return hub.take(message)
        }
    }

    private func keep(_ token: MessagingToken?) {
        // A token that cannot be saved is requested again after a restart.
        try? file?.encode(token?.value.reveal())
    }

    public func shutDown() async {
        hub.shutDown()
        if let token = state.withLock({ $0.token }) { server.disconnect(token.value.reveal()) }
        tenant?.leave()
    }
}
