public import Switchyard

/// A messaging client for the tests of one feature: you set the calls that the feature makes, and every other one refuses by name.
///
/// ```swift
/// let messaging = StubMessagingClient(permission: { .denied })
/// ```
public struct StubMessagingClient: MessagingClient {
    /// What the stub answers by itself; `nil` for what it leaves to the client that it was made over.
    public struct Calls: Sendable {
        public var permission: (@Sendable () async -> MessagingPermission)?
        public var setPermission: (@Sendable (MessagingPermission) async throws -> Void)?
        public var setPlatformToken: (@Sendable (PlatformPushToken?) async throws -> Void)?
        public var token: (@Sendable () async throws -> MessagingToken)?
        public var deleteToken: (@Sendable () async throws -> Void)?
        public var subscribe: (@Sendable (MessagingTopic) async throws -> Void)?
        public var unsubscribe: (@Sendable (MessagingTopic) async throws -> Void)?
        public var tokenStream: (@Sendable () -> SnapshotStream<MessagingToken?, MessagingError>)?
        public var messageStream: (@Sendable () -> EventStream<RemoteMessage, MessagingError>)?
        public var receive: (@Sendable (RemotePayload) async throws -> RemoteMessage?)?
    }

    public var calls = Calls()
    private let base: any MessagingClient

    /// - Parameters:
    ///   - base: Answers what is not set: a mock, or by default a client that refuses everything by name. `UnsetClients` has one
    ///     that also records a failure of the test.
    ///   - set: Sets the calls.
    public init(over base: any MessagingClient = UnsetClients.stubs.messaging, _ set: (inout Calls) -> Void = { _ in })
    {
        self.base = base
        set(&calls)
    }

    /// A stub that answers these calls and refuses every other one by name.
    public init(
        permission: (@Sendable () async -> MessagingPermission)? = nil,
        setPermission: (@Sendable (MessagingPermission) async throws -> Void)? = nil,
        setPlatformToken: (@Sendable (PlatformPushToken?) async throws -> Void)? = nil,
        token: (@Sendable () async throws -> MessagingToken)? = nil,
        deleteToken: (@Sendable () async throws -> Void)? = nil,
        subscribe: (@Sendable (MessagingTopic) async throws -> Void)? = nil,
        unsubscribe: (@Sendable (MessagingTopic) async throws -> Void)? = nil,
        tokenStream: (@Sendable () -> SnapshotStream<MessagingToken?, MessagingError>)? = nil,
        messageStream: (@Sendable () -> EventStream<RemoteMessage, MessagingError>)? = nil,
        receive: (@Sendable (RemotePayload) async throws -> RemoteMessage?)? = nil
    ) {
        self.init {
            $0.permission = permission
            $0.setPermission = setPermission
            $0.setPlatformToken = setPlatformToken
            $0.token = token
            $0.deleteToken = deleteToken
            $0.subscribe = subscribe
            $0.unsubscribe = unsubscribe
            $0.tokenStream = tokenStream
            $0.messageStream = messageStream
            $0.receive = receive
        }
    }

    // MARK: Requirements

    public var provider: InfrastructureProvider { base.provider }
    public var capabilities: MessagingCapabilities { base.capabilities }
    public var permission: MessagingPermission {
        get async {
            guard let permission = calls.permission else { return await base.permission }
            return await permission()
        }
    }
    public func setPermission(_ permission: MessagingPermission) async throws(MessagingError) {
        try await stubbed(MessagingError.self) { try await (calls.setPermission ?? base.setPermission)(permission) }
    }
    public func setPlatformToken(_ token: PlatformPushToken?) async throws(MessagingError) {
        try await stubbed(MessagingError.self) { try await (calls.setPlatformToken ?? base.setPlatformToken)(token) }
    }
    public func token() async throws(MessagingError) -> MessagingToken {
        try await stubbed(MessagingError.self) { try await (calls.token ?? base.token)() }
    }
    public func deleteToken() async throws(MessagingError) {
        try await stubbed(MessagingError.self) { try await (calls.deleteToken ?? base.deleteToken)() }
    }
    public func subscribe(to topic: MessagingTopic) async throws(MessagingError) {
        try await stubbed(MessagingError.self) { try await (calls.subscribe ?? base.subscribe)(topic) }
    }
    public func unsubscribe(from topic: MessagingTopic) async throws(MessagingError) {
        try await stubbed(MessagingError.self) { try await (calls.unsubscribe ?? base.unsubscribe)(topic) }
    }
    public func tokenStream() -> SnapshotStream<MessagingToken?, MessagingError> {
        (calls.tokenStream ?? base.tokenStream)()
    }
    public func messageStream() -> EventStream<RemoteMessage, MessagingError> {
        (calls.messageStream ?? base.messageStream)()
    }
    @discardableResult
    public func receive(_ payload: RemotePayload) async throws(MessagingError) -> RemoteMessage? {
        try await stubbed(MessagingError.self) { try await (calls.receive ?? base.receive)(payload) }
    }
    public func shutDown() async {
        await base.shutDown()
    }
    public func unwrapped<Client>(as type: Client.Type) -> Client? {
        base.unwrapped(as: type)
    }
}
