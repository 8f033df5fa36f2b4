import Switchyard
import SwitchyardBytes

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
    /// Shows the kind of target, without the message.
    public var description: String {
        switch target {
        case .device: "SupabaseMessage(to a device)"
        case .topic(let topic): "SupabaseMessage(to \(topic))"
        }
    }
}

/// A message on the wire: `{"id", "title", "body", "data", "sentAt"}`, sent as it is on a channel, and under the name
/// `switchyard` in a platform's payload.
extension RemoteMessage {
    /// - Parameter fallbackID: The service's own ID, for a message without one.
    init?(supabase json: JSON, fallbackID: String? = nil, topic: MessagingTopic? = nil, wasOpened: Bool = false) {
        guard json.object != nil, let id = json["id"]?.string ?? fallbackID, !id.isEmpty else { return nil }
        let named = json["topic"]?.string.flatMap { try? MessagingTopic(validating: $0) }
        let moment = json["sentAt"]?.string.flatMap { RFC3339.parse($0) }
        self.init(
            id: id, title: json["title"]?.string, body: json["body"]?.string,
            // Values other than text keep their JSON.
            data: Dictionary(
                (json["data"]?.object ?? [:]).map { ($0.key, $0.value.string ?? $0.value.text()) },
                uniquingKeysWith: { _, last in last }),
            topic: topic ?? named,
            sentAt: moment.map { Timestamp(clampingSeconds: $0.seconds, nanoseconds: $0.nanoseconds) },
            wasOpened: wasOpened)
    }

    /// - Returns: `nil` for a payload of another provider's server.
    init?(supabasePayload json: JSON, wasOpened: Bool) {
        guard let own = json["switchyard"] ?? json["data"]?["switchyard"] else { return nil }
        // Some services carry only text.
        let message = own.string.flatMap { try? JSON(parsing: Array($0.utf8)) } ?? own
        self.init(supabase: message, wasOpened: wasOpened)
    }
}

/// The channels for messages.
enum MessageChannel: Hashable, Sendable {
    case installation(String)
    case topic(MessagingTopic)

    static let event = "message"

    /// The database's name for it.
    var target: String {
        switch self {
        case .installation(let id): "installation:\(id)"
        case .topic(let topic): "topic:\(topic.rawValue)"
        }
    }

    /// The realtime service's name for it.
    var name: String { "switchyard:\(target)" }

    var topic: MessagingTopic? { if case .topic(let topic) = self { topic } else { nil } }
}
