import Foundation
public import Switchyard
import SwitchyardBytes
import SwitchyardProviderKit
import SwitchyardWire

/// Messages over the project's realtime service.
///
/// Topics and installations are private channels there, and a running app receives what is sent while it is connected.
///
/// ``token()`` registers the installation in the project's database for the signed-in user, together with the platform's push
/// token if one was set. To reach an app that is not running, the project needs a platform's push service and a function that
/// calls it with these tokens. Push is not among the capabilities, since this client cannot know whether that exists.
/// ``receive(_:)`` reads the part of such a push named `switchyard`, and does not deliver a message again that has already
/// arrived live.
///
/// To send messages from a server, use ``SupabaseMessageSender``.
public final class SupabaseMessagingAdapter: MessagingClient {
    public let provider: InfrastructureProvider = .supabase
    public let capabilities: MessagingCapabilities = {
        var capabilities = MessagingCapabilities()
        capabilities.liveMessages = true
        capabilities.topics = true
        return capabilities
    }()

    private let registrar: SupabaseRegistrar
    private let hub: MessageInbox
    private let transport: any Transport
    let realtime: RealtimeLease

    init(_ context: SupabaseContext) throws(InfrastructureError) {
        guard context.configuration.realtime.mode != .off else {
            throw InfrastructureError(
                .unsupported,
                "Messages arrive through Supabase's realtime service, but the configuration sets realtime.mode to off.")
        }
        transport = context.transport
        hub = MessageInbox(following: context.module.session)
        realtime = context.session.realtime(for: .messages)
        let service = PostgRESTService(
            project: context.project, tokens: context.tokens, transport: transport,
            clock: context.module.clock, gate: SchemaCheck(needed: 4))
        let folder = try context.folder("messaging")
        registrar = SupabaseRegistrar(
            service, realtime.socket, file: folder?.appendingPathComponent("installation.json", isDirectory: false),
            hub: hub, heartbeat: context.configuration.realtime.heartbeat, context.module)
    }

    // MARK: Permission and token

    public var permission: MessagingPermission { get async { await registrar.permission } }

    public func setPermission(_ permission: MessagingPermission) async throws(MessagingError) {
        try hub.checkOpen()
        try await registrar.setPermission(permission)
    }

    public func setPlatformToken(_ token: PlatformPushToken?) async throws(MessagingError) {
        try hub.checkOpen()
        try await registrar.setPlatformToken(token)
    }

    /// Returns the installation's name, once it is registered and connected.
    ///
    /// - Throws: `.unauthenticated` while no user is signed in; `.unavailable` if the project cannot be reached.
    public func token() async throws(MessagingError) -> MessagingToken {
        try hub.checkOpen()
        return try await registrar.token()
    }

    public func deleteToken() async throws(MessagingError) {
        try hub.checkOpen()
        try await registrar.deleteToken()
    }

    public func subscribe(to topic: MessagingTopic) async throws(MessagingError) {
        try hub.checkOpen()
        try await registrar.subscribe(to: topic)
    }

    public func unsubscribe(from topic: MessagingTopic) async throws(MessagingError) {
        try hub.checkOpen()
        await registrar.unsubscribe(from: topic)
    }

    // MARK: Messages

    public func tokenStream() -> SnapshotStream<MessagingToken?, MessagingError> {
        SnapshotStream { [hub, registrar] continuation in
            let stop = hub.listen(tokens: continuation)
            Task { await registrar.resume() }
            return stop
        }
    }

    public func messageStream() -> EventStream<RemoteMessage, MessagingError> {
        EventStream { [hub, registrar] continuation in
            let stop = hub.listen(messages: continuation)
            Task { await registrar.resume() }
            return stop
        }
    }

    @discardableResult
    public func receive(_ payload: RemotePayload) async throws(MessagingError) -> RemoteMessage? {
        try hub.checkOpen()
        guard let json = try? JSON(parsing: Array(payload.json), options: JSONParsingOptions(loneSurrogates: .replace))
        else {
            throw MessagingError(.invalidArgument, "The payload is not JSON. Pass it on as the platform delivered it.")
        }
        guard let message = RemoteMessage(supabasePayload: json, wasOpened: payload.wasOpened) else { return nil }
        hub.take(message)
        return message
    }

    public func shutDown() async {
        hub.shutDown()
        await registrar.shutDown()
        await realtime.release()
        await transport.shutDown()
    }
}
