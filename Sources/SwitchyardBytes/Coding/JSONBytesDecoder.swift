/// Decodes any `Decodable` straight from the bytes of a text.
///
/// The text is checked once, whole, and indexed; values are made only where a type asks for them. `Date`, `Data` (base64),
/// `URL`, `Decimal` and `JSON` have their own spelling. Of a repeated key the first occurrence counts.
/// Throws `DecodingError` throughout; a malformed text is `.dataCorrupted` with the `JSONError` underneath.
package struct JSONBytesDecoder: Sendable {
    package var dates: JSONDateCoding
    package var keys: JSONKeyCoding
    package var parsing: JSONParsingOptions
    package var userInfo: [CodingUserInfoKey: any Sendable] = [:]

    package init(
        dates: JSONDateCoding = .rfc3339, keys: JSONKeyCoding = .asWritten, parsing: JSONParsingOptions = .init()
    ) {
        self.dates = dates
        self.keys = keys
        self.parsing = parsing
    }

    package func decode<T: Decodable>(_ type: T.Type = T.self, from text: [UInt8]) throws -> T {
        let index: JSONIndex
        do throws(JSONError) {
            index = try JSONIndex(text, parsing)
        } catch {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(codingPath: [], debugDescription: error.description, underlyingError: error))
        }
        let document = JSONDecodingDocument(text: text, index: index, settings: self)
        return try document.decode(type, at: 0)
    }

    package func decode<T: Decodable>(_ type: T.Type = T.self, from text: some Collection<UInt8>) throws -> T {
        try decode(type, from: Array(text))
    }
}
