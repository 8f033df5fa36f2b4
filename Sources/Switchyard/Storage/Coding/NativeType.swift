import Foundation

/// A type that documents store directly, bypassing its `init(from:)` and `encode(to:)`.
enum NativeType {
    case string, integer, double, date, strings, timestamp, bytes, url, decimal, geoPoint, path, reference, value, data

    /// `nil` for all other types. Types are compared by identity, which costs next to nothing.
    @inline(__always)
    init?<Value>(_ type: Value.Type) {
        if type == String.self {
            self = .string
        } else if type == Int.self {
            self = .integer
        } else if type == Double.self {
            self = .double
        } else if type == Date.self {
            self = .date
        } else if type == [String].self {
            self = .strings
        } else {
            self.init(rarer: type)
        }
    }

    private init?<Value>(rarer type: Value.Type) {
        if type == Timestamp.self {
            self = .timestamp
        } else if type == Data.self {
            self = .bytes
        } else if type == URL.self {
            self = .url
        } else if type == Decimal.self {
            self = .decimal
        } else if type == GeoPoint.self {
            self = .geoPoint
        } else if type == StoragePath.self {
            self = .path
        } else if type == DocumentReference.self {
            self = .reference
        } else if type == DocumentValue.self {
            self = .value
        } else if type == DocumentData.self {
            self = .data
        } else {
            return nil
        }
    }

    /// Whether a value needs the type's own code: one that this wrote, as a `Decimal` by earlier versions, or a list with an
    /// element that is no text, of which that says where it is.
    @inline(__always)
    func isInParts(in value: DocumentValue) -> Bool {
        switch self {
        case .decimal: if case .map = value { true } else { false }
        case .strings: !NativeType.isListOfTexts(value)
        default: false
        }
    }

    private static func isListOfTexts(_ value: DocumentValue) -> Bool {
        guard case .array(let elements) = value else { return false }
        return elements.allSatisfy { if case .string = $0 { true } else { false } }
    }

    /// - Parameter type: The type that this stands for.
    func decode<Value>(_ type: Value.Type, from value: DocumentValue) throws(CodingFailure) -> Value {
        switch self {
        case .string: return same(try Unboxing.string(value))
        case .integer: return same(try Unboxing.integer(value) as Int)
        case .double: return same(try Unboxing.double(value))
        case .date: return same(try Unboxing.timestamp(value).date)
        case .strings:
            guard case .array(let elements) = value else { throw .found(value, expected: "an array") }
            var strings: [String] = []
            strings.reserveCapacity(elements.count)
            for element in elements { strings.append(try Unboxing.string(element)) }
            return same(strings)
        case .timestamp: return same(try Unboxing.timestamp(value))
        case .bytes:
            guard case .bytes(let data) = value else { throw .found(value, expected: "bytes") }
            return same(data)
        case .url:
            guard let url = URL(string: try Unboxing.string(value)) else {
                throw CodingFailure(reason: "the text is not a URL")
            }
            return same(url)
        case .decimal: return same(try Unboxing.decimal(value))
        case .geoPoint:
            guard case .geoPoint(let point) = value else { throw .found(value, expected: "a geo point") }
            return same(point)
        case .path: return same(try Unboxing.path(value))
        case .reference:
            guard case .reference(let reference) = value else { throw .found(value, expected: "a reference") }
            return same(reference)
        case .value: return same(value)
        case .data:
            guard case .map(let data) = value else { throw .found(value, expected: "a map") }
            return same(data)
        }
    }

    /// - Parameter value: Of the type that this stands for.
    func encode<Value>(_ value: Value) -> DocumentValue {
        switch self {
        case .string: .string(same(value))
        case .integer: .integer(Int64(same(value) as Int))
        case .double: .double(same(value))
        case .date: .timestamp(Timestamp(same(value) as Date))
        case .strings: .array((same(value) as [String]).map { .string($0) })
        case .timestamp: .timestamp(same(value))
        case .bytes: .bytes(same(value))
        case .url: .string((same(value) as URL).absoluteString)
        case .decimal: DocumentValue(same(value) as Decimal)
        case .geoPoint: .geoPoint(same(value))
        case .path: .reference(DocumentReference(same(value) as StoragePath))
        case .reference: .reference(same(value))
        case .value: same(value)
        case .data: .map(same(value))
        }
    }
}

/// An unchecked cast. A checked one looks up types at run time and takes longer than everything else.
///
/// For callers that have just checked that the two types are identical.
@inline(__always)
func same<From, To>(_ value: From) -> To { unsafeBitCast(value, to: To.self) }
