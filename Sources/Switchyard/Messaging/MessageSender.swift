/// Sends messages to devices in the project's name, for its servers and tools. What it takes, a service account or a service
/// key, must never be in an app.
///
/// ```swift
/// let sender = try await backend.messageSender()
/// try await sender.send(OutgoingMessage(to: .topic("news"), title: "Hello"))
/// ```
/// What a message can have beyond ``OutgoingMessage`` is up to the provider, whose module has a sender of its own for that.
public protocol MessageSender: Sendable {
    var provider: InfrastructureProvider { get }

    /// - Returns: The server's name for the message. It is not always the ID with which the message arrives.
    /// - Throws: `.unregistered` for a device that is gone, where the provider knows: forget its token. `.rateLimited`, with the
    ///   time to wait if the server says it. `.invalidArgument` for a message that is too large. `.unsupported` for a condition
    ///   where the provider has only topics.
    @discardableResult
    func send(_ message: OutgoingMessage) async throws(MessagingError) -> String
}

extension MessageSender {
    /// Sends many messages, several at a time. Once the caller is cancelled no more are sent.
    ///
    /// - Returns: The outcome for each, in the given order: the server's name for the message, or why it was not sent.
    public func send(_ messages: [OutgoingMessage]) async -> [Result<String, MessagingError>] {
        await messages.outcomes(atOnce: 16) { message throws(MessagingError) in try await send(message) }
    }
}

/// A message that is to be sent by any provider.
public struct OutgoingMessage: Sendable, Hashable {
    public enum Target: Sendable, Hashable {
        case device(MessagingToken)
        case topic(MessagingTopic)
        /// Whoever has subscribed to the right topics. A device gets the message once, however many of them it has.
        case condition(MessagingCondition)
    }

    public var target: Target
    public var title: String?
    public var body: String?
    /// The app's own part.
    public var data: [String: String]

    public init(to target: Target, title: String? = nil, body: String? = nil, data: [String: String] = [:]) {
        self.target = target
        self.title = title
        self.body = body
        self.data = data
    }
}

extension OutgoingMessage: CustomStringConvertible {
    /// Where it goes, and nothing of it.
    public var description: String {
        switch target {
        case .device: "OutgoingMessage(to a device)"
        case .topic(let topic): "OutgoingMessage(to \(topic))"
        case .condition(let condition): "OutgoingMessage(to \(condition))"
        }
    }
}
