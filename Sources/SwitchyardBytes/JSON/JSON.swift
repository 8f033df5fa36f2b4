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

/// Allows a type to have a member of any kind. `JSONBytesDecoder` and `JSONBytesEncoder` handle this type specially; other
/// coders are asked for each kind in turn, which is slow, and order the members of objects as they like.
extension JSON: Codable {
    package init(from decoder: any Decoder) throws {
        // A wrong guess makes other decoders create an error, so the most likely kinds come first.
        let value = try decoder.singleValueContainer()
        if value.decodeNil() {
            self = .null
        } else if let text = try? value.decode(String.self) {
            self = .string(text)
        } else if let members = try? value.decode([String: JSON].self) {
            self = .object(JSONObject(members.lazy.map { (key: $0.key, value: $0.value) }))
        } else if let elements = try? value.decode([JSON].self) {
            self = .array(elements)
        } else if let integer = try? value.decode(Int64.self) {
            self = .integer(integer)
        } else if let number = try? value.decode(Double.self) {
            self = .number(number)
        } else {
            self = .bool(try value.decode(Bool.self))
        }
    }

    package func encode(to encoder: any Encoder) throws {
        switch self {
        case .object(let object):
            var members = encoder.container(keyedBy: JSONKey.self)
            for member in object { try members.encode(member.value, forKey: JSONKey(member.key)) }
        case .array(let array):
            var elements = encoder.unkeyedContainer()
            for element in array { try elements.encode(element) }
        case .string(let text): try encodeOne(text, to: encoder)
        case .integer(let integer): try encodeOne(integer, to: encoder)
        case .number(let number): try encodeOne(number, to: encoder)
        case .bool(let bool): try encodeOne(bool, to: encoder)
        case .null:
            var value = encoder.singleValueContainer()
            try value.encodeNil()
        }
    }

    private func encodeOne(_ value: some Encodable, to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(value)
    }
}

/// A key with any text, or an index in an array.
package struct JSONKey: CodingKey {
    package let stringValue: String
    package let intValue: Int?

    package init(_ text: String) {
        stringValue = text
        intValue = nil
    }

    package init(index: Int) {
        stringValue = "Index \(index)"
        intValue = index
    }

    package init?(stringValue: String) { self.init(stringValue) }
    package init?(intValue: Int) { self.init(index: intValue) }
}

extension JSON {
    /// Parses one complete text: only white space may surround the value.
    package init(parsing text: Span<UInt8>, options: JSONParsingOptions = .init()) throws(JSONError) {
        self = try text.withUnsafeBufferPointer { (bytes) throws(JSONError) in try JSON(bytes, options) }
    }

    package init(parsing text: [UInt8], options: JSONParsingOptions = .init()) throws(JSONError) {
        self = try text.withUnsafeBufferPointer { (bytes) throws(JSONError) in try JSON(bytes, options) }
    }

    /// Parses any other collection of bytes (`Data`, a slice, a buffer, `String.utf8`), without a copy if its storage allows.
    package init(parsing text: some Collection<UInt8>, options: JSONParsingOptions = .init())
        throws(JSONError)
    {
        let inPlace = text.withContiguousStorageIfAvailable { bytes in
            Result { () throws(JSONError) in try JSON(bytes, options) }
        }
        if let inPlace {
            self = try inPlace.get()
        } else {
            try self.init(parsing: [UInt8](text), options: options)
        }
    }

    package init(parsing text: String, options: JSONParsingOptions = .init()) throws(JSONError) {
        try self.init(parsing: text.utf8, options: options)
    }

    private init(_ bytes: UnsafeBufferPointer<UInt8>, _ options: JSONParsingOptions) throws(JSONError) {
        var cache = KeyCache()
        try self.init(bytes, options, &cache)
    }

    /// - Parameter cache: Keys of earlier values, and of this one afterwards.
    init(
        _ bytes: UnsafeBufferPointer<UInt8>, _ options: JSONParsingOptions, _ cache: inout KeyCache
    ) throws(JSONError) {
        var builder = JSONBuilder(options, &cache)
        try JSONWalker.walk(bytes, options, into: &builder)
        self = builder.finish(&cache)
    }
}
