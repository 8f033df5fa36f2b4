/// A mistake in a text that someone has written, with its place.
package struct TextMistake: Error, Equatable, Sendable {
    /// What is wrong and what to write instead, in the middle of a sentence or as one.
    package let message: String
    /// Bytes of the text. Empty where something is missing.
    package let range: Range<Int>
    package let text: String

    package init(_ message: String, at range: Range<Int>, in text: String) {
        self.message = message
        self.range = range
        self.text = text
    }

    /// The line with the mistake, and below it carets under the mistake.
    package var shown: String {
        let bytes = Array(text.utf8)
        let start = bytes[..<min(range.lowerBound, bytes.count)].lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
        let line = Self.visible(bytes[start..<end])
        let before = Self.visible(bytes[start..<min(max(range.lowerBound, start), end)])
        let marked = Self.visible(
            bytes[min(max(range.lowerBound, start), end)..<min(max(range.upperBound, start), end)])
        return line + "\n" + String(repeating: " ", count: before.count)
            + String(repeating: "^", count: max(1, marked.count))
    }

    /// With a column for each character.
    private static func visible(_ bytes: ArraySlice<UInt8>) -> String {
        String(String(decoding: bytes, as: UTF8.self).map { $0.isWhitespace ? " " : $0 })
    }
}

extension TextMistake: CustomStringConvertible {
    package var description: String { "\(message)\n\(shown)" }
}
