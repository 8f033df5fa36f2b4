import SwitchyardBytes
import SwitchyardTestSupport

/// A request that a local server answers sensibly: a line, header fields, an empty line, a body. `{name}` stands for what an
/// earlier answer has brought.
struct DoorRequest: Sendable {
    let text: String

    /// Those of a text, separated by lines of dashes.
    static func all(_ text: String) -> [DoorRequest] {
        text.split(separator: "\n----\n").map { DoorRequest(text: String($0)) }
    }

    /// Where the request has numbers: digits with a sign, a fraction or an exponent, in the path, the fields and the body alike.
    var numbers: [Range<String.Index>] {
        var found: [Range<String.Index>] = []
        let bytes = text.utf8
        var place = bytes.startIndex
        while place < bytes.endIndex {
            guard Self.isDigit(bytes[place]) else {
                place = bytes.index(after: place)
                continue
            }
            var start = place
            while place < bytes.endIndex, Self.isDigit(bytes[place]) || bytes[place] == UInt8(ascii: ".") {
                place = bytes.index(after: place)
            }
            if start > bytes.startIndex, case let sign = bytes.index(before: start), bytes[sign] == UInt8(ascii: "-"),
                sign == bytes.startIndex || !Self.isDigit(bytes[bytes.index(before: sign)])
            {
                start = sign
            }
            found.append(start..<place)
        }
        return found
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    func replacing(_ place: Range<String.Index>, by replacement: String) -> DoorRequest {
        DoorRequest(text: text.replacingCharacters(place, by: replacement))
    }

    /// What goes over the wire.
    ///
    /// - Parameter values: What stands for each `{name}`; others are left.
    func bytes(_ values: [String: String]) -> [UInt8] {
        let filled = Self.fill(text, values)
        let head = filled.firstRange(of: "\n\n").map { filled[..<$0.lowerBound] } ?? filled[...]
        var body = filled.firstRange(of: "\n\n").map { String(filled[$0.upperBound...]) } ?? ""
        // Parts of a form end their lines as HTTP does.
        if head.contains("multipart/") {
            body = body.split(separator: "\n", omittingEmptySubsequences: false).joined(separator: "\r\n")
        }
        var lines = head.split(separator: "\n", omittingEmptySubsequences: false).map { Array($0.utf8) }
        if !lines.isEmpty { lines[0] += Array(" HTTP/1.1".utf8) }
        func has(_ name: String) -> Bool { lines.contains { $0.starts(with: name.utf8) } }
        if !has("Host:") { lines.append(Array("Host: 127.0.0.1".utf8)) }
        if !has("Content-Length:"), !has("Transfer-Encoding:"), !body.isEmpty || !filled.hasPrefix("GET") {
            lines.append(Array("Content-Length: \(body.utf8.count)".utf8))
        }
        return lines.flatMap { $0 + [13, 10] } + [13, 10] + body.utf8
    }

    private static func fill(_ text: String, _ values: [String: String]) -> String {
        guard text.utf8.contains(UInt8(ascii: "{")) else { return text }
        var filled = ""
        var rest = text[...]
        while let start = rest.firstIndex(of: "{") {
            filled += rest[..<start]
            let behind = rest.index(after: start)
            let name = rest[behind...].prefix { $0.isLetter }
            if let value = values[String(name)], rest[name.endIndex...].first == "}" {
                filled += value
                rest = rest[rest.index(after: name.endIndex)...]
            } else {
                filled += "{"
                rest = rest[behind...]
            }
        }
        return filled + rest
    }
}

extension String {
    fileprivate func replacingCharacters(_ place: Range<Index>, by replacement: String) -> String {
        String(self[..<place.lowerBound]) + replacement + String(self[place.upperBound...])
    }
}
