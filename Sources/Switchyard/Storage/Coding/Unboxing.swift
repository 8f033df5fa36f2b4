import Foundation

/// Converts a document's plain values to Swift values.
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
        case .integer(let value): return try whole(value)
        default: throw .found(value, expected: "a number")
        }
    }

    /// A whole number as a fraction, which has fewer digits for it.
    private static func whole<Value: BinaryFloatingPoint>(_ number: Int64) throws(CodingFailure) -> Value {
        guard let result = Value(exactly: number) else {
            throw CodingFailure(
                reason: "a \(Value.self) cannot hold this whole number exactly (Int64, or DocumentValue, can)")
        }
        return result
    }

    /// A double is rounded to the nearest Float, as Swift does; a whole number is not.
    static func float(_ value: DocumentValue) throws(CodingFailure) -> Float {
        if case .integer(let value) = value { return try whole(value) }
        let number = try double(value)
        let result = Float(number)
        guard result.isFinite || !number.isFinite else {
            throw CodingFailure(reason: "the number is too large for a Float")
        }
        return result
    }

    /// A whole number, also from a double without a fraction.
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

    /// A double has the digits that it is written with, and a string all of them.
    static func decimal(_ value: DocumentValue) throws(CodingFailure) -> Decimal {
        let text: String
        switch value {
        case .integer(let number): return Decimal(number)
        case .double(let number): text = number.description
        case .string(let string): text = string
        default: throw .found(value, expected: "a number")
        }
        // Foundation's parser takes what begins with a number.
        guard text != "nan" else { return .nan }
        guard text.utf8.allSatisfy({ (48...57).contains($0) || "+-.eE".utf8.contains($0) }),
            let decimal = Decimal(string: text)
        else { throw CodingFailure(reason: "a Decimal cannot hold this number") }
        return decimal
    }

    static func timestamp(_ value: DocumentValue) throws(CodingFailure) -> Timestamp {
        guard case .timestamp(let time) = value else { throw .found(value, expected: "a timestamp") }
        return time
    }

    /// Paths are references; strings are accepted too, since programs without references write them.
    static func path(_ value: DocumentValue) throws(CodingFailure) -> StoragePath {
        switch value {
        case .reference(let reference): return reference.path
        case .string(let text):
            do throws(StorageError) {
                return try StoragePath(validating: text)
            } catch {
                throw CodingFailure(reason: "the text is not a document path")
            }
        default: throw .found(value, expected: "a reference")
        }
    }
}

extension DocumentValue {
    /// A double if all digits fit, so that it is ordered among numbers; otherwise a string, so that none is lost.
    init(_ decimal: Decimal) {
        let text = decimal.description
        let digits = text.utf8.filter { (48...57).contains($0) }.drop { $0 == 48 }
        self = digits.count <= 15 ? .double(Double(text) ?? .nan) : .string(text)
    }
}
