import SwitchyardBytes

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
