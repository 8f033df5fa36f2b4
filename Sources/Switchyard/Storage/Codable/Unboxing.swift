import Foundation

/// A document's plain values as Swift's.
enum Unboxing {
    static func bool(_ value: DocumentValue) throws(CodingFailure) -> Bool {
        guard case .bool(let value) = value else { throw .found(value, expected: "a bool") }
        return value
    }

    static func string(_ value: DocumentValue) throws(CodingFailure) -> String {
        guard case .string(let value) = value else { throw .found(value, expected: "a string") }
        return value
    }

    static func double(_ value: DocumentValue) throws(CodingFailure) -> Double {
        switch value {
        case .double(let value): return value
        case .integer(let value): return Double(value)
        default: throw .found(value, expected: "a number")
        }
    }

    static func float(_ value: DocumentValue) throws(CodingFailure) -> Float {
        let number = try double(value)
        let result = Float(number)
        guard result.isFinite || !number.isFinite else {
            throw CodingFailure(reason: "the number is too large for a Float")
        }
        return result
    }

    /// A whole number, also from a double that is one.
    static func integer<Value: FixedWidthInteger>(_ value: DocumentValue) throws(CodingFailure) -> Value {
        switch value {
        case .integer(let number):
            if let result = Value(exactly: number) { return result }
        case .double(let number):
            guard let result = Value(exactly: number) else { break }
            return result
        default: throw .found(value, expected: "a whole number")
        }
        throw CodingFailure(reason: "the number does not fit into \(Value.self)")
    }
}

/// The types that documents hold as they are, so that neither their `init(from:)` nor their `encode(to:)` is asked.
enum NativeValues {
    /// `nil` for all other types.
    @inline(__always)
    static func decode<Value>(_ type: Value.Type, from value: DocumentValue) throws(CodingFailure) -> Value? {
        if type == String.self { return same(try Unboxing.string(value), as: type) }
        if type == Int.self { return same(try Unboxing.integer(value) as Int, as: type) }
        if type == Double.self { return same(try Unboxing.double(value), as: type) }
        if type == Date.self { return same(try timestamp(value).date, as: type) }
        return try decodeOther(type, from: value)
    }

    private static func decodeOther<Value>(
        _ type: Value.Type, from value: DocumentValue
    ) throws(CodingFailure) -> Value? {
        if type == [String].self { return strings(value).map { same($0, as: type) } }
        if type == Timestamp.self { return same(try timestamp(value), as: type) }
        if type == Data.self {
            guard case .bytes(let data) = value else { throw .found(value, expected: "bytes") }
            return same(data, as: type)
        }
        if type == URL.self {
            guard let url = URL(string: try Unboxing.string(value)) else {
                throw CodingFailure(reason: "the text is no URL")
            }
            return same(url, as: type)
        }
        if type == GeoPoint.self {
            guard case .geoPoint(let point) = value else { throw .found(value, expected: "a geo point") }
            return same(point, as: type)
        }
        if type == StoragePath.self { return same(try path(value), as: type) }
        if type == DocumentReference.self {
            guard case .reference(let reference) = value else { throw .found(value, expected: "a reference") }
            return same(reference, as: type)
        }
        if type == DocumentValue.self { return same(value, as: type) }
        if type == DocumentData.self {
            guard case .map(let data) = value else { throw .found(value, expected: "a map") }
            return same(data, as: type)
        }
        return nil
    }

    /// `nil` for all other types.
    @inline(__always)
    static func encode<Value>(_ value: Value) -> DocumentValue? {
        let type = Value.self
        if type == String.self { return .string(same(value, as: String.self)) }
        if type == Int.self { return .integer(Int64(same(value, as: Int.self))) }
        if type == Double.self { return .double(same(value, as: Double.self)) }
        if type == Date.self { return .timestamp(Timestamp(same(value, as: Date.self))) }
        return encodeOther(value)
    }

    private static func encodeOther<Value>(_ value: Value) -> DocumentValue? {
        let type = Value.self
        if type == [String].self { return .array(same(value, as: [String].self).map { .string($0) }) }
        if type == Timestamp.self { return .timestamp(same(value, as: Timestamp.self)) }
        if type == Data.self { return .bytes(same(value, as: Data.self)) }
        if type == URL.self { return .string(same(value, as: URL.self).absoluteString) }
        if type == GeoPoint.self { return .geoPoint(same(value, as: GeoPoint.self)) }
        if type == StoragePath.self { return .reference(DocumentReference(same(value, as: StoragePath.self))) }
        if type == DocumentReference.self { return .reference(same(value, as: DocumentReference.self)) }
        if type == DocumentValue.self { return same(value, as: DocumentValue.self) }
        if type == DocumentData.self { return .map(same(value, as: DocumentData.self)) }
        return nil
    }

    /// A value as what it is. A checked cast looks up types at run time and takes longer than all the rest.
    ///
    /// Safe because each caller has just found the two types to be one and the same.
    @inline(__always)
    private static func same<From, To>(_ value: From, as type: To.Type) -> To {
        unsafeBitCast(value, to: type)
    }

    /// `nil` when it is anything else; then going element by element finds out which does not fit.
    private static func strings(_ value: DocumentValue) -> [String]? {
        guard case .array(let elements) = value else { return nil }
        var strings: [String] = []
        strings.reserveCapacity(elements.count)
        for element in elements {
            guard case .string(let string) = element else { return nil }
            strings.append(string)
        }
        return strings
    }

    private static func timestamp(_ value: DocumentValue) throws(CodingFailure) -> Timestamp {
        guard case .timestamp(let time) = value else { throw .found(value, expected: "a timestamp") }
        return time
    }

    /// Paths are references; text is taken too, since programs without references write it.
    private static func path(_ value: DocumentValue) throws(CodingFailure) -> StoragePath {
        switch value {
        case .reference(let reference): return reference.path
        case .string(let text):
            do throws(StorageError) {
                return try StoragePath(validating: text)
            } catch {
                throw CodingFailure(reason: "the text is no document path")
            }
        default: throw .found(value, expected: "a reference")
        }
    }
}
