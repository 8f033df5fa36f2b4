/// The `Retry-After` header of RFC 9110, section 10.2.3.
package enum RetryAfter {
    /// How long to wait from now: zero for a date in the past, `nil` for an invalid header.
    ///
    /// - Parameter now: Seconds since 1970, for the form with a date.
    package static func delay(_ header: some StringProtocol, now: Int64) -> Duration? {
        let header = header.utf8.drop(while: isSpace)
        let text = String(decoding: header.reversed().drop(while: isSpace).reversed(), as: UTF8.self)
        if text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) {
            // A number that does not fit means practically never; callers limit the wait anyway.
            return text.isEmpty ? nil : .seconds(Int64(text) ?? Int64(Int32.max))
        }
        return HTTPDate.parse(text, now: now).map { .seconds(max(0, $0 - now)) }
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
}
