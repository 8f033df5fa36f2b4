import SwitchyardBytes

/// What a channel is joined for.
struct RealtimeConfiguration: Hashable, Sendable {
    /// Rows of a table to be told of.
    struct Binding: Hashable, Sendable {
        var schema: String
        var table: String
        /// `column=operator.value`, several joined by commas. A row that leaves the filter is not told of.
        var filter: String?

        init(schema: String = "public", table: String, filter: String? = nil) {
            self.schema = schema
            self.table = table
            self.filter = filter
        }

        /// Keys without a value are left out: a null makes the whole binding fail.
        fileprivate var json: JSON {
            var object: JSONObject = ["event": "*", "schema": .string(schema), "table": .string(table)]
            if let filter { object["filter"] = .string(filter) }
            return .object(object)
        }
    }

    var changes: [Binding] = []
    /// Whether policies decide who may listen and send. Private and public channels of one name do not hear each other.
    var isPrivate = false
    /// Whether this client hears its own broadcasts.
    var hearsItself = false
    /// Whether each broadcast that is sent is answered.
    var acknowledges = false
    /// Whether to be told once broadcasts of the database itself come through.
    var awaitsDatabase = false
    /// Whether what the database has sent in a gap is told again once the channel is joined anew: the newest of it, some of
    /// it for the second time. A private channel's alone.
    var replays = false

    /// What must have been said before everything comes through that happens from then on.
    var confirmations: Set<RealtimeConfirmation> {
        var all: Set<RealtimeConfirmation> = []
        if !changes.isEmpty { all.insert(.changes) }
        if awaitsDatabase { all.insert(.broadcasts) }
        return all
    }

    /// - Parameter since: From when on to replay, in milliseconds since 1970.
    func payload(token: String?, replayingSince since: Int64? = nil) -> JSON {
        var broadcast: JSONObject = ["ack": .bool(acknowledges), "self": .bool(hearsItself)]
        if awaitsDatabase { broadcast["replication_ready"] = true }
        // The service gives no more than these at once.
        if let since { broadcast["replay"] = ["since": .integer(since), "limit": 25] }
        var payload: JSONObject = [
            "config": [
                "broadcast": .object(broadcast), "presence": ["enabled": false, "key": ""],
                "postgres_changes": .array(changes.map(\.json)), "private": .bool(isPrivate),
            ]
        ]
        if let token { payload["access_token"] = .string(token) }
        return .object(payload)
    }

    /// Whether the server has understood the bindings as they were meant.
    func matches(_ answer: JSON) -> Bool {
        let given = answer["postgres_changes"]?.array ?? []
        return given.count == changes.count
            && zip(changes, given).allSatisfy { binding, given in
                given["schema"]?.string == binding.schema && given["table"]?.string == binding.table
                    && (given["filter"]?.string ?? "") == (binding.filter ?? "")
            }
    }
}

/// What the server says of a channel some time after it was joined.
enum RealtimeConfirmation: Hashable, Sendable {
    case changes
    case broadcasts
}
