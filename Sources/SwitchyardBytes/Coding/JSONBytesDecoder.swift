/// Decodes any `Decodable` straight from the bytes of a text.
///
/// The text is checked once, whole, and indexed; values are made only where a type asks for them. `Date` (a timestamp of any
/// offset and fraction), `Data` (base64), `URL`, `Decimal` and `JSON` have their own spelling. Of a repeated key the first
/// occurrence counts.
/// Throws `DecodingError` throughout; a malformed text is `.dataCorrupted` with the `JSONError` underneath.
package struct JSONBytesDecoder: Sendable {
    package init() {}

    package func decode<T: Decodable>(_ type: T.Type = T.self, from text: [UInt8]) throws -> T {
        let index: JSONIndex
        do throws(JSONError) {
            index = try JSONIndex(text)
        } catch {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(codingPath: [], debugDescription: error.description, underlyingError: error))
        }
        let document = JSONDecodingDocument(text: text, index: index)
        return try document.decode(type, at: 0)
    }

    package func decode<T: Decodable>(_ type: T.Type = T.self, from text: some Collection<UInt8>) throws -> T {
        try decode(type, from: Array(text))
    }
}
