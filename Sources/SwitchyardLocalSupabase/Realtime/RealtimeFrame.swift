import SwitchyardBytes
import SwitchyardWire

/// One message of the channel protocol, as read and written by the server.
struct RealtimeFrame: Sendable {
    /// The protocol version of a client.
    enum Form: Sendable {
        /// Objects as text, which do not name the join of a channel.
        case objects
        /// Arrays as text, and binary frames.
        case arrays
    }

    /// The join of the channel that it belongs to; `nil` if it is sent to several clients.
    var joinRef: String?
    var ref: String?
    var topic: String
    var event: String
    var payload: JSON
    /// The bytes of a broadcast that is not JSON.
    var bytes: [UInt8]?
    /// Whether to send it as a binary frame if the client supports that: a broadcast received as one, or from the database.
    var prefersBinary = false

    init(
        joinRef: String? = nil, ref: String? = nil, topic: String, event: String, payload: JSON = [:],
        bytes: [UInt8]? = nil, prefersBinary: Bool = false
    ) {
        self.joinRef = joinRef
        self.ref = ref
        self.topic = topic
        self.event = event
        self.payload = payload
        self.bytes = bytes
        self.prefersBinary = prefersBinary
    }

    // MARK: Reading

    /// `nil` for an unreadable message, which is ignored.
    init?(_ message: WebSocketMessage) {
        switch message {
        case .text(let text): self.init(text: Array(text.utf8))
        case .binary(let bytes): self.init(binary: bytes)
        }
    }

    /// From either text format.
    init?(text: [UInt8]) {
        let options = JSONParsingOptions(duplicateKeys: .keepLast, loneSurrogates: .replace)
        guard let json = try? JSON(parsing: text, options: options), let topic = (json["topic"] ?? json[2])?.string,
            let event = (json["event"] ?? json[3])?.string
        else { return nil }
        self.init(
            joinRef: (json["join_ref"] ?? json[0])?.string, ref: (json["ref"] ?? json[1])?.string, topic: topic,
            event: event, payload: json["payload"] ?? json[4] ?? [:])
    }

    private enum Kind: UInt8 {
        case push = 0
        case reply, broadcast, userBroadcastPush, userBroadcast
    }

    /// From a broadcast in a binary frame, the only kind that clients send.
    init?(binary: [UInt8]) {
        guard binary.count >= 7, binary[0] == Kind.userBroadcastPush.rawValue else { return nil }
        var rest = binary[7...]
        var fields: [String] = []
        for size in binary[1...5] {
            guard rest.count >= Int(size) else { return nil }
            fields.append(String(decoding: rest.prefix(Int(size)), as: UTF8.self))
            rest = rest.dropFirst(Int(size))
        }
        var payload: JSONObject = ["type": "broadcast", "event": .string(fields[3])]
        if !fields[4].isEmpty, let meta = try? JSON(parsing: fields[4]) { payload["meta"] = meta }
        var bytes: [UInt8]?
        if binary[6] == 1 {
            guard let content = try? JSON(parsing: rest) else { return nil }
            payload["payload"] = content
        } else {
            bytes = Array(rest)
        }
        self.init(
            joinRef: fields[0].isEmpty ? nil : fields[0], ref: fields[1].isEmpty ? nil : fields[1], topic: fields[2],
            event: "broadcast", payload: .object(payload), bytes: bytes, prefersBinary: true)
    }

    // MARK: Writing

    /// - Returns: `nil` if the format cannot represent it.
    func message(in form: Form) -> WebSocketMessage? {
        switch form {
        case .objects:
            guard bytes == nil else { return nil }
            return .text(
                JSON.object([
                    "topic": .string(topic), "event": .string(event), "payload": payload,
                    "ref": ref.map { .string($0) } ?? .null,
                ]).text())
        case .arrays:
            if prefersBinary || bytes != nil, let frame = binary { return .binary(frame) }
            guard bytes == nil else { return nil }
            return .text(
                JSON.array([
                    joinRef.map { .string($0) } ?? .null, ref.map { .string($0) } ?? .null, .string(topic),
                    .string(event), payload,
                ]).text())
        }
    }

    /// `nil` if a field is too long for the frame format.
    private var binary: [UInt8]? {
        let fields = [topic, payload["event"]?.string ?? "", payload["meta"]?.text() ?? ""].map { Array($0.utf8) }
        guard fields.allSatisfy({ $0.count <= 255 }) else { return nil }
        let content = bytes ?? (payload["payload"] ?? [:]).bytes()
        return [Kind.userBroadcast.rawValue] + fields.map { UInt8($0.count) } + [bytes == nil ? 1 : 0]
            + fields.joined() + content
    }

    /// The answer to this message.
    func reply(_ status: String = "ok", _ response: JSON = [:]) -> RealtimeFrame {
        RealtimeFrame(
            joinRef: joinRef, ref: ref, topic: topic, event: "phx_reply",
            payload: ["status": .string(status), "response": response])
    }

    func refusal(_ reason: String) -> RealtimeFrame { reply("error", ["reason": .string(reason)]) }
}

/// The options of a join. Malformed values are ignored, as at the vendor's.
struct RealtimeJoin: Sendable {
    struct Replay: Sendable {
        /// In milliseconds since 1970; `nil` if it is missing, which is an error.
        let since: Int64?
        let limit: Int
    }

    let acknowledges: Bool
    let receivesOwnMessages: Bool
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
        receivesOwnMessages = Self.flag(broadcast?["self"])
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
