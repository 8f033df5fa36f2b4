import SwitchyardBytes

/// The options of a join. Malformed values are ignored, as at the vendor's.
struct RealtimeJoin: Sendable {
    struct Replay: Sendable {
        /// In milliseconds since 1970; `nil` if it is missing, which is an error.
        let since: Int64?
        let limit: Int
    }

    let acknowledges: Bool
    let hearsItself: Bool
    /// Whether to report when messages of the database are received.
    let awaitsDatabase: Bool
    let replay: Replay?
    let hasPresence: Bool
    let presenceKey: String
    let isPrivate: Bool
    let bindings: [ChangeBinding]
    let token: String?

    init(_ payload: JSON) {
        let config = payload["config"]
        let broadcast = config?["broadcast"]
        acknowledges = Self.flag(broadcast?["ack"])
        hearsItself = Self.flag(broadcast?["self"])
        awaitsDatabase = Self.flag(broadcast?["replication_ready"])
        replay = broadcast?["replay"]?.object.map { replay in
            Replay(since: replay["since"]?.int64, limit: min(max(replay["limit"]?.int ?? 25, 1), 25))
        }
        hasPresence = Self.flag(config?["presence"]?["enabled"])
        let key = config?["presence"]?["key"]?.string ?? ""
        presenceKey = key.isEmpty ? RandomID.uuid() : key
        isPrivate = Self.flag(config?["private"])
        bindings = (config?["postgres_changes"]?.array ?? []).compactMap { $0.object.map { ChangeBinding($0) } }
        token = (payload["access_token"] ?? payload["user_token"])?.string
    }

    private static func flag(_ json: JSON?) -> Bool { json?.bool ?? (json?.string == "true") }
}
