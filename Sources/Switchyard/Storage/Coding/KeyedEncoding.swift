/// Collects fields in the order of encoding; sorts them once, at the end.
struct KeyedEncoding<Key: CodingKey>: KeyedEncodingContainerProtocol {
    private let encoder: ValueEncoder

    init(_ encoder: ValueEncoder) { self.encoder = encoder }

    var codingPath: [any CodingKey] { encoder.codingPath }

    @inline(__always)
    private func name(_ key: Key) -> String {
        encoder.convertsKeys ? encoder.context.names.fieldName(for: key.stringValue) : key.stringValue
    }

    @inline(__always)
    private func add(_ value: DocumentValue, _ key: Key) {
        encoder.entries.append(DocumentData.Entry(name: name(key), value: value))
    }

    func encodeNil(forKey key: Key) { add(.null, key) }

    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
        if let encoded = try encoder.encoded(value, at: .name(name(key))) { add(encoded, key) }
    }

    func encode(_ value: Bool, forKey key: Key) { add(.bool(value), key) }
    func encode(_ value: String, forKey key: Key) { add(.string(value), key) }
    func encode(_ value: Double, forKey key: Key) { add(.double(value), key) }
    func encode(_ value: Float, forKey key: Key) { add(.double(Double(value)), key) }
    func encode(_ value: Int, forKey key: Key) { add(.integer(Int64(value)), key) }
    func encode(_ value: Int8, forKey key: Key) { add(.integer(Int64(value)), key) }
    func encode(_ value: Int16, forKey key: Key) { add(.integer(Int64(value)), key) }
    func encode(_ value: Int32, forKey key: Key) { add(.integer(Int64(value)), key) }
    func encode(_ value: Int64, forKey key: Key) { add(.integer(Int64(value)), key) }
    func encode(_ value: UInt8, forKey key: Key) { add(.integer(Int64(value)), key) }
    func encode(_ value: UInt16, forKey key: Key) { add(.integer(Int64(value)), key) }
    func encode(_ value: UInt32, forKey key: Key) { add(.integer(Int64(value)), key) }
    func encode(_ value: UInt, forKey key: Key) throws { add(try encoder.fitting(value, at: .name(name(key))), key) }
    func encode(_ value: UInt64, forKey key: Key) throws { add(try encoder.fitting(value, at: .name(name(key))), key) }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        encoder.nested(named: name(key)).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        encoder.nested(named: name(key)).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { encoder.nested(named: "super") }
    func superEncoder(forKey key: Key) -> any Encoder { encoder.nested(named: name(key)) }
}
