import Foundation
public import Switchyard
import SwitchyardBytes
import SwitchyardProviderHTTP
package import SwitchyardWire

/// Sends messages, for servers: through the realtime service, with the project's service key.
///
/// ```swift
/// let sender = try SupabaseMessageSender(configuration)
/// try await sender.send(title: "Hello", data: ["order": "42"], to: .topic("news"))
/// ```
/// A message reaches those who listen at that moment; nothing is stored. In the database, `switchyard.send_message` does the same
/// as part of a transaction.
public final class SupabaseMessageSender: Sendable {
    public enum Target: Sendable, Hashable {
        case device(MessagingToken)
        case topic(MessagingTopic)
    }

    private let address: String
    private let key: Secret
    private let transport: any Transport
    private let now: @Sendable () -> Timestamp
    private let calls: CallPolicy

    /// - Parameters:
    ///   - configuration: Names the project and its service key.
    ///   - observer: Observes each call, with the ID of the request that it was made for.
    /// - Throws: `.invalidConfiguration` without a service key: users may listen, but not send.
    public convenience init(
        _ configuration: SupabaseConfiguration, observer: any InfrastructureObserver = SilentObserver()
    ) throws(InfrastructureError) {
        try self.init(configuration, transport: PlatformTransport.make(), observer: observer)
    }

    package convenience init(
        _ configuration: SupabaseConfiguration, transport: any Transport,
        now: @escaping @Sendable () -> Timestamp = { Timestamp(Date()) },
        observer: any InfrastructureObserver = SilentObserver()
    ) throws(InfrastructureError) {
        try SupabaseModule(configuration).validate()
        guard let key = configuration.serviceKey else {
            throw InfrastructureError(
                .invalidConfiguration,
                "Sending messages requires a key. Set serviceKey in Supabase's configuration; never in an app.")
        }
        self.init(try SupabaseProject(configuration), key, transport: transport, now: now, observer: observer)
    }

    /// - Parameter key: The service key.
    init(
        _ project: SupabaseProject, _ key: Secret, transport: any Transport, now: @escaping @Sendable () -> Timestamp,
        observer: any InfrastructureObserver
    ) {
        address = project.realtime
        self.key = key
        self.transport = transport
        self.now = now
        calls = CallPolicy(.messaging, { .supabase }, observer: observer, hasDeadline: true)
    }

    /// - Returns: The message's name, which identifies duplicates.
    /// - Throws: `.rateLimited`, with the time to wait if the server says it; `.invalidArgument` if the message is too large.
    @discardableResult
    public func send(
        title: String? = nil, body: String? = nil, data: [String: String] = [:], to target: Target
    ) async throws(MessagingError) -> RemoteMessage.ID {
        try await send(SupabaseMessage(to: target, title: title, body: body, data: data))
    }

    /// Sends many messages, several at a time.
    ///
    /// - Returns: The outcome for each, in the given order: the message's name, or why it was not sent.
    public func send(_ messages: [SupabaseMessage]) async -> [Result<RemoteMessage.ID, MessagingError>] {
        // The service accepts several messages per call, but returns only one answer for all.
        await messages.outcomes(atOnce: 16) { message throws(MessagingError) in try await self.send(message) }
    }

    /// - Returns: The message's name, which identifies duplicates.
    /// - Throws: As ``send(title:body:data:to:)``.
    @discardableResult
    public func send(_ message: SupabaseMessage) async throws(MessagingError) -> RemoteMessage.ID {
        let id = RandomID.make()
        let moment = now()
        var payload: JSONObject = [
            "id": .string(id),
            "sentAt": .string(
                RFC3339.format(
                    RFC3339.Moment(seconds: moment.seconds, nanoseconds: moment.nanoseconds), fraction: .digits(6))),
        ]
        payload["title"] = message.title.map(JSON.string)
        payload["body"] = message.body.map(JSON.string)
        if !message.data.isEmpty {
            payload["data"] = .object(
                JSONObject(message.data.sorted { $0.key < $1.key }.map { (key: $0.key, value: .string($0.value)) }))
        }
        let channel: MessageChannel =
            switch message.target {
            case .device(let token): .installation(token.value.reveal())
            case .topic(let topic): .topic(topic)
            }
        let broadcast: JSON = [
            "topic": .string(channel.name), "event": .string(MessageChannel.event), "payload": .object(payload),
            "private": true,
        ]
        // Receivers recognize a repetition by its ID.
        var request = HTTPRequest(
            .post, "\(address)/api/broadcast", body: JSON.object(["messages": [broadcast]]).bytes(), isIdempotent: true)
        request.headers["Content-Type"] = "application/json"
        SupabaseTokens.RequestCredentials(key: key, user: nil).sign(&request.headers)
        try await calls("send message") { [request] () throws(MessagingError) in try await send(request) }
        return id
    }

    private func send(_ request: HTTPRequest) async throws(MessagingError) {
        let response: HTTPResponse
        do throws(TransportError) {
            response = try await transport.send(request, within: .seconds(30))
        } catch {
            throw MessagingError(error)
        }
        guard response.isSuccess else { throw MessagingError(response, now: now()) }
    }

    public func shutDown() async { await transport.shutDown() }
}

/// The sender behind the portable interface.
struct PortableSupabaseSender: MessageSender {
    let provider: InfrastructureProvider = .supabase
    let base: SupabaseMessageSender

    func send(_ message: OutgoingMessage) async throws(MessagingError) -> String {
        let target: SupabaseMessageSender.Target
        switch message.target {
        case .device(let token): target = .device(token)
        case .topic(let topic): target = .topic(topic)
        case .condition:
            throw .unsupported(
                "messages to a condition", by: provider,
                instead:
                    "Supabase does not record which devices subscribe to a topic. Send to a topic for each combination."
            )
        }
        return try await base.send(
            SupabaseMessage(to: target, title: message.title, body: message.body, data: message.data))
    }
}
