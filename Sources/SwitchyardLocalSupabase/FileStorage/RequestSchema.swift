import SwitchyardBytes

/// What a body, or the parameters of a query, may have.
///
/// As the vendor's validator does, it converts values to the type that is meant wherever that is possible: text to numbers and
/// truth values, numbers and truth values to text, single values to lists, and a list of one value to that value.
struct RequestSchema: Sendable {
    indirect enum Kind: Sendable {
        case boolean
        case integer(ClosedRange<Int64>)
        case string
        /// One of a few words.
        case word([String])
        /// A number of bytes, or text such as "1.5MB"; `null` for no limit.
        case size
        case list(of: Kind, count: ClosedRange<Int>)
        case object(RequestSchema)
        case nullable(Kind)

        static let positive = integer(1...Int64.max)
        static let count = integer(0...Int64.max)
        static let strings = list(of: .string, count: 0...Int.max)
    }

    /// Why a value does not fit: one sentence without its subject for each reason.
    struct Mismatch: Error {
        var path = ""
        let reasons: [String]

        init(_ reasons: String...) { self.reasons = reasons }
    }

    private let members: KeyValuePairs<String, Kind>
    private let required: [String]
    /// At least one of these members is needed.
    private let choices: [String]

    init(_ members: KeyValuePairs<String, Kind>, required: [String] = [], oneOf choices: [String] = []) {
        self.members = members
        self.required = required
        self.choices = choices
    }

    /// The converted members; those that the schema does not name stay as they are.
    ///
    /// - Parameter place: What messages call the whole, such as "body".
    func converted(_ json: JSON, as place: String) throws(LocalSupabaseFileError) -> JSON {
        do throws(Mismatch) {
            return .object(try object(json))
        } catch {
            throw .invalidInput(error.reasons.map { "\(place)\(error.path) \($0)" }.joined(separator: ", "))
        }
    }

    private func object(_ json: JSON) throws(Mismatch) -> JSONObject {
        guard var object = json.object else { throw Mismatch("must be object") }
        if let name = required.first(where: { object[$0] == nil }) {
            throw Mismatch("must have required property '\(name)'")
        }
        for (name, kind) in members {
            guard let value = object[name] else { continue }
            do throws(Mismatch) {
                object[name] = try kind.converted(value)
            } catch {
                var mismatch = error
                mismatch.path = "/\(name)\(error.path)"
                throw mismatch
            }
        }
        guard choices.isEmpty || choices.contains(where: { object[$0] != nil }) else {
            throw Mismatch("must have required property '\(choices[0])'")
        }
        return object
    }
}

extension RequestSchema.Kind {
    typealias Mismatch = RequestSchema.Mismatch

    func converted(_ json: JSON) throws(Mismatch) -> JSON {
        switch self {
        case .boolean:
            guard let value = Self.truth(Self.single(json)) else { throw Mismatch("must be boolean") }
            return .bool(value)
        case .integer(let range):
            guard let value = Self.whole(Self.single(json)) else { throw Mismatch("must be integer") }
            guard value >= range.lowerBound else { throw Mismatch("must be >= \(range.lowerBound)") }
            guard value <= range.upperBound else { throw Mismatch("must be <= \(range.upperBound)") }
            return .integer(value)
        case .string:
            guard let text = Self.text(Self.single(json)) else { throw Mismatch("must be string") }
            return .string(text)
        case .word(let words):
            guard let text = Self.text(Self.single(json)) else { throw Mismatch("must be string") }
            guard words.contains(text) else { throw Mismatch("must be equal to one of the allowed values") }
            return .string(text)
        case .size: return try Self.size(json)
        case .list(let kind, let count): return try Self.list(json, of: kind, count)
        case .object(let schema): return .object(try schema.object(json))
        case .nullable(let kind): return json.isNull ? .null : try kind.converted(json)
        }
    }

    // MARK: Conversions

    /// The only value of a list, where a single value is meant.
    private static func single(_ json: JSON) -> JSON {
        if let list = json.array, list.count == 1 { list[0] } else { json }
    }

    private static func truth(_ json: JSON) -> Bool? {
        switch json {
        case .bool(let value): value
        case "true", 1: true
        case "false", 0, .null: false
        default: nil
        }
    }

