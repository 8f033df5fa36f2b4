public import Foundation
public import Switchyard
import SwitchyardBytes

/// A message to be sent by ``FirebaseMessageSender``.
public struct FirebaseMessage: Sendable, Hashable {
    public enum Target: Sendable, Hashable {
        case device(MessagingToken)
        case topic(MessagingTopic)
        /// Such as `'news' in topics && ('sport' in topics || 'weather' in topics)`, with at most five topics.
        case condition(String)
    }

    public var target: Target
    public var title: String?
    public var body: String?
    public var imageURL: URL?
    /// The app's own part: text only.
    public var data: [String: String]
    /// Wakes the device at once instead of when it suits it.
    public var isUrgent: Bool
    /// How long the message is worth delivering; four weeks by default, and at most.
    public var lifetime: Duration?
    /// Of several undelivered messages with the same key only the newest is delivered.
    public var collapseKey: String?
    public var analyticsLabel: String?

    public init(
        to target: Target, title: String? = nil, body: String? = nil, imageURL: URL? = nil,
        data: [String: String] = [:], isUrgent: Bool = true, lifetime: Duration? = nil, collapseKey: String? = nil,
        analyticsLabel: String? = nil
    ) {
        self.target = target
        self.title = title
        self.body = body
        self.imageURL = imageURL
        self.data = data
        self.isUrgent = isUrgent
        self.lifetime = lifetime
        self.collapseKey = collapseKey
        self.analyticsLabel = analyticsLabel
    }

    /// What any provider could send.
    public init(_ message: OutgoingMessage) {
        let target: Target =
            switch message.target {
            case .device(let token): .device(token)
            case .topic(let topic): .topic(topic)
            case .condition(let condition): .condition(condition.firebase)
            }
        self.init(to: target, title: message.title, body: message.body, data: message.data)
    }

    /// - Throws: `.invalidArgument` for what the server would refuse: names of its own in the data, and too much of it.
    func json(at now: Timestamp) throws(MessagingError) -> JSONObject {
        var message: JSONObject = [:]
        switch target {
        case .device(let token):
            let text = token.value.reveal()
            message[FirebaseInstallation.isID(text) ? "fid" : "token"] = .string(text)
        case .topic(let topic): message["topic"] = .string(topic.rawValue)
        case .condition(let text): message["condition"] = .string(text)
        }
        var notification: JSONObject = [:]
        notification["title"] = title.map(JSON.string)
        notification["body"] = body.map(JSON.string)
        notification["image"] = (imageURL?.absoluteString).map(JSON.string)
        if !notification.isEmpty { message["notification"] = .object(notification) }
        if !data.isEmpty { message["data"] = .object(try ownPart()) }
        message["android"] = .object(android)
        message["apns"] = ["headers": .object(appleHeaders(now))]
        if let seconds { message["webpush"] = ["headers": ["TTL": .string("\(seconds)")]] }
        message["fcm_options"] = analyticsLabel.map { ["analytics_label": .string($0)] }
        return message
    }

    private func ownPart() throws(MessagingError) -> JSONObject {
        var object: JSONObject = [:]
        for (key, value) in data.sorted(by: { $0.key < $1.key }) {
            guard !["from", "message_type", "gcm", "collapse_key"].contains(key), !key.hasPrefix("google"),
                !key.hasPrefix("gcm.")
            else {
                throw MessagingError(
                    .invalidArgument,
                    "A message's data may not use the name “\(key)”, which is Firebase's own. Rename it.")
            }
            object[key] = .string(value)
        }
        let size = data.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count }
        let limit = if case .device = target { 4096 } else { 2048 }
        guard size <= limit else {
            throw MessagingError(.invalidArgument, "A message carries \(limit) bytes of data at most, not \(size).")
        }
        return object
    }

    /// How long it is worth delivering, at most the four weeks that the service keeps anything.
    private var seconds: Int64? { lifetime.map { min(max($0.components.seconds, 0), 28 * 86_400) } }

    private var android: JSONObject {
        var android: JSONObject = ["priority": isUrgent ? "HIGH" : "NORMAL"]
        android["ttl"] = seconds.map { .string("\($0)s") }
        android["collapse_key"] = collapseKey.map(JSON.string)
        return android
    }

    /// Apple wants a moment instead of a span; zero is its “now or never”.
    private func appleHeaders(_ now: Timestamp) -> JSONObject {
        var headers: JSONObject = ["apns-priority": isUrgent ? "10" : "5"]
        headers["apns-collapse-id"] = collapseKey.map(JSON.string)
        if let seconds { headers["apns-expiration"] = .string(seconds == 0 ? "0" : "\(now.seconds + seconds)") }
        return headers
    }
}

extension FirebaseMessage: CustomStringConvertible {
    /// Where it goes, and nothing of it.
    public var description: String {
        switch target {
        case .device: "FirebaseMessage(to a device)"
        case .topic(let topic): "FirebaseMessage(to \(topic))"
        case .condition: "FirebaseMessage(to a condition)"
        }
    }
}

extension MessagingCondition {
    /// As the service reads it.
    var firebase: String {
        switch self {
        case .topic(let topic): "'\(topic)' in topics"
        case .both(let left, let right): "(\(left.firebase) && \(right.firebase))"
        case .either(let left, let right): "(\(left.firebase) || \(right.firebase))"
        case .not(let condition): "!(\(condition.firebase))"
        }
    }
}
