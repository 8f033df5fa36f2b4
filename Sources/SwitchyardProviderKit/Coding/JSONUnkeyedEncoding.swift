import SwitchyardBytes

/// The elements of an array.
struct JSONUnkeyedEncoding: UnkeyedEncodingContainer {
    let output: JSONEncodingOutput
    let level: Int

    var codingPath: [any CodingKey] { output.path }
    var count: Int { output.count(at: level) }

    /// Writes comma and value in one step.
    @inline(__always)
    private func write(_ value: (inout [UInt8]) -> Void) throws { try output.element(at: level, value) }

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
        try output.beginElement(at: level)
        try output.write(value)
    }

    func encode(_ value: Float) throws {
        try output.beginElement(at: level)
        try output.write(value)
    }

    func encode(_ value: some Encodable) throws {
        try output.beginElement(at: level)
        try output.encode(value)
    }

    func nestedContainer<NestedKey: CodingKey>(keyedBy keyType: NestedKey.Type) -> KeyedEncodingContainer<NestedKey> {
        detached().container(keyedBy: keyType)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { detached().unkeyedContainer() }

    func superEncoder() -> any Encoder { detached() }

    private func detached() -> JSONNodeEncoder {
        output.detached(at: level) { try output.beginElement(at: level) }
    }
}
