import Switchyard
import SwitchyardBytes
import SwitchyardWire

/// An open connection to the service.
protocol RealtimeLink: Sendable {
    /// Sends messages one at a time, in the order of the calls.
    func send(_ message: RealtimeMessage) async throws(TransportError)
    /// - Returns: `nil` if the server has closed the connection.
    func next() async throws(TransportError) -> RealtimeLinkEvent?
    func close() async
}

enum RealtimeLinkEvent: Sendable {
    case message(RealtimeMessage)
    /// The server has forgotten the session and started a new one without joined channels.
    case renewed
}

/// The service's usual connection.
struct WebSocketLink: RealtimeLink {
    private let socket: any WebSocketConnection

    init(_ address: String, key: Secret, transport: any Transport) async throws(TransportError) {
        let address = "\(address)/websocket?apikey=\(PercentCoding.encode(key.reveal()))&vsn=2.0.0"
        socket = try await transport.webSocket(WebSocketRequest(address))
    }

    func send(_ message: RealtimeMessage) async throws(TransportError) {
        if message.bytes != nil {
            guard let frame = try? message.frame() else { return }
            try await socket.send(.binary(frame))
        } else {
            try await socket.send(.text(message.array.text()))
        }
    }

    func next() async throws(TransportError) -> RealtimeLinkEvent? {
        while let message = try await socket.receive() {
            // Skip unreadable messages, as the server does.
            switch message {
            case .text(let text): if let message = try? RealtimeMessage(text: text.utf8) { return .message(message) }
            case .binary(let bytes): if let message = try? RealtimeMessage(frame: bytes) { return .message(message) }
            }
        }
        return nil
    }

    func close() async { await socket.close(.normal) }
}

/// The options with which a channel is joined.
struct RealtimeConfiguration: Hashable, Sendable {
    /// A subscription to the changed rows of a table.
    struct Binding: Hashable, Sendable {
        var schema: String
        var table: String
        /// `column=operator.value`, several separated by commas. A row that stops matching the filter is not reported.
        var filter: String?

        init(schema: String = "public", table: String, filter: String? = nil) {
            self.schema = schema
            self.table = table
            self.filter = filter
        }

        /// Omits keys without a value, since a null makes the whole binding fail.
        fileprivate var json: JSON {
            var object: JSONObject = ["event": "*", "schema": .string(schema), "table": .string(table)]
            if let filter { object["filter"] = .string(filter) }
            return .object(object)
        }
    }

    var changes: [Binding] = []
    /// Whether policies decide who may listen and send. Private and public channels of the same name are separate.
    var isPrivate = false
    /// Whether this client receives its own broadcasts.
    var receivesOwnMessages = false
    /// Whether the server acknowledges each broadcast.
    var acknowledges = false
    /// Whether the server reports when the database's own broadcasts arrive.
    var awaitsDatabase = false
    /// Whether a join replays what the database has sent during a gap: only the newest messages, some of them a second time.
    /// For private channels only.
    var replays = false

    /// The confirmations after which everything that happens is received.
    var confirmations: Set<RealtimeConfirmation> {
        var all: Set<RealtimeConfirmation> = []
        if !changes.isEmpty { all.insert(.changes) }
        if awaitsDatabase { all.insert(.broadcasts) }
        return all
    }

    /// - Parameter since: The start of the replay, in milliseconds since 1970.
    func payload(token: String?, replayingSince since: Int64? = nil) -> JSON {
        var broadcast: JSONObject = ["ack": .bool(acknowledges), "self": .bool(receivesOwnMessages)]
        if awaitsDatabase { broadcast["replication_ready"] = true }
        // The service's maximum.
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

    /// Whether the server has understood the bindings correctly.
    func matches(_ answer: JSON) -> Bool {
        let given = answer["postgres_changes"]?.array ?? []
        return given.count == changes.count
            && zip(changes, given).allSatisfy { binding, given in
                given["schema"]?.string == binding.schema && given["table"]?.string == binding.table
                    && (given["filter"]?.string ?? "") == (binding.filter ?? "")
            }
    }
}

/// A confirmation that the server sends some time after a join.
enum RealtimeConfirmation: Hashable, Sendable {
    case changes
    case broadcasts
}
