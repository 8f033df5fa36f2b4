/// What Foundation has as well. But there it comes with all of Foundation's Unicode data, which would add more than 30 MB to
/// every static program.
extension StringProtocol {
    /// Whether `text` occurs in it.
    package func includes(_ text: some StringProtocol) -> Bool { firstRange(of: text) != nil }

    /// Without white space and line breaks at its ends.
    package var trimmed: String {
        guard let first = firstIndex(where: { !$0.isWhitespace }), let last = lastIndex(where: { !$0.isWhitespace })
        else {
            return ""
        }
        return String(self[first...last])
    }
}
