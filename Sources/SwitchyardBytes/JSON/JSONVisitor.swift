/// What the grammar tells as it walks through a text. A visitor never sees malformed input: strings are valid UTF-8 with
/// valid escapes, numbers are well formed, and every `begin` has its `end` unless the walk throws.
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

/// The inside of a string literal. The bytes are borrowed from the text and live as long as the walk.
struct JSONStringToken {
    let bytes: UnsafeBufferPointer<UInt8>
    /// Where `bytes` begins in the text, one after the quotation mark.
    let offset: Int
    let hasEscapes: Bool

    @inline(__always)
    func text() -> String {
        hasEscapes ? JSONEscapes.unescaped(bytes) : String(decoding: bytes, as: UTF8.self)
    }
}

/// A number literal, its digits already gathered.
struct JSONNumberToken {
    let bytes: UnsafeBufferPointer<UInt8>
    let offset: Int
    let isNegative: Bool
    /// Neither fraction nor exponent.
    let isInteger: Bool
    /// The first nineteen significant digits; `nil` when there are more, so that the literal itself decides.
    let mantissa: UInt64?
    /// The power of ten that belongs to `mantissa`.
    let exponent: Int
}
