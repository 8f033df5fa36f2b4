/// The callbacks of the walker. A visitor never gets malformed input: strings are valid UTF-8 with valid escapes, numbers are
/// well-formed, and each `begin` has its `end` unless the walk throws.
protocol JSONVisitor: ~Copyable {
    mutating func null(at offset: Int)
    mutating func bool(_ value: Bool, at offset: Int)
    mutating func number(_ token: JSONNumberToken) throws(JSONError)
    mutating func string(_ token: JSONStringToken)
    mutating func key(_ token: JSONStringToken) throws(JSONError)
    mutating func beginArray(at offset: Int)
    mutating func endArray(at offset: Int)
    mutating func beginObject(at offset: Int)
    mutating func endObject(at offset: Int)
}

/// The contents of a string literal. The bytes are borrowed from the text and valid during the walk.
struct JSONStringToken {
    let bytes: UnsafeBufferPointer<UInt8>
    /// The offset of `bytes` in the text, one after the quotation mark.
    let offset: Int
    let hasEscapes: Bool

    @inline(__always)
    func text() -> String {
        hasEscapes ? JSONEscapes.unescaped(bytes) : String(decoding: bytes, as: UTF8.self)
    }
}

/// A number literal with its digits already parsed.
struct JSONNumberToken {
    let bytes: UnsafeBufferPointer<UInt8>
    let offset: Int
    let isNegative: Bool
    /// Whether there is neither a fraction nor an exponent.
    let isInteger: Bool
    /// The first nineteen significant digits; `nil` if there are more, so that the literal itself must be used.
    let mantissa: UInt64?
    /// The power of ten for `mantissa`.
    let exponent: Int
}

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

/// How to parse what RFC 8259 leaves open; the defaults refuse everything ambiguous.
package struct JSONParsingOptions: Hashable, Sendable {
    package enum DuplicateKeys: Hashable, Sendable { case refuse, keepFirst, keepLast }
    package enum LoneSurrogates: Hashable, Sendable {
        case refuse
        /// Each one becomes U+FFFD.
        case replace
    }

    package enum LargeNumbers: Hashable, Sendable {
        case refuse
        /// One beyond the range of `Double` becomes the nearest one, which is infinite.
        case infinite
    }

    package var duplicateKeys: DuplicateKeys
    package var loneSurrogates: LoneSurrogates
    package var largeNumbers: LargeNumbers
    /// The maximum number of nested arrays and objects.
    package var maximumDepth: Int

    package init(
        duplicateKeys: DuplicateKeys = .refuse, loneSurrogates: LoneSurrogates = .refuse,
        largeNumbers: LargeNumbers = .refuse, maximumDepth: Int = 512
    ) {
        self.duplicateKeys = duplicateKeys
        self.loneSurrogates = loneSurrogates
        self.largeNumbers = largeNumbers
        self.maximumDepth = maximumDepth
    }
}
