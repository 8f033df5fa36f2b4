/// Collects the elements of an array.
struct UnkeyedEncoding: UnkeyedEncodingContainer {
    private let encoder: ValueEncoder

    init(_ encoder: ValueEncoder) { self.encoder = encoder }

    var codingPath: [any CodingKey] { encoder.codingPath }
    var count: Int { encoder.elements.count }

    func encodeNil() { encoder.elements.append(.null) }

    func encode<Value: Encodable>(_ value: Value) throws {
        // Leaving out an element would shift those after it.
        encoder.elements.append(try encoder.encoded(value, at: .index(count)) ?? .null)
    }

    func encode(_ value: Bool) { encoder.elements.append(.bool(value)) }
    func encode(_ value: String) { encoder.elements.append(.string(value)) }
    func encode(_ value: Double) { encoder.elements.append(.double(value)) }
    func encode(_ value: Float) { encoder.elements.append(.double(Double(value))) }
    func encode(_ value: Int) { encoder.elements.append(.integer(Int64(value))) }
    func encode(_ value: Int8) { encoder.elements.append(.integer(Int64(value))) }
    func encode(_ value: Int16) { encoder.elements.append(.integer(Int64(value))) }
    func encode(_ value: Int32) { encoder.elements.append(.integer(Int64(value))) }
    func encode(_ value: Int64) { encoder.elements.append(.integer(Int64(value))) }
    func encode(_ value: UInt8) { encoder.elements.append(.integer(Int64(value))) }
    func encode(_ value: UInt16) { encoder.elements.append(.integer(Int64(value))) }
    func encode(_ value: UInt32) { encoder.elements.append(.integer(Int64(value))) }
    func encode(_ value: UInt) throws { encoder.elements.append(try encoder.fitting(value, at: .index(count))) }
    func encode(_ value: UInt64) throws { encoder.elements.append(try encoder.fitting(value, at: .index(count))) }

    func nestedContainer<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        encoder.nestedElement().container(keyedBy: type)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { encoder.nestedElement().unkeyedContainer() }
    func superEncoder() -> any Encoder { encoder.nestedElement() }
}
