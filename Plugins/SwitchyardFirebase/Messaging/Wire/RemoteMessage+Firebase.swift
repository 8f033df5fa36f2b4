import Foundation
import Switchyard
import SwitchyardBytes

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
