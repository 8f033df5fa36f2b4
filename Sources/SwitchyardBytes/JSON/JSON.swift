/// One JSON value as transferred: members keep their order, and an integer that fits is exact.
///
/// The enum is deliberately not `indirect`: arrays and objects have their own indirection, and boxing every value, even `null`,
/// would cost a third of the parsing time.
package enum JSON: Hashable, Sendable {
    case null
    case bool(Bool)
    /// A number without fraction and exponent that fits; all others are a `number`.
    case integer(Int64)
    /// Not finite only if created in code; such a value is written as `null`.
    case number(Double)
    case string(String)
    case array([JSON])
    case object(JSONObject)
}

// MARK: - Reading

extension JSON {
    package var isNull: Bool { self == .null }

    package var bool: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }

    /// The value as an integer, also for `1.0` and `1e3`, but not for `1.5`.
    package var int64: Int64? {
        switch self {
        case .integer(let value): value
        case .number(let value): Int64(exactly: value)
        default: nil
        }
    }

    /// Like `int64`; `nil` if it does not fit.
    package var int: Int? { int64.flatMap(Int.init(exactly:)) }

    /// The value of either kind of number; an integer above 2⁵³ is rounded.
    package var double: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .number(let value): value
        default: nil
        }
    }

    package var string: String? {
        if case .string(let value) = self { value } else { nil }
    }

    package var array: [JSON]? {
        if case .array(let value) = self { value } else { nil }
    }

    package var object: JSONObject? {
        if case .object(let value) = self { value } else { nil }
    }

    /// The member of an object; `nil` if this is not an object. Cost: linear in the number of members.
    package subscript(key: String) -> JSON? { object?[key] }

    /// The element of an array; `nil` beyond its end, and if this is not an array.
    package subscript(index: Int) -> JSON? {
        guard case .array(let elements) = self, elements.indices.contains(index) else { return nil }
        return elements[index]
    }
}

// MARK: - Literals

extension JSON: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    package init(stringLiteral value: String) { self = .string(value) }
    package init(integerLiteral value: Int64) { self = .integer(value) }
    package init(floatLiteral value: Double) { self = .number(value) }
    package init(booleanLiteral value: Bool) { self = .bool(value) }
    package init(arrayLiteral elements: JSON...) { self = .array(elements) }
    /// For a duplicate key, the last value is used.
    package init(dictionaryLiteral elements: (String, JSON)...) {
        self = .object(JSONObject(elements.map { (key: $0.0, value: $0.1) }))
    }
}
