public import Foundation

/// One value of a document: the types that every backend can keep.
///
/// Equality is exact: `1` and `1.0` differ, as do `0.0` and `-0.0`; NaN equals itself; text is equal only byte by byte. (The
/// order used by queries differs: there `1` and `1.0` are the same.)
public enum DocumentValue: Sendable {
    case null
    case bool(Bool)
    case integer(Int64)
    case double(Double)
    case timestamp(Timestamp)
    case string(String)
    case bytes(Data)
    case reference(DocumentReference)
    case geoPoint(GeoPoint)
    case array([DocumentValue])
    case vector([Double])
    case map(DocumentData)
}

extension DocumentValue: Hashable {
    public static func == (left: DocumentValue, right: DocumentValue) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.bool(let left), .bool(let right)): left == right
        case (.integer(let left), .integer(let right)): left == right
        case (.double(let left), .double(let right)): left.isIdentical(to: right)
        case (.timestamp(let left), .timestamp(let right)): left == right
        case (.string(let left), .string(let right)): left.utf8Equals(right)
        case (.bytes(let left), .bytes(let right)): left == right
        case (.reference(let left), .reference(let right)): left == right
        case (.geoPoint(let left), .geoPoint(let right)): left == right
        case (.array(let left), .array(let right)): left == right
        case (.vector(let left), .vector(let right)):
            left.count == right.count && zip(left, right).allSatisfy { $0.isIdentical(to: $1) }
        case (.map(let left), .map(let right)): left == right
        default: false
        }
    }

    public func hash(into hasher: inout Hasher) {
        switch self {
        case .null: hasher.combine(0 as UInt8)
        case .bool(let value): hasher.combine(value)
        case .integer(let value): hasher.combine(value)
        case .double(let value): hasher.combine(value.isNaN ? Double.nan.bitPattern : value.bitPattern)
        case .timestamp(let value): hasher.combine(value)
        case .string(let value): value.hashUTF8(into: &hasher)
        case .bytes(let value): hasher.combine(value)
        case .reference(let value): hasher.combine(value)
        case .geoPoint(let value): hasher.combine(value)
        case .array(let value): hasher.combine(value)
        case .vector(let value): hasher.combine(value.count)
        case .map(let value): hasher.combine(value)
        }
    }
}

extension Double {
    /// The same bits, with all NaNs one and the same.
    fileprivate func isIdentical(to other: Double) -> Bool {
        bitPattern == other.bitPattern || (isNaN && other.isNaN)
    }
}

/// A Swift value that can be a document value: literals, numbers, strings, dates, paths, and arrays of these.
public protocol DocumentValueConvertible {
    var documentValue: DocumentValue { get }
}

extension DocumentValue: DocumentValueConvertible {
    public var documentValue: DocumentValue { self }

    /// The value of a variable, as in `["name": .of(name)]`.
    public static func of(_ value: some DocumentValueConvertible) -> DocumentValue { value.documentValue }
}

extension Bool: DocumentValueConvertible { public var documentValue: DocumentValue { .bool(self) } }
extension Int: DocumentValueConvertible { public var documentValue: DocumentValue { .integer(Int64(self)) } }
extension Int64: DocumentValueConvertible { public var documentValue: DocumentValue { .integer(self) } }
extension Double: DocumentValueConvertible { public var documentValue: DocumentValue { .double(self) } }
extension String: DocumentValueConvertible { public var documentValue: DocumentValue { .string(self) } }
extension Data: DocumentValueConvertible { public var documentValue: DocumentValue { .bytes(self) } }
extension Date: DocumentValueConvertible { public var documentValue: DocumentValue { .timestamp(Timestamp(self)) } }
extension Timestamp: DocumentValueConvertible { public var documentValue: DocumentValue { .timestamp(self) } }
extension GeoPoint: DocumentValueConvertible { public var documentValue: DocumentValue { .geoPoint(self) } }
extension StoragePath: DocumentValueConvertible {
    public var documentValue: DocumentValue { .reference(DocumentReference(self)) }
}
extension DocumentReference: DocumentValueConvertible {
    public var documentValue: DocumentValue { .reference(self) }
}
extension DocumentData: DocumentValueConvertible { public var documentValue: DocumentValue { .map(self) } }
extension Array: DocumentValueConvertible where Element: DocumentValueConvertible {
    public var documentValue: DocumentValue { .array(map(\.documentValue)) }
}
extension Optional: DocumentValueConvertible where Wrapped: DocumentValueConvertible {
    public var documentValue: DocumentValue { self?.documentValue ?? .null }
}

// No nil literal: `isThere ? value : nil` would then silently mean null instead of a missing value. Write `.null`.
extension DocumentValue: ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByStringLiteral, ExpressibleByStringInterpolation, ExpressibleByArrayLiteral,
    ExpressibleByDictionaryLiteral
{
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    public init(integerLiteral value: Int64) { self = .integer(value) }
    public init(floatLiteral value: Double) { self = .double(value) }
    public init(stringLiteral value: String) { self = .string(value) }
    public init(arrayLiteral elements: DocumentValue...) { self = .array(elements) }
    public init(dictionaryLiteral elements: (String, DocumentValue)...) { self = .map(DocumentData(elements)) }
}

/// Shorthands to read a value; `nil` if it is of another type.
extension DocumentValue {
    public var boolValue: Bool? { if case .bool(let value) = self { value } else { nil } }
    public var stringValue: String? { if case .string(let value) = self { value } else { nil } }
    public var timestampValue: Timestamp? { if case .timestamp(let value) = self { value } else { nil } }
    public var dateValue: Date? { timestampValue?.date }
    public var bytesValue: Data? { if case .bytes(let value) = self { value } else { nil } }
    public var referenceValue: DocumentReference? { if case .reference(let value) = self { value } else { nil } }
    public var geoPointValue: GeoPoint? { if case .geoPoint(let value) = self { value } else { nil } }
    public var arrayValue: [DocumentValue]? { if case .array(let value) = self { value } else { nil } }
    public var vectorValue: [Double]? { if case .vector(let value) = self { value } else { nil } }
    public var mapValue: DocumentData? { if case .map(let value) = self { value } else { nil } }
    public var isNull: Bool { if case .null = self { true } else { false } }

    /// The integer, or a double without a fraction.
    public var integerValue: Int64? {
        switch self {
        case .integer(let value): value
        case .double(let value): Int64(exactly: value)
        default: nil
        }
    }

    /// The double, or an integer as the nearest double.
    public var doubleValue: Double? {
        switch self {
        case .double(let value): value
        case .integer(let value): Double(value)
        default: nil
        }
    }
}

extension DocumentValue: CustomStringConvertible, CustomDebugStringConvertible {
    /// The kind of value, never the value: descriptions end up in logs.
    public var description: String { "DocumentValue(\(kind))" }
    public var debugDescription: String { description }

    /// `"string"`, `"map"` …, for error texts.
    package var kind: String {
        switch self {
        case .null: "null"
        case .bool: "bool"
        case .integer: "integer"
        case .double: "double"
        case .timestamp: "timestamp"
        case .string: "string"
        case .bytes: "bytes"
        case .reference: "reference"
        case .geoPoint: "geo point"
        case .array: "array"
        case .vector: "vector"
        case .map: "map"
        }
    }

    /// What it is, for an error message, without its contents.
    package var kindName: String {
        switch self {
        case .null, .bytes: kind
        case .integer, .array: "an \(kind)"
        default: "a \(kind)"
        }
    }
}
