import SwitchyardBytes

/// Decodes any `Decodable` directly from the bytes of a text.
///
/// The whole text is validated and indexed once; values are created only as a type requests them. `Date` (a timestamp with any
/// offset and fraction), `Data` (base64), `URL`, `Decimal` and `JSON` have special formats. For a repeated key, the first value
/// is used. All errors are `DecodingError`s; a malformed text is `.dataCorrupted` with the `JSONError` as underlying error.
package struct JSONBytesDecoder: Sendable {
    package init() {}

    package func decode<T: Decodable>(_ type: T.Type = T.self, from text: [UInt8]) throws -> T {
        let document: JSONDecodingDocument
        do throws(JSONError) {
            document = try JSONDecodingDocument(text)
        } catch {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(codingPath: [], debugDescription: error.description, underlyingError: error))
        }
        return try document.decode(type, at: 0)
    }

    package func decode<T: Decodable>(_ type: T.Type = T.self, from text: some Collection<UInt8>) throws -> T {
        try decode(type, from: Array(text))
    }
}
