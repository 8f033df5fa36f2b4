/// Encodes any `Encodable` into the bytes of a text, without an intermediate value.
///
/// Members are written in the type's order. `Date` (a timestamp with microseconds, its full precision), `Data` (base64), `URL`,
/// `Decimal` and `JSON` have special formats. Throws `EncodingError` for a number that is not finite, for a duplicate key, and
/// for a value that writes nothing.
package struct JSONBytesEncoder: Sendable {
    package init() {}

    package func encode(_ value: some Encodable) throws -> [UInt8] {
        let output = JSONEncodingOutput(path: [])
        try output.encode(value)
        let text = try output.finish()
        guard !text.isEmpty else {
            throw EncodingError.invalidValue(value, .init(codingPath: [], debugDescription: "The value wrote nothing."))
        }
        return text
    }
}
