/// What a messaging provider can do. By default, nothing.
public struct MessagingCapabilities: Sendable, Hashable {
    /// Messages reach an app that is not running, by the platform's push service.
    public var push = false
    /// Messages reach a running app over a connection that the client keeps.
    public var liveMessages = false
    public var topics = false

    public init() {}

    public static let all: MessagingCapabilities = {
        var all = MessagingCapabilities()
        all.push = true
        all.liveMessages = true
        all.topics = true
        return all
    }()
}

/// The client for messages from a server to this installation, on any provider.
public protocol MessagingClient: Sendable {
    var provider: InfrastructureProvider { get }
    var capabilities: MessagingCapabilities { get }

    /// The user's answer, as last recorded on this installation.
    var permission: MessagingPermission { get async }
    /// Records what the user has answered in the platform's dialog or settings.
    ///
    /// With `.denied` a registration ends, and ``token()`` and ``subscribe(to:)`` throw `.permissionDenied` until another answer
    /// is recorded. If the server cannot be reached to end it, the call throws, and the answer is recorded all the same.
    func setPermission(_ permission: MessagingPermission) async throws(MessagingError)

    /// The token that the platform's push service gave the app. Changes the registration if there is one.
    func setPlatformToken(_ token: PlatformPushToken?) async throws(MessagingError)

    /// The name under which a server reaches this installation. Registers it if necessary.
    func token() async throws(MessagingError) -> MessagingToken
    /// Ends the registration; messages no longer arrive.
    func deleteToken() async throws(MessagingError)

    func subscribe(to topic: MessagingTopic) async throws(MessagingError)
    func unsubscribe(from topic: MessagingTopic) async throws(MessagingError)

    /// The token, now and after every change; `nil` while there is no token.
    func tokenStream() -> SnapshotStream<MessagingToken?, MessagingError>
    /// Messages as they arrive, each once, none dropped.
    func messageStream() -> EventStream<RemoteMessage, MessagingError>

    /// Reads a payload that the platform handed to the app. The message also goes to ``messageStream()``.
    ///
    /// - Returns: `nil` if the payload is not one of this provider's messages.
    @discardableResult
    func receive(_ payload: RemotePayload) async throws(MessagingError) -> RemoteMessage?

    func shutDown() async
    /// The client of type `Client` in this one or in what it wraps.
    func unwrapped<Client>(as type: Client.Type) -> Client?
}

extension MessagingClient {
    /// Asks the user in the platform's dialog and records the answer.
    ///
    /// ```swift
    /// let permission = try await messaging.requestPermission {
    ///     let center = UNUserNotificationCenter.current()
    ///     return try await center.requestAuthorization(options: [.alert, .badge, .sound]) ? .granted : .denied
    /// }
    /// ```
    /// Call it at each launch: platforms show their dialog once, later they answer at once with what is in the settings.
    ///
    /// - Parameter dialog: Shows the platform's dialog. It runs on the caller's actor. If it throws, nothing is recorded, and its
    ///   error is the cause of the one that is thrown here.
    @discardableResult
    nonisolated(nonsending) public func requestPermission(
        _ dialog: () async throws -> MessagingPermission
    ) async throws(MessagingError) -> MessagingPermission {
        let answer: MessagingPermission
        do {
            answer = try await dialog()
        } catch let error as MessagingError {
            throw error
        } catch is CancellationError {
            throw MessagingError(.cancelled, "The call was cancelled.")
        } catch {
            throw MessagingError(
                .unknown, "The platform did not ask the user for permission to show messages: \(error)",
                underlying: error)
        }
        try await setPermission(answer)
        return answer
    }

    public func subscribe(to topic: MessagingTopic) async throws(MessagingError) {
        throw .unsupported("topics", by: provider, instead: "Send to tokens that you keep in documents.")
    }
    public func unsubscribe(from topic: MessagingTopic) async throws(MessagingError) {
        throw .unsupported("topics", by: provider, instead: "Send to tokens that you keep in documents.")
    }
    public func shutDown() async {}
    public func unwrapped<Client>(as type: Client.Type) -> Client? { self as? Client }
}
