/// What a write does to a field: sets a value or a map, which may itself contain transforms, applies a transform, or removes
/// it.
///
/// ```swift
/// try await storage.updateDocument("users/alice", ["name": "Alice", "visits": .increment(1), "nickname": .delete])
/// ```
public enum FieldValue: Sendable, Hashable {
    case value(DocumentValue)
    /// A map some of whose fields are transforms or removals.
    case fields(WriteFields)
    case transform(FieldTransform.Operation)
    /// Removes the field. Only in merges and updates.
    case delete

    /// Null, which is a value; to remove the field, use ``delete``.
    public static let null = FieldValue.value(.null)
    /// The time at which the server commits the write.
    public static let serverTime = FieldValue.transform(.serverTime)
    public static func increment(_ number: FieldTransform.Number) -> FieldValue { .transform(.increment(number)) }
    public static func increment(_ number: Int) -> FieldValue { .transform(.increment(.integer(Int64(number)))) }
    public static func increment(_ number: Double) -> FieldValue { .transform(.increment(.double(number))) }
    public static func maximum(_ number: FieldTransform.Number) -> FieldValue { .transform(.maximum(number)) }
    public static func minimum(_ number: FieldTransform.Number) -> FieldValue { .transform(.minimum(number)) }
    public static func arrayUnion(_ elements: DocumentValue...) -> FieldValue { .transform(.arrayUnion(elements)) }
    public static func arrayRemove(_ elements: DocumentValue...) -> FieldValue { .transform(.arrayRemove(elements)) }

    public init(_ value: some DocumentValueConvertible) { self = .value(value.documentValue) }
    /// Shorthand for a variable: `["name": .of(name)]`.
    public static func of(_ value: some DocumentValueConvertible) -> FieldValue { .value(value.documentValue) }
}

extension FieldValue: ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByStringLiteral, ExpressibleByStringInterpolation, ExpressibleByArrayLiteral,
    ExpressibleByDictionaryLiteral
{
    public init(booleanLiteral value: Bool) { self = .value(.bool(value)) }
    public init(integerLiteral value: Int64) { self = .value(.integer(value)) }
    public init(floatLiteral value: Double) { self = .value(.double(value)) }
    public init(stringLiteral value: String) { self = .value(.string(value)) }
    public init(arrayLiteral elements: DocumentValue...) { self = .value(.array(elements)) }
    public init(dictionaryLiteral elements: (String, FieldValue)...) { self = .fields(WriteFields(elements)) }
}

/// The fields of a set, create or merge, with literal names: dots have no meaning.
public struct WriteFields: Sendable, Hashable, ExpressibleByDictionaryLiteral {
    package var entries: [(name: String, value: FieldValue)]

    /// Of two entries with the same name the later one wins.
    public init(_ entries: some Sequence<(String, FieldValue)>) {
        self.entries = entries.map { (name: $0.0, value: $0.1) }
        var last: [UTF8Key: Int] = [:]
        for (index, entry) in self.entries.enumerated() { last[UTF8Key(entry.name)] = index }
        guard last.count < self.entries.count else { return }
        self.entries = self.entries.enumerated().filter { last[UTF8Key($1.name)] == $0 }.map(\.element)
    }

    public init(_ data: DocumentData) {
        entries = data.entries.map { ($0.name, .value($0.value)) }
    }

    public init(dictionaryLiteral elements: (String, FieldValue)...) { self.init(elements) }

    public subscript(name: String) -> FieldValue? {
        get { entries.first { $0.name.utf8Equals(name) }?.value }
        set {
            let index = entries.firstIndex { $0.name.utf8Equals(name) }
            switch (newValue, index) {
            case (let value?, let index?): entries[index].value = value
            case (let value?, nil): entries.append((name, value))
            case (nil, let index?): entries.remove(at: index)
            case (nil, nil): break
            }
        }
    }

    public var isEmpty: Bool { entries.isEmpty }

    public static func == (left: WriteFields, right: WriteFields) -> Bool {
        left.entries.count == right.entries.count
            && zip(left.entries, right.entries).allSatisfy { $0.name.utf8Equals($1.name) && $0.value == $1.value }
    }

    public func hash(into hasher: inout Hasher) {
        for entry in entries { entry.name.hashUTF8(into: &hasher) }
    }
}

/// The fields of an update: each key is a path, so `"address.city"` touches only the city.
public struct FieldUpdates: Sendable, Hashable, ExpressibleByDictionaryLiteral {
    package struct Entry: Sendable, Hashable {
        package let field: FieldPath
        package let value: FieldValue
    }
    package private(set) var entries: [Entry]

    public init(_ entries: some Sequence<(FieldPath, FieldValue)>) {
        self.entries = entries.map { Entry(field: $0, value: $1) }
    }

    public init(dictionaryLiteral elements: (FieldPath, FieldValue)...) { self.init(elements) }

    public mutating func set(_ field: FieldPath, _ value: FieldValue) {
        entries.append(Entry(field: field, value: value))
    }

    public var isEmpty: Bool { entries.isEmpty }
}
