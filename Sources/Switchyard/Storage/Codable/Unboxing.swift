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
    ///
    /// Comparing types costs next to nothing, unlike casts; these come last, when it is known that they succeed.
    static func decode<Value>(_ type: Value.Type, from value: DocumentValue) throws(CodingFailure) -> Value? {
        if type == String.self { return try Unboxing.string(value) as? Value }
        if type == Int.self { return try (Unboxing.integer(value) as Int) as? Value }
        if type == Double.self { return try Unboxing.double(value) as? Value }
        if type == Date.self { return try timestamp(value).date as? Value }
        if type == Timestamp.self { return try timestamp(value) as? Value }
        if type == Data.self {
            guard case .bytes(let data) = value else { throw .found(value, expected: "bytes") }
            return data as? Value
        }
        if type == URL.self {
            guard let url = URL(string: try Unboxing.string(value)) else {
                throw CodingFailure(reason: "the text is no URL")
            }
            return url as? Value
        }
        if type == GeoPoint.self {
            guard case .geoPoint(let point) = value else { throw .found(value, expected: "a geo point") }
            return point as? Value
        }
        if type == StoragePath.self { return try path(value) as? Value }
        if type == DocumentReference.self {
            guard case .reference(let reference) = value else { throw .found(value, expected: "a reference") }
            return reference as? Value
        }
        if type == DocumentValue.self { return value as? Value }
        if type == DocumentData.self {
            guard case .map(let data) = value else { throw .found(value, expected: "a map") }
            return data as? Value
        }
        return nil
    }

    /// `nil` for all other types.
    static func encode<Value>(_ value: Value) -> DocumentValue? {
        let type = Value.self
        if type == String.self { return (value as? String).map { .string($0) } }
        if type == Int.self { return (value as? Int).map { .integer(Int64($0)) } }
        if type == Double.self { return (value as? Double).map { .double($0) } }
        if type == Date.self { return (value as? Date).map { .timestamp(Timestamp($0)) } }
        if type == Timestamp.self { return (value as? Timestamp).map { .timestamp($0) } }
        if type == Data.self { return (value as? Data).map { .bytes($0) } }
        if type == URL.self { return (value as? URL).map { .string($0.absoluteString) } }
        if type == GeoPoint.self { return (value as? GeoPoint).map { .geoPoint($0) } }
        if type == StoragePath.self { return (value as? StoragePath).map { .reference(DocumentReference($0)) } }
        if type == DocumentReference.self { return (value as? DocumentReference).map { .reference($0) } }
        if type == DocumentValue.self { return value as? DocumentValue }
        if type == DocumentData.self { return (value as? DocumentData).map { .map($0) } }
        return nil
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
