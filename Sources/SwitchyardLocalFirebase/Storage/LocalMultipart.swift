/// A body of two parts, parsed as strictly as by the vendor: JSON first, each part with its type as the only header.
struct LocalMultipart {
    let description: ArraySlice<UInt8>
    let content: ArraySlice<UInt8>

    init?(_ whole: [UInt8], boundary: some StringProtocol) {
        guard !boundary.isEmpty else { return nil }
        let body = whole.suffix(2).elementsEqual([13, 10]) ? whole.dropLast(2) : whole[...]
        let mark = Array("--\(boundary)".utf8)
        let separator = Array("\r\n".utf8) + mark
        guard body.starts(with: mark + [13, 10]), body.count > mark.count + separator.count + 2 else { return nil }
        let first = body[(mark.count + 2)...]
        guard let middle = Self.find(separator, in: first) else { return nil }
        let rest = body[(middle + separator.count)...]
        // The last separator is the end, since contents may include anything.
        let tail = separator + [45, 45]
        guard rest.starts(with: [13, 10]), rest.count >= tail.count + 2,
            rest.suffix(tail.count).elementsEqual(tail)
        else { return nil }
        guard let description = Self.body(first[..<middle], type: "application/json"),
            let content = Self.body(rest.dropFirst(2).dropLast(tail.count), type: "")
        else { return nil }
        self.description = description
        self.content = content
    }

    /// The part after the single header line and the empty one.
    private static func body(_ part: ArraySlice<UInt8>, type: String) -> ArraySlice<UInt8>? {
        let head = "content-type: \(type)"
        guard String(decoding: part.prefix(head.utf8.count), as: UTF8.self).lowercased() == head,
            let end = find([13, 10, 13, 10], in: part),
            find([13, 10], in: part[..<end]) == nil
        else { return nil }
        return part[(end + 4)...]
    }

    private static func find(_ pattern: [UInt8], in bytes: ArraySlice<UInt8>) -> Int? {
        guard bytes.count >= pattern.count else { return nil }
        return (bytes.startIndex...(bytes.endIndex - pattern.count)).first { start in
            bytes[start] == pattern[0] && bytes[start..<start + pattern.count].elementsEqual(pattern)
        }
    }
}
