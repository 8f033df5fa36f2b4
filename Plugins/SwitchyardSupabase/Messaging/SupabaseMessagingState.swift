import Switchyard
import SwitchyardBytes

/// The stored state of this installation.
struct SupabaseMessagingState: Sendable, Equatable {
    /// Its name, which is secret; `nil` while it is not registered.
    var installation: String?
    var platformToken: PlatformPushToken?
    var topics: Set<MessagingTopic> = []
    var permission = MessagingPermission.undetermined

    init() {}

    init?(json: JSON) {
        guard json.object != nil else { return nil }
        installation = json["installation"]?.string
        permission = json["permission"]?.string.flatMap(MessagingPermission.init(rawValue:)) ?? .undetermined
        for topic in json["topics"]?.array ?? [] {
            if let topic = topic.string.flatMap({ try? MessagingTopic(validating: $0) }) { topics.insert(topic) }
        }
        if let service = json["service"]?.string.map(PlatformPushToken.Service.init(rawValue:)),
            let token = json["token"]?.string
        {
            platformToken = PlatformPushToken(service, token: Secret(token))
        }
    }

    var json: JSON {
        var object: JSONObject = [
            "permission": .string(permission.rawValue),
            "topics": .array(topics.map(\.rawValue).sorted().map(JSON.string)),
        ]
        object["installation"] = installation.map(JSON.string)
        object["service"] = (platformToken?.service.rawValue).map(JSON.string)
        object["token"] = (platformToken?.token.reveal()).map(JSON.string)
        return .object(object)
    }
}
