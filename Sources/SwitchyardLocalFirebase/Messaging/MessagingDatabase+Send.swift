import Switchyard
import SwitchyardBytes
import SwitchyardServerKit

/// Messages: validated like the vendor does, and stored where a test can read what each device would have received.
extension MessagingDatabase {
    private static let maximumBytes = 4096
    private static let maximumTopicBytes = 2048

    mutating func send(_ call: MessagingCall) throws(MessagingFailure) -> JSON {
        try call.checkIsServer()
        guard let message = call.body["message"]?.object else { throw .invalid("There is no message.") }
        let targets = ["fid", "token", "topic", "condition"].filter { message[$0] != nil }
        guard targets.count == 1, let target = message[targets[0]]?.string, !target.isEmpty else {
            throw .invalid("A message has exactly one of fid, token, topic and condition.")
        }
        try MessagingDatabase.check(message["data"])
        let isToTopic = targets[0] == "topic" || targets[0] == "condition"
        guard JSON.object(message).bytes().count <= (isToTopic ? Self.maximumTopicBytes : Self.maximumBytes) else {
            throw .invalid("The message is too large.")
        }
        let receivers: [String]
        var topic: String?
        switch targets[0] {
        case "topic":
            guard !target.hasPrefix("/topics/") else { throw .invalid("A topic is given without its prefix.") }
            topic = try MessagingDatabase.topic(target)
            receivers = topics[target, default: []].sorted()
        case "condition":
            let condition = try TopicCondition(target)
            receivers = registrations.keys.filter { name in
                condition.holds { topics[$0]?.contains(name) ?? false }
            }.sorted()
        default:
            guard registrations[target] != nil else { throw .unregistered }
            receivers = [target]
        }
        messageCount += 1
        let id = "0:\(call.now.microseconds)%\(messageCount)"
        if call.body["validate_only"]?.bool != true, call.body["validateOnly"]?.bool != true {
            for name in receivers {
                guard let registration = registrations[name] else { continue }
                let payload = DeliveredMessage(message, id: id, topic: topic, call).payload(for: registration)
                deliveries.append(Delivery(registration: name, payload: payload.text()))
            }
            news = MessagingDatabase.message(message, to: target, receivers, at: call.now)
        }
        return ["name": .string("projects/\(call.project)/messages/\(id)")]
    }

    private static func message(
        _ message: JSONObject, to target: String, _ receivers: [String], at now: Timestamp
    ) -> SentMessages.Message {
        var sent = SentMessages.Message(
            at: now.microseconds / 1000, kind: .push, to: target,
            subject: message["notification"]?["title"]?.string ?? "",
            text: message["notification"]?["body"]?.string ?? "")
        sent.receivers = receivers
        sent.data = message["data"]?.text()
        return sent
    }

    private static func check(_ data: JSON?) throws(MessagingFailure) {
        guard let data else { return }
        guard case .object(let entries) = data else { throw .invalid("The data of a message is an object.") }
        for entry in entries {
            guard entry.value.string != nil else { throw .invalid("The data of a message is text by text.") }
            let isReserved =
                ["from", "message_type", "gcm"].contains(entry.key) || entry.key.hasPrefix("google")
                || entry.key.hasPrefix("gcm.notification.")
            guard !isReserved else { throw .invalid("“\(entry.key)” is reserved.") }
        }
    }
}

/// A message in the format in which a platform passes it to the app.
private struct DeliveredMessage {
    let message: JSONObject
    let id: String
    let topic: String?
    let sender: String

    init(_ message: JSONObject, id: String, topic: String?, _ call: MessagingCall) {
        self.message = message
        self.id = id
        self.topic = topic
        sender = "12345"
    }

    private var from: JSON { .string(topic.map { "/topics/\($0)" } ?? sender) }

    func payload(for registration: MessagingDatabase.Registration) -> JSON {
        switch registration.platform {
        case .ios: apple(registration.installation)
        case .web: web
        }
    }

    /// Values for one platform override those for all platforms.
    private func merged(_ base: JSON?, _ over: JSON?) -> JSONObject {
        var merged = base?.object ?? JSONObject()
        for member in over?.object?.members ?? [] { merged[member.key] = member.value }
        return merged
    }

    private func apple(_ installation: String) -> JSON {
        let own = message["apns"]?["payload"]
        var payload = own?.object ?? JSONObject()
        var alert = JSONObject()
        for name in ["title", "body"] { alert[name] = message["notification"]?[name] }
        var aps = own?["aps"]?.object ?? JSONObject()
        if aps["alert"] == nil, !alert.members.isEmpty { aps["alert"] = .object(alert) }
        payload["aps"] = .object(aps)
        for entry in message["data"]?.object?.members ?? [] { payload[entry.key] = entry.value }
        payload["gcm.message_id"] = .string(id)
        payload["google.c.sender.id"] = .string(sender)
        payload["google.c.fid"] = .string(installation)
        payload["google.c.a.e"] = "1"
        payload["google.c.a.m_l"] =
            message["apns"]?["fcm_options"]?["analytics_label"] ?? message["fcm_options"]?["analytics_label"]
        if let image = message["apns"]?["fcm_options"]?["image"] ?? message["notification"]?["image"] {
            payload["fcm_options"] = ["image": image]
        }
        if topic != nil { payload["from"] = from }
        return .object(payload)
    }

    private var web: JSON {
        var payload: JSONObject = ["from": from, "fcmMessageId": .string(id), "productId": 123]
        payload["collapse_key"] = "do_not_collapse"
        let notification = merged(message["notification"], message["webpush"]?["notification"])
        if !notification.members.isEmpty { payload["notification"] = .object(notification) }
        let data = merged(message["data"], message["webpush"]?["data"])
        if !data.members.isEmpty { payload["data"] = .object(data) }
        var options = JSONObject()
        options["link"] = message["webpush"]?["fcm_options"]?["link"]
        options["analytics_label"] = message["fcm_options"]?["analytics_label"]
        if !options.members.isEmpty { payload["fcmOptions"] = .object(options) }
        return .object(payload)
    }
}
