import Switchyard
import SwitchyardBytes

/// The events of a channel, in order.
///
/// Whatever is missed while a channel is not confirmed is never delivered later: after each `confirmed` and `overflowed`, a
/// reader that must not miss anything has to fetch the current state.
enum RealtimeEvent: Hashable, Sendable {
    /// The channel is joined, but changes may not arrive yet.
    case joined
    /// Everything that happens from now on arrives, as far as the service knows. May be repeated.
    case confirmed
    /// The confirmation has not arrived in time, or was withdrawn.
    case unconfirmed
    /// The channel is not joined at the moment, and will be joined again automatically.
    case interrupted
    /// The reader was too slow, so events after the previous one are lost.
    case overflowed
    case broadcast(RealtimeBroadcast)
    case change(RealtimeChange)
}

struct RealtimeBroadcast: Hashable, Sendable {
    enum Content: Hashable, Sendable {
        case json(JSON)
        case bytes([UInt8])
    }

    let event: String
    let content: Content
    /// Set only for broadcasts of the database.
    let id: String?
    /// Whether it was stored before the channel was joined.
    let isReplayed: Bool

    /// The event that clients send to keep the service awake. It is not delivered.
    static let probe = "switchyard:probe"
    var isProbe: Bool { event == Self.probe }
}

/// A written row. It may lack columns or have changed since, so it only shows what to read.
struct RealtimeChange: Hashable, Sendable {
    enum Kind: String, Sendable {
        case insert = "INSERT"
        case update = "UPDATE"
        case delete = "DELETE"
    }

    let kind: Kind?
    let schema: String
    let table: String
    /// Empty if the row is unknown, not if it has no columns.
    let record: JSONObject
    /// At least the key, for updates and deletions.
    let old: JSONObject
    let errors: [String]

    /// Whether columns may be missing because of the row's size.
    var isCut: Bool { errors.contains { $0.hasPrefix("Error 413") } }
    /// Whether this binding will never deliver rows, because the table has no key or may not be read.
    var isFruitless: Bool { errors.contains { $0.hasPrefix("Error 400") || $0.hasPrefix("Error 401") } }
}

extension RealtimeEvent {
    /// - Returns: `nil` for any other message.
    init?(_ message: RealtimeMessage) {
        switch message.event {
        case "broadcast":
            guard let event = message.payload["event"]?.string else { return nil }
            self = .broadcast(
                RealtimeBroadcast(
                    event: event,
                    content: message.bytes.map { .bytes($0) } ?? .json(message.payload["payload"] ?? [:]),
                    id: message.payload["meta"]?["id"]?.string,
                    isReplayed: message.payload["meta"]?["replayed"] == true))
        case "postgres_changes":
            guard let data = message.payload["data"] else { return nil }
            self = .change(
                RealtimeChange(
                    kind: data["type"]?.string.flatMap { RealtimeChange.Kind(rawValue: $0) },
                    schema: data["schema"]?.string ?? "", table: data["table"]?.string ?? "",
                    record: data["record"]?.object ?? [:], old: data["old_record"]?.object ?? [:],
                    errors: (data["errors"]?.array ?? []).compactMap(\.string)))
        default: return nil
        }
    }
}

/// Why a channel has ended, or a message was refused.
struct RealtimeFailure: Error, Hashable, Sendable {
    enum Kind: Hashable, Sendable {
        /// The server accepts neither the token nor a new one.
        case unauthenticated
        /// A policy does not admit this user to the channel.
        case unauthorized
        /// The channel cannot be joined with these options.
        case refused
        /// There are too many channels on this socket: leave one first.
        case tooManyChannels
        /// A temporary failure: a channel is joined again automatically, and a message may be sent again.
        case unavailable
        /// No answer arrived: the message may have been accepted, or dropped by a policy.
        case unanswered
        case tooLarge
        /// The topic is already joined with other options.
        case topicInUse
        /// The channel was left, or the socket closed.
        case closed
    }

    let kind: Kind
    /// The server's code, without its text.
    let reason: String
    /// Why the project cannot use the session, if that is known, and the provider that issued it.
    var problem: SupabaseTokenProblem?
    var issuer: InfrastructureProvider?

    /// Whether the server refuses the tables to listen to, and not the channel.
    var isAboutBindings: Bool { reason.includes("Unable to subscribe to changes with given parameters") }

    init(_ kind: Kind, _ reason: String = "") {
        self.kind = kind
        self.reason = reason
    }

    /// There is no token for the current user, and will be none.
    init(_ failure: SupabaseTokens.Failure) {
        self.init(.unauthenticated, "the session is over")
        guard case .problem(let problem, let issuer) = failure else { return }
        (self.problem, self.issuer) = (problem, issuer)
    }

    /// The service does not explain why a policy refused; for another issuer's session, this guesses the cause.
    func diagnosed(token: String?, issuer: InfrastructureProvider?) -> RealtimeFailure {
        guard kind == .unauthorized, let token, let issuer, issuer != .supabase,
            !SupabaseTokenProblem.hasUUID(Secret(token))
        else { return self }
        var failure = self
        (failure.problem, failure.issuer) = (.subjectIsNoUUID, issuer)
        return failure
    }
}

/// How to react when the server refuses a join, a channel or a socket.
enum RealtimeRemedy: Hashable, Sendable {
    case never(RealtimeFailure.Kind)
    /// Try again with a new token.
    case newToken
    case later
    /// Much later: the project is at a limit.
    case muchLater
    /// At once, without a replay.
    case withoutReplay

    /// Maps the service's codes. Unknown ones count as temporary.
    init(_ reason: String) {
        let name = reason.prefix { $0 != ":" && $0 != " " }
        switch name {
        case "InvalidJWTToken", "MalformedJWT", "JwtSignatureError", "JwtSignerError": self = .newToken
        case "Unauthorized": self = .never(.unauthorized)
        case "PrivateOnly", "TopicNameRequired", "TenantNotFound", "RealtimeDisabledForTenant": self = .never(.refused)
        case "ChannelRateLimitReached": self = .never(.tooManyChannels)
        case "ConnectionRateLimitReached", "ClientJoinRateLimitReached": self = .muchLater
        default: self = RealtimeRemedy(text: reason)
        }
    }

    private init(text: String) {
        let permanent = [
            "You no longer have permission", "You do not have permissions to read from this Channel topic",
        ]
        let bindings = [
            "Unable to subscribe to changes with given parameters", "Error parsing `filter`", "Error parsing `select`",
            "No subscription params provided", "Column selection is not supported",
        ]
        let limits = [
            "Too many messages", "Too many presence messages", "Client presence rate limit", "Too many joins",
        ]
        let tokens = [
            "Token has expired", "Fields `role` and `exp`", "The token provided", "Failed to validate JWT",
            ":signature_error",
        ]
        let replays = ["UnableToReplayMessages", "Replay params are not valid", "Replay is not allowed"]
        if replays.contains(where: { text.includes($0) }) {
            self = .withoutReplay
        } else if permanent.contains(where: { text.includes($0) }) {
            self = .never(.unauthorized)
        } else if bindings.contains(where: { text.includes($0) }) {
            self = .never(.refused)
        } else if limits.contains(where: { text.includes($0) }) {
            self = .muchLater
        } else if tokens.contains(where: { text.includes($0) }) {
            self = .newToken
        } else {
            self = .later
        }
    }
}
