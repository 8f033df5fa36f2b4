import Foundation
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

/// The decoder of one value, which is also its single-value container.
struct JSONNodeDecoder: Decoder, SingleValueDecodingContainer {
    let document: JSONDecodingDocument
    let place: Int

    var codingPath: [any CodingKey] { document.path(to: place) }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard document.kind(at: place) == .object else { throw document.mismatch([String: Any].self, at: place) }
        return KeyedDecodingContainer(JSONKeyedDecoding(document: document, object: place))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard document.kind(at: place) == .array else { throw document.mismatch([Any].self, at: place) }
        return JSONUnkeyedDecoding(document: document, array: place)
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { self }

    func decodeNil() -> Bool { document.kind(at: place) == .null }
    func decode(_ type: Bool.Type) throws -> Bool { try document.bool(at: place) }
    func decode(_ type: String.Type) throws -> String { try document.string(type, at: place) }
    func decode(_ type: Double.Type) throws -> Double { try document.double(at: place) }
    func decode(_ type: Float.Type) throws -> Float { try document.float(at: place) }
    func decode(_ type: Int.Type) throws -> Int { try document.integer(type, at: place) }
    func decode(_ type: Int8.Type) throws -> Int8 { try document.integer(type, at: place) }
    func decode(_ type: Int16.Type) throws -> Int16 { try document.integer(type, at: place) }
    func decode(_ type: Int32.Type) throws -> Int32 { try document.integer(type, at: place) }
    func decode(_ type: Int64.Type) throws -> Int64 { try document.integer(type, at: place) }
    func decode(_ type: UInt.Type) throws -> UInt { try document.integer(type, at: place) }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try document.integer(type, at: place) }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try document.integer(type, at: place) }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try document.integer(type, at: place) }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try document.integer(type, at: place) }
    func decode<T: Decodable>(_ type: T.Type) throws -> T { try document.decode(type, at: place) }
}

extension JSONDecodingDocument {
    func integer<T: FixedWidthInteger>(_ type: T.Type, at place: Int) throws -> T {
        guard let value = try wideInteger(type, at: place).flatMap(T.init(exactly:)) else {
            throw corrupted("The number does not fit \(type).", at: place)
        }
        return value
    }

    /// Gives `Date`, `Data`, `JSON`, `URL` and `Decimal` special formats.
    func decode<T: Decodable>(_ type: T.Type, at place: Int) throws -> T {
        if type == Date.self, let value = try date(at: place) as? T { return value }
        if type == Data.self, let value = try data(at: place) as? T { return value }
        if type == JSON.self, let value = try json(at: place) as? T { return value }
        if type == URL.self, let value = try url(at: place) as? T { return value }
        if type == Decimal.self, let value = try decimal(at: place) as? T { return value }
        return try T(from: JSONNodeDecoder(document: self, place: place))
    }

    private func date(at place: Int) throws -> Date {
        let moment = try timestamp(Date.self, at: place)
        return Date(timeIntervalSince1970: Double(moment.seconds) + Double(moment.nanoseconds) / 1e9)
    }

    private func data(at place: Int) throws -> Data {
        let text = try string(Data.self, at: place)
        guard let bytes = Base64.decode(text.utf8) else { throw corrupted("Not base64.", at: place) }
        return Data(bytes)
    }

    private func url(at place: Int) throws -> URL {
        guard let url = URL(string: try string(URL.self, at: place)) else { throw corrupted("Not a URL.", at: place) }
        return url
    }

    private func decimal(at place: Int) throws -> Decimal {
        guard let value = Decimal(string: try literal(ofNumber: Decimal.self, at: place)) else {
            throw corrupted("The number does not fit Decimal.", at: place)
        }
        return value
    }
}
