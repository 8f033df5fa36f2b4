import Foundation
public import Switchyard
import SwitchyardBytes
import SwitchyardProviderKit
import SwitchyardWire
import Synchronization

/// Firebase Cloud Messaging over plain HTTP: registers an installation with a push token from the app, and parses received
/// messages.
///
/// The platform's push service delivers messages. A server has none, so push and topics are not among the capabilities there,
/// and ``token()`` throws. Nothing is registered before ``token()`` is called. Deleting the token also deletes the Firebase
/// installation; the next token creates another one. Only devices with Apple's push tokens can subscribe to topics; for
/// browsers and Android a server does it.
///
/// To send messages, use ``FirebaseMessageSender``.
public final class FirebaseMessagingAdapter: MessagingClient {
    public let provider: InfrastructureProvider = .firebase
    public let capabilities: MessagingCapabilities

    private let registrar: FirebaseRegistrar?
    private let hub: MessageInbox
    private let transport: any Transport
    private let reason: String

    /// Whether this platform has a service that delivers push messages to apps.
    static var platformHasPushService: Bool {
        #if os(iOS) || os(macOS) || os(tvOS) || os(watchOS) || os(visionOS) || os(WASI) || os(Android)
            true
        #else
            false
        #endif
    }

    /// Whether topics can be subscribed to with a token of the platform's push service.
    private static var platformHasTopics: Bool {
        #if os(WASI) || os(Android)
            false
        #else
            true
        #endif
    }

    /// - Parameters:
    ///   - hasPushService: By default, whether the platform has one.
    ///   - appVersion: The app's version; a new version registers again.
    init(
        _ context: FirebaseContext, hasPushService: Bool = platformHasPushService, appVersion: String = "1"
    ) throws(InfrastructureError) {
        transport = context.transport
        hub = MessageInbox(following: context.module.session)
        var capabilities = MessagingCapabilities()
        let appID = context.configuration.appID
        if let appID, hasPushService {
            capabilities.push = true
            capabilities.topics = Self.platformHasTopics
            let folder = try context.folder("messaging")
            registrar = FirebaseRegistrar(
                FirebaseMessagingService(context, appID: appID, appVersion: appVersion),
                file: folder?.appendingPathComponent("installation.json", isDirectory: false), hub: hub)
        } else {
            registrar = nil
        }
        reason =
            hasPushService
            ? "Set Firebase's appID, which registration needs."
            : "This platform has no push service; register on the devices, and send from here with FirebaseMessageSender."
        self.capabilities = capabilities
    }

    private func registrar(for operation: String) throws(MessagingError) -> FirebaseRegistrar {
        try hub.checkOpen()
        guard let registrar else { throw .unsupported(operation, by: provider, instead: reason) }
        return registrar
    }

    // MARK: Permission and token

    public var permission: MessagingPermission { get async { await registrar?.permission ?? .undetermined } }

    public func setPermission(_ permission: MessagingPermission) async throws(MessagingError) {
        try await registrar(for: "push").setPermission(permission)
    }

    public func setPlatformToken(_ token: PlatformPushToken?) async throws(MessagingError) {
        try await registrar(for: "push").setPlatformToken(token)
    }

    public func token() async throws(MessagingError) -> MessagingToken {
        try await registrar(for: "push").token()
    }

    public func deleteToken() async throws(MessagingError) { try await registrar(for: "push").deleteToken() }

    public func subscribe(to topic: MessagingTopic) async throws(MessagingError) {
        try await registrar(for: "topics").setSubscribed(true, topic)
    }

    public func unsubscribe(from topic: MessagingTopic) async throws(MessagingError) {
        try await registrar(for: "topics").setSubscribed(false, topic)
    }

    // MARK: Messages

    public func tokenStream() -> SnapshotStream<MessagingToken?, MessagingError> {
        SnapshotStream { [hub, registrar] continuation in
            let stop = hub.listen(tokens: continuation)
            // Stored values follow as soon as they have been read.
            if let registrar { Task { await registrar.read() } }
            return stop
        }
    }

    public func messageStream() -> EventStream<RemoteMessage, MessagingError> {
        EventStream { [hub] continuation in hub.listen(messages: continuation) }
    }

    @discardableResult
    public func receive(_ payload: RemotePayload) async throws(MessagingError) -> RemoteMessage? {
        try hub.checkOpen()
        guard let json = try? JSON(parsing: Array(payload.json), options: JSONParsingOptions(loneSurrogates: .replace))
        else {
            throw MessagingError(.invalidArgument, "The payload is not JSON. Pass it on as the platform delivered it.")
        }
        guard let message = RemoteMessage(firebase: json, wasOpened: payload.wasOpened) else { return nil }
        hub.take(message)
        return message
    }

    public func shutDown() async {
        hub.shutDown()
        await transport.shutDown()
    }
}
