import SwitchyardBytes

/// One message of the channel protocol, in either direction.
struct RealtimeMessage: Hashable, Sendable {
    /// The `ref` of the join that the message belongs to. Absent in messages that the server fans out.
    var joinRef: String?
    /// The sender's number for it, which a reply repeats.
    var ref: String?
    var topic: String
    var event: String
    var payload: JSON
    /// The bytes of a broadcast that is not JSON.
    var bytes: [UInt8]?

    init(
        joinRef: String? = nil, ref: String? = nil, topic: String, event: String, payload: JSON = [:],
        bytes: [UInt8]? = nil
    ) {
        self.joinRef = joinRef
        self.ref = ref
        self.topic = topic
        self.event = event
        self.payload = payload
        self.bytes = bytes
    }

    struct Malformed: Error {}

    // MARK: Text

    /// As an array, for web sockets.
    var array: JSON {
        [
            joinRef.map { .string($0) } ?? .null, ref.map { .string($0) } ?? .null, .string(topic), .string(event),
            payload,
        ]
    }

    /// As an object, the older format used by long polling.
    var object: JSON {
        var object: JSONObject = ["topic": .string(topic), "event": .string(event), "payload": payload]
        if let ref { object["ref"] = .string(ref) }
        if let joinRef { object["join_ref"] = .string(joinRef) }
        return .object(object)
    }

    /// From either text format. Unknown elements and members are ignored.
    init(text: some Collection<UInt8>) throws(Malformed) {
        guard let json = try? JSON(parsing: text, options: .foreign) else { throw Malformed() }
        let parts: (topic: JSON?, event: JSON?) = (json["topic"] ?? json[2], json["event"] ?? json[3])
        guard let topic = parts.topic?.string, let event = parts.event?.string else { throw Malformed() }
        self.init(
            joinRef: (json["join_ref"] ?? json[0])?.reference, ref: (json["ref"] ?? json[1])?.reference, topic: topic,
            event: event, payload: json["payload"] ?? json[4] ?? [:])
    }

    // MARK: Binary

    private enum Kind: UInt8 {
        case push = 0
        case reply, broadcast, userBroadcastPush, userBroadcast
    }

    /// From a binary frame of the server. The result is the same as for a text broadcast.
    init(frame: [UInt8]) throws(Malformed) {
        var reader = Reader(bytes: frame[...])
        switch Kind(rawValue: try reader.byte()) {
        case .push:
            let fields = try reader.fields(3)
            self.init(joinRef: fields[0].nonEmpty, topic: fields[1], event: fields[2], bytes: reader.rest)
        case .reply:
            let fields = try reader.fields(4)
            self.init(
                joinRef: fields[0].nonEmpty, ref: fields[1].nonEmpty, topic: fields[2], event: "phx_reply",
                payload: ["status": .string(fields[3])], bytes: reader.rest)
        case .broadcast:
            let fields = try reader.fields(2)
            self.init(
                topic: fields[0], event: "broadcast", payload: ["event": .string(fields[1])], bytes: reader.rest)
        case .userBroadcast:
            let sizes = [try reader.byte(), try reader.byte(), try reader.byte()]
            let isJSON = try reader.byte() == 1
            var fields: [String] = []
            for size in sizes { fields.append(try reader.text(Int(size))) }
            var payload: JSONObject = ["type": "broadcast", "event": .string(fields[1])]
            if !fields[2].isEmpty, let meta = try? JSON(parsing: fields[2]) { payload["meta"] = meta }
            guard isJSON else {
                self.init(topic: fields[0], event: "broadcast", payload: .object(payload), bytes: reader.rest)
                return
            }
            guard let content = try? JSON(parsing: reader.rest, options: .foreign) else { throw Malformed() }
            payload["payload"] = content
            self.init(topic: fields[0], event: "broadcast", payload: .object(payload))
        case .userBroadcastPush, nil: throw Malformed()
        }
    }

    /// The binary frame of an outgoing broadcast.
    ///
    /// - Throws: If a field is too long for the frame format, so that it cannot be sent.
    func frame() throws(Malformed) -> [UInt8] {
        let fields = [joinRef ?? "", ref ?? "", topic, payload["event"]?.string ?? "", ""].map { Array($0.utf8) }
        guard fields.allSatisfy({ $0.count <= 255 }) else { throw Malformed() }
        return [Kind.userBroadcastPush.rawValue] + fields.map { UInt8($0.count) } + [0] + fields.joined()
            + (bytes ?? [])
    }

    private struct Reader {
        var bytes: ArraySlice<UInt8>

        mutating func byte() throws(Malformed) -> UInt8 {
            guard let byte = bytes.popFirst() else { throw Malformed() }
            return byte
        }

        mutating func text(_ count: Int) throws(Malformed) -> String {
            guard bytes.count >= count else { throw Malformed() }
            defer { bytes = bytes.dropFirst(count) }
            return String(decoding: bytes.prefix(count), as: UTF8.self)
        }

        /// All sizes come first.
        mutating func fields(_ count: Int) throws(Malformed) -> [String] {
            var sizes: [Int] = []
            for _ in 0..<count { sizes.append(Int(try byte())) }
            var fields: [String] = []
            for size in sizes { fields.append(try text(size)) }
            return fields
        }

        var rest: [UInt8] { Array(bytes) }
    }
}

extension JSON {
    /// References are strings, but some servers write numbers.
    fileprivate var reference: String? { string ?? int64.map { "\($0)" } }
}

extension String {
    fileprivate var nonEmpty: String? { isEmpty ? nil : self }
}

extension JSONParsingOptions {
    /// Anyone may broadcast anything, and no broadcast may end the connection.
    fileprivate static let foreign = JSONParsingOptions(
        duplicateKeys: .keepLast, loneSurrogates: .replace, largeNumbers: .infinite)
}
