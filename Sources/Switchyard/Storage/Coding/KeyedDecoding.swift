/// Looks up the fields of a map by name in place, without building a dictionary.
///
/// A class: the standard library's container copies what it holds for each call.
final class KeyedDecoding<Key: CodingKey>: KeyedDecodingContainerProtocol {
    private let decoder: ValueDecoder
    private let data: DocumentData

    init(_ decoder: ValueDecoder, _ data: DocumentData) {
        self.decoder = decoder
        self.data = data
    }

    var codingPath: [any CodingKey] { decoder.codingPath }

    var allKeys: [Key] {
        guard decoder.convertsKeys else { return data.names.compactMap(Key.init(stringValue:)) }
        return data.names.compactMap { decoder.context.names.key(Key.self, forField: $0) }
    }

    func contains(_ key: Key) -> Bool { data[name(key)] != nil }
    func decodeNil(forKey key: Key) throws -> Bool { try value(key).isNull }

    @inline(__always)
    private func name(_ key: Key) -> String {
        decoder.convertsKeys ? decoder.context.names.fieldName(for: key.stringValue) : key.stringValue
    }

    @inline(__always)
    private func value(_ key: Key) throws -> DocumentValue {
        guard let value = decoder.context.value(of: name(key), in: data) else { throw missing(key) }
        return value
    }

    /// `nil` for a missing or null field.
    @inline(__always)
    private func presentValue(_ key: Key) -> DocumentValue? {
        guard let value = decoder.context.value(of: name(key), in: data), !value.isNull else { return nil }
        return value
    }

    private func missing(_ key: Key) -> DecodingError {
        .keyNotFound(
            CodingStep.name(name(key)), DecodingError.Context(codingPath: decoder.codingPath, debugDescription: ""))
    }

    @inline(__always)
    private func required<Value>(
        _ key: Key, _ take: (DocumentValue) throws(CodingFailure) -> Value
    ) throws -> Value {
        try decoder.unbox(value(key), at: .name(name(key)), take)
    }

    @inline(__always)
    private func optional<Value>(
        _ key: Key, _ take: (DocumentValue) throws(CodingFailure) -> Value
    ) throws -> Value? {
        guard let value = presentValue(key) else { return nil }
        return try decoder.unbox(value, at: .name(name(key)), take)
    }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try decoder.decode(type, from: value(key), at: .name(name(key)))
    }

    func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
        guard let value = presentValue(key) else { return nil }
        return try decoder.decode(type, from: value, at: .name(name(key)))
    }

    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try required(key, Unboxing.bool) }
    func decode(_ type: String.Type, forKey key: Key) throws -> String { try required(key, Unboxing.string) }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try required(key, Unboxing.double) }
    func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try required(key, Unboxing.float) }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try required(key, Unboxing.integer) }
    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try required(key, Unboxing.integer) }
    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try required(key, Unboxing.integer) }
    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try required(key, Unboxing.integer) }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try required(key, Unboxing.integer) }
    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try required(key, Unboxing.integer) }
    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try required(key, Unboxing.integer) }
    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try required(key, Unboxing.integer) }
    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try required(key, Unboxing.integer) }
    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try required(key, Unboxing.integer) }

    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? { try optional(key, Unboxing.bool) }
    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? { try optional(key, Unboxing.string) }
    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? { try optional(key, Unboxing.double) }
    func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? { try optional(key, Unboxing.float) }
    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? { try optional(key, Unboxing.integer) }
    func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? { try optional(key, Unboxing.integer) }
    func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? { try optional(key, Unboxing.integer) }
    func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? { try optional(key, Unboxing.integer) }
    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? { try optional(key, Unboxing.integer) }
    func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? { try optional(key, Unboxing.integer) }
    func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? { try optional(key, Unboxing.integer) }
    func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? { try optional(key, Unboxing.integer) }
    func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? { try optional(key, Unboxing.integer) }
    func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? { try optional(key, Unboxing.integer) }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        try inner(value(key), key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try inner(value(key), key).unkeyedContainer()
    }

    func superDecoder() -> any Decoder { under("super") }

    /// Also for a field that is missing: its value is then null.
    func superDecoder(forKey key: Key) -> any Decoder { under(name(key)) }

    private func under(_ name: String) -> ValueDecoder {
        ValueDecoder(data[name] ?? .null, decoder.context, under: decoder, .name(name))
    }

    private func inner(_ value: DocumentValue, _ key: Key) -> ValueDecoder {
        ValueDecoder(value, decoder.context, under: decoder, .name(name(key)))
    }
}
