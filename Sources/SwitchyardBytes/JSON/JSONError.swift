/// Why bytes are not valid JSON. Contains the position, but never the content, which may be a user's document.
package struct JSONError: Error, Hashable, CustomStringConvertible {
    package enum Reason: String, Hashable, Sendable {
        case unexpectedEnd = "the text ends too early"
        case unexpectedByte = "an unexpected character"
        case trailingBytes = "something follows the value"
        case malformedNumber = "a malformed number"
        case numberOutOfRange = "a number too large to represent"
        case malformedEscape = "a malformed escape sequence"
        case loneSurrogate = "half of a surrogate pair"
        case controlCharacter = "a control character in a string"
        case malformedUTF8 = "malformed UTF-8"
        case duplicateKey = "a key that occurs twice"
        case tooDeep = "too many levels"
        case tooLong = "a value longer than allowed"
    }

    package let reason: Reason
    /// The number of bytes before the error, counted from the start of the text or stream.
    package let offset: Int

    package init(_ reason: Reason, at offset: Int) {
        self.reason = reason
        self.offset = offset
    }

    package var description: String { "Invalid JSON at byte \(offset): \(reason.rawValue)." }
}
