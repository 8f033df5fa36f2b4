/// Encodes any `Encodable` into the bytes of a text, without an intermediate value.
///
/// Members come in the order in which the type writes them. `Date`, `Data` (base64), `URL`, `Decimal` and `JSON` have their
/// own spelling. Throws `EncodingError`: for a number that is not finite, for a key written twice, and for a value that
/// writes nothing.
package struct JSONBytesEncoder: Sendable {
    package var dates: JSONDateCoding
    package var keys: JSONKeyCoding
    /// Any layout but the compact one costs a second pass over the text.
    package var layout: JSONWritingOptions
    package var userInfo: [CodingUserInfoKey: any Sendable] = [:]

    package init(
        dates: JSONDateCoding = .rfc3339, keys: JSONKeyCoding = .asWritten, layout: JSONWritingOptions = .init()
    ) {
        self.dates = dates
        self.keys = keys
        self.layout = layout
    }

    package func encode(_ value: some Encodable) throws -> [UInt8] {
        let output = JSONEncodingOutput(settings: self, path: [])
        try output.encode(value)
        let text = try output.finish()
        guard !text.isEmpty else {
            throw EncodingError.invalidValue(value, .init(codingPath: [], debugDescription: "The value wrote nothing."))
        }
        if layout == JSONWritingOptions() { return text }
        // What was just written is well formed, but may be deeper than a parser accepts from strangers.
        return try JSON(parsing: text, options: JSONParsingOptions(maximumDepth: .max)).bytes(layout)
    }
}
