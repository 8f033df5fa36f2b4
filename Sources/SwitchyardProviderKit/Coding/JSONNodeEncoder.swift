import SwitchyardBytes

/// The encoder of one value, which is also its single-value container.
struct JSONNodeEncoder: Encoder, SingleValueEncodingContainer {
    let output: JSONEncodingOutput
    let level: Int

    var codingPath: [any CodingKey] { output.path }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        output.open(.object, at: level)
        return KeyedEncodingContainer(JSONKeyedEncoding<Key>(output: output, level: level))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        output.open(.array, at: level)
        return JSONUnkeyedEncoding(output: output, level: level)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }

    @inline(__always)
    private func write(_ value: (inout [UInt8]) -> Void) throws { try output.single(at: level, value) }

    func encodeNil() throws { try write { JSONText.append(literal: "null", to: &$0) } }
    func encode(_ value: Bool) throws { try write { JSONText.append(value, to: &$0) } }
    func encode(_ value: String) throws { try write { JSONText.append(value, to: &$0) } }
    func encode(_ value: Int) throws { try write { JSONText.append(value, to: &$0) } }
    func encode(_ value: Int8) throws { try write { JSONText.append(value, to: &$0) } }
    func encode(_ value: Int16) throws { try write { JSONText.append(value, to: &$0) } }
    func encode(_ value: Int32) throws { try write { JSONText.append(value, to: &$0) } }
    func encode(_ value: Int64) throws { try write { JSONText.append(value, to: &$0) } }
    func encode(_ value: UInt) throws { try write { JSONText.append(value, to: &$0) } }
    func encode(_ value: UInt8) throws { try write { JSONText.append(value, to: &$0) } }
    func encode(_ value: UInt16) throws { try write { JSONText.append(value, to: &$0) } }
    func encode(_ value: UInt32) throws { try write { JSONText.append(value, to: &$0) } }
    func encode(_ value: UInt64) throws { try write { JSONText.append(value, to: &$0) } }

    func encode(_ value: Double) throws {
        try output.beginSingle(at: level)
        try output.write(value)
    }

    func encode(_ value: Float) throws {
        try output.beginSingle(at: level)
        try output.write(value)
    }

    func encode(_ value: some Encodable) throws {
        try output.beginSingle(at: level)
        try output.encode(value)
    }
}
