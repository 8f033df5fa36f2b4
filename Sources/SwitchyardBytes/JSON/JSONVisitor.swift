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
