/// Encodes any `Encodable` into the bytes of a text, without an intermediate value.
///
/// Members come in the order in which the type writes them. `Date` (a timestamp to the microsecond, all that it holds), `Data`
/// (base64), `URL`, `Decimal` and `JSON` have their own spelling. Throws `EncodingError`: for a number that is not finite, for a key written twice, and for a value that
/// writes nothing.
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
