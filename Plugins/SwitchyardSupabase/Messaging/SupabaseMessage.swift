import Switchyard

/// A message to be sent by ``SupabaseMessageSender``.
public struct SupabaseMessage: Sendable, Hashable {
    public var target: SupabaseMessageSender.Target
    public var title: String?
    public var body: String?
    /// The app's own data, text only.
    public var data: [String: String]

    public init(
        to target: SupabaseMessageSender.Target, title: String? = nil, body: String? = nil,
        data: [String: String] = [:]
    ) {
        self.target = target
        self.title = title
        self.body = body
        self.data = data
    }
}

extension SupabaseMessage: CustomStringConvertible {
    /// Shows the kind of target, and nothing of the message.
    public var description: String {
        switch target {
        case .device: "SupabaseMessage(to a device)"
        case .topic(let topic): "SupabaseMessage(to \(topic))"
        }
    }
}
