/// What Foundation has as well. But there it comes with all of Foundation's Unicode data, which would add more than 30 MB to
/// every static program.
extension StringProtocol {
    /// Whether the bytes of `text` occur in it. The standard library's search would add more than a megabyte as well, for
    /// regular expressions.
    package func includes(_ text: some StringProtocol) -> Bool {
        let (whole, part) = (Array(utf8), Array(text.utf8))
        guard part.count <= whole.count else { return false }
        return (0...(whole.count - part.count)).contains { whole[$0..<($0 + part.count)].elementsEqual(part) }
    }

    /// Without white space and line breaks at its ends.
    package var trimmed: String {
        guard let first = firstIndex(where: { !$0.isWhitespace }), let last = lastIndex(where: { !$0.isWhitespace })
        else {
            return ""
        }
        return String(self[first...last])
    }
}
