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

/// A written row. It may lack columns or have changed since, so it only shows where to look.
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
