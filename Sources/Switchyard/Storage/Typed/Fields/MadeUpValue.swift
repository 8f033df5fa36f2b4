import Foundation

/// Two different values of a type, for ``FieldProbe``.
enum MadeUpValue {
    /// A value of a known type, or of one that lists its values; `nil` for all others.
    static func known(_ type: Any.Type, _ isSecond: Bool, _ path: [String]) -> Any? {
        switch type {
        case is String.Type: return path.joined(separator: "/") + (isSecond ? " 2" : " 1")
        case is Bool.Type: return isSecond
        case is Double.Type: return isSecond ? 73.25 : 37.5
        case is Float.Type: return isSecond ? Float(73.25) : Float(37.5)
        case is Date.Type: return Date(timeIntervalSince1970: isSecond ? 73_000 : 37_000)
        case is Timestamp.Type: return Timestamp(microseconds: isSecond ? 73_000 : 37_000)
        case is Data.Type: return Data([isSecond ? 73 : 37])
        case is URL.Type: return URL(string: isSecond ? "https://b.example/2" : "https://a.example/1")
        case is UUID.Type:
            return UUID(uuidString: "00000000-0000-4000-8000-00000000000\(isSecond ? 2 : 1)")
        case is Decimal.Type: return Decimal(isSecond ? 73 : 37)
        case is GeoPoint.Type: return try? GeoPoint(latitude: isSecond ? 73 : 37, longitude: 1)
        case is StoragePath.Type: return (isSecond ? "made/up" : "made/other") as StoragePath
        case is DocumentReference.Type: return DocumentReference(isSecond ? "made/up" : "made/other")
        case is DocumentValue.Type: return DocumentValue.integer(isSecond ? 73 : 37)
        case is DocumentData.Type: return DocumentData([("a", DocumentValue.integer(isSecond ? 73 : 37))])
        case let type as any FixedWidthInteger.Type: return integer(type, isSecond ? 73 : 37)
        case let type as any CaseIterable.Type: return element(of: type, isSecond)
        default: return nil
        }
    }

    private static func integer<Number: FixedWidthInteger>(_ type: Number.Type, _ number: Int) -> Any {
        Number(truncatingIfNeeded: number)
    }

    private static func element<Value: CaseIterable>(of type: Value.Type, _ isSecond: Bool) -> Any? {
        let first = Value.allCases.first
        return isSecond ? Value.allCases.dropFirst().first ?? first : first
    }

    /// A value of an enumeration that could not be decoded because its raw values are unknown; `nil` for larger types.
    ///
    /// Only for types of one byte or none, for which both bit patterns are valid values. An enumeration numbers its cases
    /// from 0, and has at least two if it takes up a byte; a structure of one byte contains a number, a Boolean or such an
    /// enumeration; a type of size zero has one value, since a property cannot have an uninhabited type.
    static func tiny<Value>(_ type: Value.Type, _ isSecond: Bool) -> Value? {
        switch MemoryLayout<Value>.size {
        case 0: unsafeBitCast((), to: type)
        case 1: unsafeBitCast(isSecond ? 1 : 0 as UInt8, to: type)
        default: nil
        }
    }
}
