/// A statement with its parameters, all in the server's text form.
package struct PostgresStatement: Sendable {
    package let sql: String
    package let parameters: [String?]
    /// Whether a connection prepares it once: for frequent statements with a fixed text, whose columns do not depend
    /// on changes of tables.
    package let isKept: Bool

    package init(_ sql: String, _ parameters: [String?] = [], isKept: Bool = false) {
        self.sql = sql
        self.parameters = parameters
        self.isKept = isKept
    }
}

/// Messages to a PostgreSQL server, in version 3 of its protocol.
enum PostgresFrontend {
    static func startup(user: String, database: String) -> [UInt8] {
        var message = PostgresWriter()
        message.put(Int32(196_608))
        for (name, value) in [("user", user), ("database", database), ("client_encoding", "UTF8")] {
            message.put(name)
            message.put(value)
        }
        message.bytes.append(0)
        return message.framed(as: nil)
    }

    /// The statements as one unit: all of them take effect or none, and one answer ends them.
    ///
    /// - Parameter names: The connection's names for prepared statements.
    static func run(_ statements: [PostgresStatement], names: PostgresStatementNames = .none) -> [UInt8] {
        var bytes: [UInt8] = []
        for statement in statements {
            let name = names.name(of: statement)
            if !names.isReady(statement) {
                if let name {
                    // An earlier unit may have parsed it and failed later.
                    var close = PostgresWriter()
                    close.bytes.append(UInt8(ascii: "S"))
                    close.put(name)
                    bytes += close.framed(as: UInt8(ascii: "C"))
                }
                var parse = PostgresWriter()
                parse.put(name ?? "")
                parse.put(statement.sql)
                parse.put(Int16(0))
                bytes += parse.framed(as: UInt8(ascii: "P"))
            }

            var bind = PostgresWriter()
            bind.put("")
            bind.put(name ?? "")
            bind.put(Int16(0))
            bind.put(Int16(truncatingIfNeeded: statement.parameters.count))
            for parameter in statement.parameters {
                guard let parameter else {
                    bind.put(Int32(-1))
                    continue
                }
                bind.put(Int32(truncatingIfNeeded: parameter.utf8.count))
                bind.bytes += parameter.utf8
            }
            bind.put(Int16(0))
            bytes += bind.framed(as: UInt8(ascii: "B"))
            bytes += [UInt8(ascii: "D"), 0, 0, 0, 6, UInt8(ascii: "P"), 0]
            bytes += [UInt8(ascii: "E"), 0, 0, 0, 9, 0, 0, 0, 0, 0]
        }
        return bytes + [UInt8(ascii: "S"), 0, 0, 0, 4]
    }

    /// A text of several statements without parameters.
    static func run(script: String) -> [UInt8] {
        var query = PostgresWriter()
        query.put(script)
        return query.framed(as: UInt8(ascii: "Q"))
    }

    static let terminate: [UInt8] = [UInt8(ascii: "X"), 0, 0, 0, 4]
}

private struct PostgresWriter {
    var bytes: [UInt8] = []

    mutating func put(_ number: some FixedWidthInteger) {
        withUnsafeBytes(of: number.bigEndian) { bytes += $0 }
    }

    /// Text ends with a zero, so zeros in it are removed.
    mutating func put(_ text: String) {
        bytes += text.utf8.filter { $0 != 0 }
        bytes.append(0)
    }

    /// Adds the kind, which the first message does not have, and the length.
    func framed(as kind: UInt8?) -> [UInt8] {
        var head = PostgresWriter()
        if let kind { head.bytes.append(kind) }
        head.put(Int32(truncatingIfNeeded: bytes.count + 4))
        return head.bytes + bytes
    }
}
