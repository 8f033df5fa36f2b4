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
    /// The app's own data, text only.
    public var data: [String: String]
    /// Whether to wake the device at once, instead of at a convenient time.
    public var isUrgent: Bool
    /// How long to keep an undelivered message: four weeks by default and at most.
    public var lifetime: Duration?
    /// Of several undelivered messages with the same key, only the newest is delivered.
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

    /// From a portable message.
    public init(_ message: OutgoingMessage) {
        let target: Target =
            switch message.target {
            case .device(let token): .device(token)
            case .topic(let topic): .topic(topic)
            case .condition(let condition): .condition(condition.firebase)
            }
        self.init(to: target, title: message.title, body: message.body, data: message.data)
    }

    /// - Throws: `.invalidArgument` for what the server would refuse: reserved names in the data, or too much data.
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

    /// The lifetime in seconds, at most the service's limit of four weeks.
    private var seconds: Int64? { lifetime.map { min(max($0.components.seconds, 0), 28 * 86_400) } }

    private var android: JSONObject {
        var android: JSONObject = ["priority": isUrgent ? "HIGH" : "NORMAL"]
        android["ttl"] = seconds.map { .string("\($0)s") }
        android["collapse_key"] = collapseKey.map(JSON.string)
        return android
    }

    /// APNs expects a point in time instead of a duration; zero means “now or never”.
    private func appleHeaders(_ now: Timestamp) -> JSONObject {
        var headers: JSONObject = ["apns-priority": isUrgent ? "10" : "5"]
        headers["apns-collapse-id"] = collapseKey.map(JSON.string)
        if let seconds { headers["apns-expiration"] = .string(seconds == 0 ? "0" : "\(now.seconds + seconds)") }
        return headers
    }
}

extension FirebaseMessage: CustomStringConvertible {
    /// Shows the kind of target, and nothing of the message.
    public var description: String {
        switch target {
        case .device: "FirebaseMessage(to a device)"
        case .topic(let topic): "FirebaseMessage(to \(topic))"
        case .condition: "FirebaseMessage(to a condition)"
        }
    }
}

extension MessagingCondition {
    /// The condition in the service's syntax.
    var firebase: String {
        switch self {
        case .topic(let topic): "'\(topic)' in topics"
        case .both(let left, let right): "(\(left.firebase) && \(right.firebase))"
        case .either(let left, let right): "(\(left.firebase) || \(right.firebase))"
        case .not(let condition): "!(\(condition.firebase))"
        }
    }
}

extension RemoteMessage {
    /// From a platform's payload: Apple's dictionary, a browser's, or Android's map.
    ///
    /// - Returns: `nil` if the message did not come through Firebase.
    init?(firebase json: JSON, wasOpened: Bool) {
        guard let payload = json.object else { return nil }
        if let id = payload["fcmMessageId"]?.string {
            let notification = payload["notification"]
            self.init(
                id: id, title: notification?["title"]?.string, body: notification?["body"]?.string,
                data: RemoteMessage.texts(payload["data"]?.object ?? [:]), topic: RemoteMessage.topic(payload["from"]),
                wasOpened: wasOpened)
            return
        }
        guard let id = (payload["gcm.message_id"] ?? payload["google.message_id"])?.string else { return nil }
        let alert = payload["aps"]?["alert"]
        let own = payload.filter { member in
            !["aps", "from", "collapse_key", "fcm_options", "message_type"].contains(member.key)
                && !member.key.hasPrefix("gcm.") && !member.key.hasPrefix("google.")
        }
        self.init(
            id: id,
            title: alert?["title"]?.string ?? payload["gcm.notification.title"]?.string,
            // The alert may be a plain string.
            body: alert?.string ?? alert?["body"]?.string ?? payload["gcm.notification.body"]?.string,
            data: RemoteMessage.texts(JSONObject(own.map { (key: $0.key, value: $0.value) })),
            topic: RemoteMessage.topic(payload["from"]), sentAt: RemoteMessage.time(payload), wasOpened: wasOpened)
    }

    private static func topic(_ from: JSON?) -> MessagingTopic? {
        guard let text = from?.string, text.hasPrefix("/topics/") else { return nil }
        return try? MessagingTopic(validating: text)
    }

    /// The seconds of a campaign, or Android's milliseconds.
    private static func time(_ payload: JSONObject) -> Timestamp? {
        func number(_ name: String) -> Int64? {
            payload[name].flatMap { $0.int64 ?? $0.string.flatMap { Int64($0) } }
        }
        if let milliseconds = number("google.sent_time"), abs(milliseconds) < 1 << 50 {
            return Timestamp(microseconds: milliseconds * 1000)
        }
        return number("google.c.a.ts").flatMap { abs($0) < 1 << 40 ? Timestamp(microseconds: $0 * 1_000_000) : nil }
    }

    /// Firebase sends text only; any other value came another way and keeps its JSON.
    private static func texts(_ object: JSONObject) -> [String: String] {
        Dictionary(object.map { ($0.key, $0.value.string ?? $0.value.text()) }, uniquingKeysWith: { _, last in last })
    }
}