    /// Numbers beyond all bounds count as the greatest ones.
    private static func whole(_ json: JSON) -> Int64? {
        let number: Double
        switch json {
        case .integer(let value): return value
        case .bool(let value): return value ? 1 : 0
        case .null: return 0
        case .number(let value): number = value
        case .string(let text):
            guard let value = RequestNumber.value(of: text) else { return nil }
            number = value
        default: return nil
        }
        guard number.isFinite, number == number.rounded() else { return nil }
        return Int64(exactly: number) ?? (number < 0 ? .min : .max)
    }

    private static func text(_ json: JSON) -> String? {
        switch json {
        case .string(let text): text
        case .null: ""
        case .integer, .number, .bool: json.text()
        default: nil
        }
    }

    private static func list(_ json: JSON, of kind: Self, _ count: ClosedRange<Int>) throws(Mismatch) -> JSON {
        var elements: [JSON]
        switch json {
        case .array(let given): elements = given
        case .object: throw Mismatch("must be array")
        default: elements = [json]
        }
        guard elements.count >= count.lowerBound else {
            throw Mismatch("must NOT have fewer than \(count.lowerBound) items")
        }
        guard elements.count <= count.upperBound else {
            throw Mismatch("must NOT have more than \(count.upperBound) items")
        }
        for index in elements.indices {
            do throws(Mismatch) {
                elements[index] = try kind.converted(elements[index])
            } catch {
                var mismatch = error
                mismatch.path = "/\(index)\(error.path)"
                throw mismatch
            }
        }
        return .array(elements)
    }

    // MARK: Sizes

    private static func size(_ json: JSON) throws(Mismatch) -> JSON {
        if json.isNull { return .null }
        if let number = whole(single(json)) {
            guard number >= 0 else {
                throw Mismatch("must be >= 0", "must match pattern \"\(sizePattern)\"", "must match a schema in anyOf")
            }
            return .integer(number)
        }
        guard let bytes = text(single(json)).flatMap(bytes) else {
            throw Mismatch(
                "must be integer", "must pass \"finite\" keyword validation", "must match pattern \"\(sizePattern)\"",
                "must match a schema in anyOf")
        }
        return .integer(bytes)
    }

    private static let sizePattern = #"^[0-9]+(?:\.[0-9]+)?(?:[gG][bB]|[mM][bB]|[kK][bB]|[bB])$"#

    /// The bytes of "20MB" or "1.5gb"; digits after the third do not count.
    private static func bytes(_ text: String) -> Int64? {
        let digits = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        let units: [String: Double] = ["B": 1, "KB": 1000, "MB": 1_000_000, "GB": 1_000_000_000]
        guard digits.first != ".", digits.last != ".", let number = Double(digits),
            let unit = units[text.dropFirst(digits.count).uppercased()]
        else { return nil }
        return Int64(exactly: (RequestNumber.rounded(number, digits: 3) * unit).rounded())
    }
}

/// Numbers in text, as the vendor's language reads them.
enum RequestNumber {
    /// `nil` for text that is no number; empty text is none either.
    static func value(of text: String) -> Double? {
        var trimmed = text.trimmed
        if trimmed.isEmpty { return text.isEmpty ? nil : 0 }
        for (prefix, radix) in [("0x", 16), ("0o", 8), ("0b", 2)] where trimmed.lowercased().hasPrefix(prefix) {
            return UInt64(trimmed.dropFirst(2), radix: radix).map { Double($0) }
        }
        // Swift also reads “nan”, “inf” and hexadecimal fractions.
        guard trimmed.utf8.allSatisfy({ "0123456789+-.eE".utf8.contains($0) }) else { return nil }
        if trimmed.last == "." { trimmed.removeLast() }
        return Double(trimmed)
    }

    /// Rounds to so many significant digits.
    static func rounded(_ number: Double, digits: Int) -> Double {
        guard number > 0, number.isFinite else { return number }
        var (scale, scaled) = (1.0, number)
        while scaled >= 10 { (scale, scaled) = (scale * 10, scaled / 10) }
        while scaled < 1 { (scale, scaled) = (scale / 10, scaled * 10) }
        var factor = 1.0
        for _ in 1..<digits { factor *= 10 }
        return (scaled * factor).rounded() / factor * scale
    }
}
