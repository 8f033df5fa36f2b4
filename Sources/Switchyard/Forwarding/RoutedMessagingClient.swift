/// A messaging client that forwards every call along its route.
///
/// Everything that goes to the server may be repeated: registering or subscribing twice has the same result.
public protocol RoutedMessagingClient: MessagingClient {
    var route: Route<any MessagingClient> { get }
}

extension RoutedMessagingClient {
    public var provider: InfrastructureProvider { route.client?.provider ?? .unavailable }
    public var capabilities: MessagingCapabilities { route.client?.capabilities ?? MessagingCapabilities() }
    public var permission: MessagingPermission {
        get async { await route.readyClient?.permission ?? .undetermined }
    }

    public func setPermission(_ permission: MessagingPermission) async throws(MessagingError) {
        try await route.call(.personal("set permission", "Recording the user's answer", isRepeatable: true)) {
            messaging throws(MessagingError) in
            try await messaging.setPermission(permission)
        }
    }
    public func setPlatformToken(_ token: PlatformPushToken?) async throws(MessagingError) {
        try await route.call(.personal("set platform token", "Handing over the push token", isRepeatable: true)) {
            messaging throws(MessagingError) in
            try await messaging.setPlatformToken(token)
        }
    }
    public func token() async throws(MessagingError) -> MessagingToken {
        try await route.call(.personal("token", "Registering this device", isRepeatable: true)) {
            messaging throws(MessagingError) in try await messaging.token()
        }
    }
    public func deleteToken() async throws(MessagingError) {
        try await route.call(.personal("delete token", "Ending the registration of this device", isRepeatable: true)) {
            messaging throws(MessagingError) in
            try await messaging.deleteToken()
        }
    }
    public func subscribe(to topic: MessagingTopic) async throws(MessagingError) {
        try await route.call(.personal("subscribe", "Subscribing to a topic", isRepeatable: true)) {
            messaging throws(MessagingError) in
            try await messaging.subscribe(to: topic)
        }
    }
    public func unsubscribe(from topic: MessagingTopic) async throws(MessagingError) {
        try await route.call(.personal("unsubscribe", "Unsubscribing from a topic", isRepeatable: true)) {
            messaging throws(MessagingError) in
            try await messaging.unsubscribe(from: topic)
        }
    }
    public func tokenStream() -> SnapshotStream<MessagingToken?, MessagingError> {
        route.snapshots("token stream") { $0.tokenStream() }
    }
    public func messageStream() -> EventStream<RemoteMessage, MessagingError> {
        route.events("message stream") { $0.messageStream() }
    }
    @discardableResult
    public func receive(_ payload: RemotePayload) async throws(MessagingError) -> RemoteMessage? {
        try await route.call(.personal("receive", "Reading a message")) { messaging throws(MessagingError) in
            try await messaging.receive(payload)
        }
    }

    public func shutDown() async { await route.client?.shutDown() }
    public func unwrapped<Client>(as type: Client.Type) -> Client? {
        self as? Client ?? route.client?.unwrapped(as: type)
    }
}

extension Routed: MessagingClient, RoutedMessagingClient where Client == any MessagingClient {}

/// A messaging client around another. Calls that it does not implement itself go to its ``base``, streams included.
public protocol MessagingClientWrapper: RoutedMessagingClient {
    /// The wrapped client, to which calls are forwarded. It should stay the same for as long as the wrapper lives.
    var base: any MessagingClient { get }
}

extension MessagingClientWrapper {
    public var route: Route<any MessagingClient> { Route(to: base) }
}
