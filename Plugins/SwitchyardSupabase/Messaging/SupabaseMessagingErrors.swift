import Switchyard
import SwitchyardBytes
import SwitchyardWire

/// Maps the failures of registering, listening and sending to the portable codes.
extension MessagingError {
    init(_ error: StorageError) {
        let code: Code =
            switch error.code {
            case .cancelled: .cancelled
            case .shutDown: .shutDown
            case .unauthenticated: .unauthenticated
            case .unauthorized: .unauthorized
            case .deadlineExceeded: .deadlineExceeded
            case .resourceExhausted: .rateLimited
            case .unavailable, .aborted, .internal: .unavailable
            case .unsupported: .unsupported
            case .invalidArgument: .invalidArgument
            case .failedPrecondition: .unsupported
            default: .unknown
            }
        self.init(
            code, error.message, isRetryable: error.isRetryable, retryAfter: error.retryAfter,
            underlying: error.underlying ?? error)
    }

    init(_ failure: RealtimeFailure) {
        let (code, message): (Code, String) =
            switch failure.kind {
            case .unauthenticated:
                (
                    .unauthenticated,
                    failure.problem?.message(failure.issuer)
                        ?? "The realtime service does not accept the session's token."
                )
            case .unauthorized where failure.problem != nil:
                (
                    .unauthorized,
                    "The project's policies do not let this session listen. \(failure.problem!.message(failure.issuer))"
                )
            case .unauthorized:
                (
                    .unauthorized,
                    "The project's policies do not let this session listen. If they allow no one, the policy "
                        + "switchyard_messages on realtime.messages is missing; “select * from switchyard.missing();” has "
                        + "the statement that adds it."
                )
            case .refused where failure.reason.hasPrefix("RealtimeDisabledForTenant"):
                (
                    .unsupported,
                    "Realtime is switched off for the project. Switch it on in the dashboard: Project Settings, Realtime."
                )
            case .refused
            where failure.reason.hasPrefix("TenantNotFound") || failure.reason.hasPrefix("Tenant not found"):
                (.unsupported, "The realtime service does not know the project. Check the url.")
            case .refused: (.unsupported, "The project does not allow this channel. See Project Settings, Realtime.")
            case .tooManyChannels: (.rateLimited, "There are too many channels. Unsubscribe from a topic first.")
            case .closed: (.shutDown, "The client was shut down.")
            case .tooLarge: (.invalidArgument, "The message is too large.")
            case .topicInUse, .unavailable, .unanswered: (.unavailable, "The realtime service cannot be reached.")
            }
        self.init(code, message, isRetryable: code == .unavailable, underlying: failure.problem ?? failure)
    }

    /// From an answer to a server's send call.
    init(_ response: HTTPResponse, now: Timestamp) {
        let (code, message): (Code, String) =
            switch response.status {
            case 401:
                (
                    .unauthenticated,
                    "The project does not accept the key for sending. Set serviceKey to the secret key (sb_secret_…) or the "
                        + "service_role key of this very project: Project Settings, API Keys."
                )
            case 403:
                (
                    .unauthorized,
                    "The project does not let this key send. Set serviceKey to the secret key (sb_secret_…) or the "
                        + "service_role key: Project Settings, API Keys."
                )
            case 422: (.invalidArgument, "The message is too large or malformed. Send less data.")
            case 429: (.rateLimited, "The project sends too many messages. Wait a moment.")
            case 500...: (.unavailable, "The server failed to send the message. Try again.")
            default:
                (
                    Code(rawValue: "http\(response.status)"),
                    "The server refused to send the message (HTTP \(response.status)). Check that the url is a Supabase "
                        + "project's."
                )
            }
        self.init(
            code, message,
            retryAfter: response.headers["Retry-After"].flatMap { RetryAfter.delay($0, now: now.seconds) })
    }
}

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
