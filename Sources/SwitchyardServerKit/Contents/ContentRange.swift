import SwitchyardWire

/// The bytes of an object that a request asks for.
package struct ContentRange: Sendable {
    package let bytes: Range<Int64>
    /// Whether a range was requested and is returned.
    package let isPart: Bool
    package let size: Int64

    /// - Returns: `nil` if the requested range cannot be satisfied.
    package init?(of request: ServerRequest, size: Int64, etag: String) {
        self.size = size
        // A range of an object that has changed since is ignored.
        let isStale = request.headers["If-Range"].map { $0 != etag } ?? false
        guard let header = request.headers["Range"], header.hasPrefix("bytes="), !isStale else {
            (bytes, isPart) = (0..<size, false)
            return
        }
        guard let wanted = Self.parse(header, size: size) else { return nil }
        (bytes, isPart) = (wanted, true)
    }

    package var status: Int { isPart ? 206 : 200 }

    /// The `Content-Range` header; `nil` for the whole object.
    package var header: String? { isPart ? "bytes \(bytes.lowerBound)-\(bytes.upperBound - 1)/\(size)" : nil }

    /// `bytes=a-b`, `bytes=a-` or `bytes=-n`; `nil` if it cannot be satisfied.
    private static func parse(_ header: String, size: Int64) -> Range<Int64>? {
        // Of several ranges, only the first is returned.
        let parts = header.dropFirst(6).prefix { $0 != "," }.split(
            separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        if parts[0].isEmpty {
            guard let count = Int64(parts[1]), count > 0, size > 0 else { return nil }
            return max(0, size - count)..<size
        }
        guard let first = Int64(parts[0]), first < size else { return nil }
        let last = parts[1].isEmpty ? size - 1 : Int64(parts[1]) ?? size - 1
        return first <= last ? first..<(min(last, size - 1) + 1) : nil
    }
}
