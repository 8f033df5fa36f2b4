import Foundation

/// Decodes a type from made-up values, and records what it asked for under which names.
struct FieldProbe: Decoder {
    /// A requested field.
    struct Node {
        let path: [String]
        let value: Any
        var isDocumentID = false
    }

    final class Record {
        /// The field that has its second value, including everything in it.
        let changed: [String]?
        var nodes: [Node] = []
        init(changed: [String]?) { self.changed = changed }
    }

    let record: Record
    /// The names that lead here.
    let path: [String]
    /// Whether values here are fields; elements of an array are not.
    let isField: Bool
    let depth: Int

    /// Stops types that contain themselves.
    private static let maximumDepth = 4

    init(_ record: Record) { self.init(record, [], isField: true, depth: 0) }

    private init(_ record: Record, _ path: [String], isField: Bool, depth: Int) {
        self.record = record
        self.path = path
        self.isField = isField
        self.depth = depth
    }

    var codingPath: [any CodingKey] { path.map { CodingStep.name($0) } }
    var userInfo: [CodingUserInfoKey: Any] { [:] }
    var isTooDeep: Bool { depth > FieldProbe.maximumDepth }
    /// Whether second values are used here.
    var isChanged: Bool { record.changed.map { path.starts(with: $0) } ?? false }

    func field(_ key: some CodingKey) -> FieldProbe {
        FieldProbe(record, path + [key.stringValue], isField: isField, depth: depth + 1)
    }

    func element() -> FieldProbe { FieldProbe(record, path, isField: false, depth: depth + 1) }

    /// Documents with names as types of IDs accept them: any text, a UUID, a number.
    private static let documents: [(plain: StoragePath, changed: StoragePath)] = [
        ("made/other", "made/up"),
        ("made/00000000-0000-4000-8000-000000000001", "made/00000000-0000-4000-8000-000000000002"),
        ("made/37", "made/73"),
    ]

    func documentID<Value: DocumentIDValue>(_ type: Value.Type) -> Value {
        let paths = FieldProbe.documents.map { isChanged ? $0.changed : $0.plain }
        let value = paths.lazy.compactMap { try? Value(documentPath: $0) }.first ?? Value.noDocumentID
        record.nodes.append(Node(path: path, value: value, isDocumentID: true))
        return value
    }

    /// A made-up value, recorded as that of the field.
    func noted<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let value = try made(type)
        if isField { record.nodes.append(Node(path: path, value: value)) }
        return value
    }

    func made<Value: Decodable>(_ type: Value.Type) throws -> Value {
        if let value = MadeUpValue.known(type, isChanged, path) as? Value { return value }
        guard !isTooDeep else { throw failure }
        do {
            return try Value(from: self)
        } catch {
            guard let value = MadeUpValue.tiny(type, isChanged) else { throw error }
            return value
        }
    }

    private var failure: DecodingError {
        .dataCorrupted(DecodingError.Context(codingPath: codingPath, debugDescription: "There is no made-up value."))
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(KeyedProbe(probe: self))
    }
    func unkeyedContainer() -> any UnkeyedDecodingContainer { UnkeyedProbe(probe: element()) }
    func singleValueContainer() -> any SingleValueDecodingContainer { self }
}

extension FieldProbe: SingleValueDecodingContainer {
    func decodeNil() -> Bool { isTooDeep }
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try made(type) }
}

private struct KeyedProbe<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let probe: FieldProbe

    var codingPath: [any CodingKey] { probe.codingPath }
    /// Dictionaries ask for this; they get one entry.
    var allKeys: [Key] { probe.isTooDeep ? [] : [Key(stringValue: probe.isChanged ? "b" : "a")].compactMap(\.self) }
    func contains(_ key: Key) -> Bool { true }
    func decodeNil(forKey key: Key) -> Bool { probe.isTooDeep }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try probe.field(key).noted(type)
    }
    func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
        probe.isTooDeep ? nil : try? probe.field(key).noted(type)
    }
    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedDecodingContainer<Nested> { probe.field(key).container(keyedBy: type) }
    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedDecodingContainer {
        probe.field(key).unkeyedContainer()
    }
    func superDecoder() -> any Decoder { probe }
    func superDecoder(forKey key: Key) -> any Decoder { probe.field(key) }
}

private struct UnkeyedProbe: UnkeyedDecodingContainer {
    let probe: FieldProbe
    var currentIndex = 0

    init(probe: FieldProbe) { self.probe = probe }

    var codingPath: [any CodingKey] { probe.codingPath }
    var count: Int? { probe.isTooDeep ? 0 : 1 }
    var isAtEnd: Bool { probe.isTooDeep || currentIndex > 0 }

    mutating func decodeNil() -> Bool { false }
    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        currentIndex += 1
        return try probe.made(type)
    }
    mutating func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedDecodingContainer<Nested> {
        currentIndex += 1
        return probe.container(keyedBy: type)
    }
    mutating func nestedUnkeyedContainer() -> any UnkeyedDecodingContainer {
        currentIndex += 1
        return probe.unkeyedContainer()
    }
    mutating func superDecoder() -> any Decoder {
        currentIndex += 1
        return probe
    }
}
