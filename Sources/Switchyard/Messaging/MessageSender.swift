/// Sends messages to devices on behalf of the project, for its servers and tools. Never put the service account or service
/// key that it needs in an app.
///
/// ```swift
/// let sender = try await backend.messageSender()
/// try await sender.send(OutgoingMessage(to: .topic("news"), title: "Hello"))
/// ```
/// For message features beyond ``OutgoingMessage``, use the sender in the provider's own module.
public protocol MessageSender: Sendable {
    var provider: InfrastructureProvider { get }

    /// - Returns: The server's name for the message. It is not always the ID with which the message arrives.
    /// - Throws: `.unregistered` for a device that is gone, if the provider knows: delete its token. `.rateLimited`, with the
    ///   time to wait if the server gives it. `.invalidArgument` for a message that is too large. `.unsupported` for a
    ///   condition if the provider has only topics.
    @discardableResult
    func send(_ message: OutgoingMessage) async throws(MessagingError) -> String
}

extension MessageSender {
    /// Sends many messages, several at a time. After the caller is cancelled, no more are sent.
    ///
    /// - Returns: The outcome for each, in the given order: the server's name for the message, or why it was not sent.
    public func send(_ messages: [OutgoingMessage]) async -> [Result<String, MessagingError>] {
        await messages.outcomes(atOnce: 16) { message throws(MessagingError) in try await send(message) }
    }
}

/// A message that any provider can send.
public struct OutgoingMessage: Sendable, Hashable {
    public enum Target: Sendable, Hashable {
        case device(MessagingToken)
        case topic(MessagingTopic)
        /// Devices whose topics meet the condition. A device gets the message once, however many of the topics it has.
        case condition(MessagingCondition)
    }

    public var target: Target
    public var title: String?
    public var body: String?
    /// The app's own data.
    public var data: [String: String]

    public init(to target: Target, title: String? = nil, body: String? = nil, data: [String: String] = [:]) {
        self.target = target
        self.title = title
        self.body = body
        self.data = data
    }
}

extension OutgoingMessage: CustomStringConvertible {
    /// The target only, without the contents.
    public var description: String {
        switch target {
        case .device: "OutgoingMessage(to a device)"
        case .topic(let topic): "OutgoingMessage(to \(topic))"
        case .condition(let condition): "OutgoingMessage(to \(condition))"
        }
    }
}
