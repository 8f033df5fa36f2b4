import SwitchyardBytes

/// Encodes any `Encodable` into the bytes of a text, without an intermediate value.
///
/// Members are written in the type's order. `Date` (a timestamp with microseconds, its full precision), `Data` (base64), `URL`,
/// `Decimal` and `JSON` have special formats. Throws `EncodingError` for a number that is not finite, for a duplicate key, and
/// for a value that writes nothing.
package struct JSONBytesEncoder: Sendable {
    package init() {}

    package func encode(_ value: some Encodable) throws -> [UInt8] {
        let output = JSONEncodingOutput(path: [])
        try output.encode(value)
        let text = try output.finish()
        guard !text.isEmpty else {
            throw EncodingError.invalidValue(value, .init(codingPath: [], debugDescription: "The value wrote nothing."))
        }
        return text
    }
}

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
