import SwitchyardBytes

/// Parses a form as it arrives: fields completely, a file piece by piece.
struct FormReader {
    enum Event: Hashable {
        case field(name: String, value: String)
        case fileBegins(type: String?)
        case fileBytes([UInt8])
    }

    struct Malformed: Error {}

    private enum Place {
        case head
        case field(String)
        case file
        case end
    }

    /// The maximum total size of fields and heads.
    private static let limit = 1 << 20

    private let separator: [UInt8]
    private var place = Place.head
    private var pending: [UInt8]
    private var spent = 0

    init(boundary: String) {
        separator = Array("\r\n--\(boundary)".utf8)
        // The first boundary has no preceding line break.
        pending = [13, 10]
    }

    /// - Returns: `nil` if the body is not a form.
    static func boundary(in type: String) -> String? {
        guard type.lowercased().hasPrefix("multipart/form-data"), let start = type.firstRange(of: "boundary=") else {
            return nil
        }
        let rest = type[start.upperBound...].prefix { $0 != ";" }
        let boundary = String(rest.filter { $0 != "\"" })
        return (1...200).contains(boundary.utf8.count) ? boundary : nil
    }

    var isAtEnd: Bool { if case .end = place { true } else { false } }

    mutating func read(_ bytes: [UInt8]) throws(Malformed) -> [Event] {
        pending += bytes
        var events: [Event] = []
        while try step(&events) {}
        return events
    }

    /// - Returns: Whether the available bytes may contain more.
    private mutating func step(_ events: inout [Event]) throws(Malformed) -> Bool {
        switch place {
        case .end:
            pending = []
            return false
        case .head:
            guard let head = try takeHead() else { return false }
            guard !isAtEnd else { return true }
            let disposition = head["content-disposition"] ?? ""
            guard let name = Self.parameter("name", of: disposition) else { throw Malformed() }
            if Self.parameter("filename", of: disposition) != nil {
                place = .file
                events.append(.fileBegins(type: head["content-type"]))
            } else if head["content-type"]?.hasPrefix("application/octet-stream") == true {
                // Some clients send the type of a file but not its name.
                place = .file
                events.append(.fileBegins(type: head["content-type"]))
            } else {
                place = .field(name)
            }
            return true
        case .field(let name):
            guard let end = Self.find(separator, in: pending) else {
                guard pending.count <= Self.limit else { throw Malformed() }
                return false
            }
            try spend(end)
            events.append(.field(name: name, value: String(decoding: pending[..<end], as: UTF8.self)))
            pending.removeFirst(end)
            place = .head
            return true
        case .file:
            if let end = Self.find(separator, in: pending) {
                if end > 0 { events.append(.fileBytes(Array(pending[..<end]))) }
                pending.removeFirst(end)
                place = .head
                return true
            }
            // The end of the available bytes may be the start of a boundary.
            let safe = pending.count - separator.count + 1
            guard safe > 0 else { return false }
            events.append(.fileBytes(Array(pending[..<safe])))
            pending.removeFirst(safe)
            return false
        }
    }

    /// The head of the next part, from the boundary to the empty line; `nil` until it is complete.
    private mutating func takeHead() throws(Malformed) -> [String: String]? {
        guard pending.count >= separator.count + 2 else { return nil }
        guard pending.starts(with: separator) else { throw Malformed() }
        let rest = pending[separator.count...]
        if rest.starts(with: Array("--".utf8)) {
            place = .end
            return [:]
        }
        guard rest.starts(with: [13, 10]) else { throw Malformed() }
        guard let end = Self.find([13, 10, 13, 10], in: Array(rest)) else {
            guard rest.count <= 16 << 10 else { throw Malformed() }
            return nil
        }
        try spend(end)
        let lines = String(decoding: rest.prefix(end), as: UTF8.self).split(whereSeparator: \.isNewline)
        pending.removeFirst(separator.count + end + 4)
        var head: [String: String] = [:]
        for line in lines {
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2 else { throw Malformed() }
            head[parts[0].lowercased()] = String(parts[1].drop { $0 == " " })
        }
        return head
    }

    private mutating func spend(_ count: Int) throws(Malformed) {
        spent += count
        guard spent <= Self.limit else { throw Malformed() }
    }

    private static func parameter(_ name: String, of header: String) -> String? {
        for part in header.split(separator: ";").dropFirst() {
            let pair = part.drop { $0 == " " }.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if pair.count == 2, pair[0] == name { return pair[1].filter { $0 != "\"" } }
        }
        return nil
    }

    private static func find(_ pattern: [UInt8], in bytes: [UInt8]) -> Int? {
        guard bytes.count >= pattern.count else { return nil }
        let last = bytes.count - pattern.count
        return bytes.withUnsafeBufferPointer { bytes in
            var start = 0
            while start <= last {
                if bytes[start] == pattern[0], pattern.indices.allSatisfy({ bytes[start + $0] == pattern[$0] }) {
                    return start
                }
                start += 1
            }
            return nil
        }
    }
}
