/// A message from a PostgreSQL server.
enum PostgresBackend {
    case authentication(Int32)
    case ready
    case columns([String])
    case row([[UInt8]?])
    /// A statement has ended; with its tag, such as "INSERT 0 1".
    case complete(String)
    case failure(PostgresFailure)
    case notification(channel: String, payload: String)
    /// Any message that is not needed here.
    case other

    /// Splits a stream of bytes into messages.
    struct Reader {
        private var pending: [UInt8] = []
        private var start = 0

        mutating func append(_ bytes: some Collection<UInt8>) {
            if start > 1 << 16 {
                pending.removeFirst(start)
                start = 0
            }
            pending += bytes
        }

        /// The next complete message.
        mutating func next() -> PostgresBackend? {
            guard pending.count - start >= 5 else { return nil }
            let length = pending[(start + 1)..<(start + 5)].reduce(0) { $0 << 8 | Int($1) }
            guard length >= 4, pending.count - start >= 1 + length else { return nil }
            var fields = PostgresFields(pending[(start + 5)..<(start + 1 + length)])
            let kind = pending[start]
            start += 1 + length
            if start == pending.count {
                pending.removeAll(keepingCapacity: true)
                start = 0
            }
            return PostgresBackend(kind, &fields)
        }
    }

    private init(_ kind: UInt8, _ fields: inout PostgresFields) {
        switch kind {
        case UInt8(ascii: "R"): self = .authentication(fields.int32())
        case UInt8(ascii: "Z"): self = .ready
        case UInt8(ascii: "T"):
            self = .columns(
                (0..<fields.int16()).map { _ in
                    let name = fields.text()
                    fields.skip(18)
                    return name
                })
        case UInt8(ascii: "D"):
            self = .row(
                (0..<fields.int16()).map { _ in
                    let count = Int(fields.int32())
                    return count < 0 ? nil : fields.take(count)
                })
        case UInt8(ascii: "C"): self = .complete(fields.text())
        case UInt8(ascii: "A"):
            fields.skip(4)
            self = .notification(channel: fields.text(), payload: fields.text())
        case UInt8(ascii: "E"):
            var parts: [UInt8: String] = [:]
            while let part = fields.byte(), part != 0 { parts[part] = fields.text() }
            self = .failure(
                PostgresFailure(
                    code: parts[UInt8(ascii: "C")] ?? "XX000", message: parts[UInt8(ascii: "M")] ?? "",
                    details: parts[UInt8(ascii: "D")], hint: parts[UInt8(ascii: "H")]))
        default: self = .other
        }
    }
}

/// The server's error.
package struct PostgresFailure: Error, Hashable, Sendable {
    /// Five characters, such as "23505"; "08006" if the connection broke.
    package let code: String
    package let message: String
    package var details: String?
    package var hint: String?

    static let disconnected = PostgresFailure(code: "08006", message: "the connection to the database has ended")
}

/// Reads the fields of a message; returns zeros past its end.
private struct PostgresFields {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    mutating func byte() -> UInt8? { rest.popFirst() }
    mutating func skip(_ count: Int) { rest = rest.dropFirst(count) }
    mutating func int16() -> Int { take(2).reduce(0) { $0 << 8 | Int($1) } }
    mutating func int32() -> Int32 { Int32(bitPattern: take(4).reduce(0) { $0 << 8 | UInt32($1) }) }

    mutating func take(_ count: Int) -> [UInt8] {
        defer { rest = rest.dropFirst(count) }
        return Array(rest.prefix(count))
    }

    mutating func text() -> String {
        let end = rest.firstIndex(of: 0) ?? rest.endIndex
        defer { rest = rest[end...].dropFirst() }
        return String(decoding: rest[..<end], as: UTF8.self)
    }
}
