/// The `Retry-After` header of RFC 9110, section 10.2.3.
package enum RetryAfter {
    /// How long to wait from now: zero for a date that has passed, `nil` for a header that says nothing.
    ///
    /// - Parameter now: seconds since 1970, for the form that names a date.
    package static func delay(_ header: some StringProtocol, now: Int64) -> Duration? {
        let header = header.utf8.drop(while: isSpace)
        let text = String(decoding: header.reversed().drop(while: isSpace).reversed(), as: UTF8.self)
        if text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) {
            // More than a word holds is as good as never; a caller caps what it is willing to wait anyway.
            return text.isEmpty ? nil : .seconds(Int64(text) ?? Int64(Int32.max))
        }
        return HTTPDate.parse(text, now: now).map { .seconds(max(0, $0 - now)) }
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
}
