import SwitchyardBytes

/// The bytes of a stored session: a line with the format and a checksum, then JSON.
enum SessionFile {
    private static let name = "switchyard-session"
    private static let version = 1

    enum Contents: Sendable, Hashable {
        case record(SessionRecord)
        case damaged
        /// Written by a later version of this package.
        case newer
    }

    static func encode(_ record: SessionRecord) -> [UInt8] {
        let body = record.json().bytes()
        return Array("\(name) \(version) \(String(CRC32C.checksum(of: body), radix: 16))\n".utf8) + body
    }

    static func decode(_ bytes: [UInt8]) -> Contents {
        guard let lineEnd = bytes.firstIndex(of: UInt8(ascii: "\n")) else { return .damaged }
        let words = String(decoding: bytes[..<lineEnd], as: UTF8.self).split(separator: " ")
        guard words.count == 3, words[0] == name, let written = Int(words[1]) else { return .damaged }
        guard written <= version else { return .newer }
        let body = bytes[(lineEnd + 1)...]
        guard UInt32(words[2], radix: 16) == CRC32C.checksum(of: body),
            let json = try? JSON(parsing: Array(body)), let record = SessionRecord(json: json)
        else { return .damaged }
        return .record(record)
    }
}
