import SwitchyardBytes

/// What a channel tells its reader, in order.
///
/// Nothing that is missed while a channel is not confirmed is ever delivered later: after each `confirmed`, and after
/// `overflowed`, whoever must not miss anything looks for himself.
enum RealtimeEvent: Hashable, Sendable {
    /// The channel exists. Changes may not come through yet.
    case joined
    /// What happens from now on comes through, as far as the service can tell. May come again.
    case confirmed
    /// The confirmation has not come in time, or was taken back.
    case unconfirmed
    /// The channel is not joined at the moment; it will be again by itself.
    case interrupted
    /// The reader was too slow: what came after the events before this one is lost.
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
    /// Only of what the database sent.
    let id: String?
    /// Whether it was stored before the channel was joined.
    let isReplayed: Bool

    /// The name of what clients send to keep the service awake, which is nobody's news.
    static let probe = "switchyard:probe"
    var isProbe: Bool { event == Self.probe }
}

/// A row that was written. May lack columns, or be another by now: enough to know where to look.
struct RealtimeChange: Hashable, Sendable {
    enum Kind: String, Sendable {
        case insert = "INSERT"
        case update = "UPDATE"
        case delete = "DELETE"
    }

    let kind: Kind?
    let schema: String
    let table: String
    /// Empty is not a row without columns: nothing is known then.
    let record: JSONObject
    /// At least the key, of an update or a deletion.
    let old: JSONObject
    let errors: [String]

    /// Whether columns may be missing for the row's size.
    var isCut: Bool { errors.contains { $0.hasPrefix("Error 413") } }
    /// Whether this binding will never bring rows: no key, or no right to read it.
    var isFruitless: Bool { errors.contains { $0.hasPrefix("Error 400") || $0.hasPrefix("Error 401") } }
}

extension RealtimeEvent {
    /// - Returns: `nil` for what is no event of a channel's reader.
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
