import SwitchyardBytes

/// The members of an object.
struct JSONKeyedEncoding<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let output: JSONEncodingOutput
    let level: Int

    var codingPath: [any CodingKey] { output.path }

    /// Writes key and value in one step.
    @inline(__always)
    private func write(_ key: Key, _ value: (inout [UInt8]) -> Void) throws {
        try output.member(key.stringValue, at: level, value)
    }

    func encodeNil(forKey key: Key) throws { try write(key) { JSONText.append(literal: "null", to: &$0) } }
    func encode(_ value: Bool, forKey key: Key) throws { try write(key) { JSONText.append(value, to: &$0) } }
    func encode(_ value: String, forKey key: Key) throws { try write(key) { JSONText.append(value, to: &$0) } }
    func encode(_ value: Int, forKey key: Key) throws { try write(key) { JSONText.append(value, to: &$0) } }
    func encode(_ value: Int8, forKey key: Key) throws { try write(key) { JSONText.append(value, to: &$0) } }
    func encode(_ value: Int16, forKey key: Key) throws { try write(key) { JSONText.append(value, to: &$0) } }
    func encode(_ value: Int32, forKey key: Key) throws { try write(key) { JSONText.append(value, to: &$0) } }
    func encode(_ value: Int64, forKey key: Key) throws { try write(key) { JSONText.append(value, to: &$0) } }
    func encode(_ value: UInt, forKey key: Key) throws { try write(key) { JSONText.append(value, to: &$0) } }
    func encode(_ value: UInt8, forKey key: Key) throws { try write(key) { JSONText.append(value, to: &$0) } }
    func encode(_ value: UInt16, forKey key: Key) throws { try write(key) { JSONText.append(value, to: &$0) } }
    func encode(_ value: UInt32, forKey key: Key) throws { try write(key) { JSONText.append(value, to: &$0) } }
    func encode(_ value: UInt64, forKey key: Key) throws { try write(key) { JSONText.append(value, to: &$0) } }

    func encode(_ value: Double, forKey key: Key) throws {
        try output.beginMember(key.stringValue, at: level)
        try output.write(value)
    }

    func encode(_ value: Float, forKey key: Key) throws {
        try output.beginMember(key.stringValue, at: level)
        try output.write(value)
    }

    func encode(_ value: some Encodable, forKey key: Key) throws {
        try output.beginMember(key.stringValue, at: level)
        try output.encode(value)
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy keyType: NestedKey.Type, forKey key: Key
    ) -> KeyedEncodingContainer<NestedKey> {
        detached(at: key).container(keyedBy: keyType)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        detached(at: key).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { detached(at: JSONKey("super")) }

    func superEncoder(forKey key: Key) -> any Encoder { detached(at: key) }

    private func detached(at key: some CodingKey) -> JSONNodeEncoder {
        output.detached(at: level) { try output.beginMember(key.stringValue, at: level) }
    }
}
