import SwitchyardWire

/// Which bytes of an object a request is about.
package struct ContentRange: Sendable {
    package let bytes: Range<Int64>
    /// Whether a range was asked for, and is answered as one.
    package let isPart: Bool
    package let size: Int64

    /// - Returns: `nil` when the range that is asked for cannot be satisfied.
    package init?(of request: ServerRequest, size: Int64, etag: String) {
        self.size = size
        // A range of what is another object by now is no range.
        let isStale = request.headers["If-Range"].map { $0 != etag } ?? false
        guard let header = request.headers["Range"], header.hasPrefix("bytes="), !isStale else {
            (bytes, isPart) = (0..<size, false)
            return
        }
        guard let wanted = Self.parse(header, size: size) else { return nil }
        (bytes, isPart) = (wanted, true)
    }

    package var status: Int { isPart ? 206 : 200 }

    /// What the answer says of the range; nothing of the whole.
    package var header: String? { isPart ? "bytes \(bytes.lowerBound)-\(bytes.upperBound - 1)/\(size)" : nil }

    /// `bytes=a-b`, `bytes=a-` or `bytes=-n`; `nil` for what cannot be satisfied.
    private static func parse(_ header: String, size: Int64) -> Range<Int64>? {
        // Of several ranges the first is given.
        let parts = header.dropFirst(6).prefix { $0 != "," }.split(
            separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        if parts[0].isEmpty {
            guard let count = Int64(parts[1]), count > 0, size > 0 else { return nil }
            return max(0, size - count)..<size
        }
        guard let first = Int64(parts[0]), first < size else { return nil }
        let last = parts[1].isEmpty ? size - 1 : Int64(parts[1]) ?? size - 1
        return first <= last ? first..<min(last + 1, size) : nil
    }
}
