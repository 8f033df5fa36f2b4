import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardSync

/// The kind of a column's values: how they are read, written and compared.
enum ColumnKind: Sendable, Hashable {
    /// A string; the name of its type, such as that of an enumeration.
    case text(String)
    case uuid
    case bool
    /// With the largest value that fits.
    case integer(Int64)
    case float
    case numeric
    /// With or without a time zone; without one, in UTC.
    case time(hasZone: Bool)
    case date
    case bytes
    /// `jsonb` compares; `json` does not.
    case json(isBinary: Bool)
    indirect case array(ColumnKind)
    /// A foreign key, which refers to a document of a collection.
    indirect case reference(CollectionPath, key: ColumnKind)
    /// Neither declared nor described by the service; the JSON of an answer decides.
    case unknown

    init(_ type: SupabaseColumnType) {
        var name = type.rawValue.lowercased().trimmed
        if name.hasSuffix("[]") {
            self = .array(ColumnKind(SupabaseColumnType(rawValue: String(name.dropLast(2)))))
            return
        }
        // Such as `numeric(10,2)` and `character varying(20)`.
        if let parenthesis = name.firstIndex(of: "(") {
            let tail = name[parenthesis...].firstIndex(of: ")").map { name[name.index(after: $0)...] } ?? ""
            name = String(name[..<parenthesis]) + tail
        }
        self =
            switch name {
            case "uuid": .uuid
            case "bool", "boolean": .bool
            case "int2", "smallint": .integer(Int64(Int16.max))
            case "int4", "int", "integer", "int32": .integer(Int64(Int32.max))
            case "int8", "bigint", "int64": .integer(.max)
            case "float4", "float8", "real", "double precision", "float", "double": .float
            case "numeric", "decimal": .numeric
            case "timestamptz", "timestamp with time zone": .time(hasZone: true)
            case "timestamp", "timestamp without time zone": .time(hasZone: false)
            case "date": .date
            case "bytea": .bytes
            case "jsonb": .json(isBinary: true)
            case "json": .json(isBinary: false)
            default: .text(name)
            }
    }

    /// The name for error messages.
    var name: String {
        switch self {
        case .text(let name): name
        case .uuid: "uuid"
        case .bool: "boolean"
        case .integer(let limit): limit == .max ? "bigint" : limit > 40_000 ? "integer" : "smallint"
        case .float: "double precision"
        case .numeric: "numeric"
        case .time(let hasZone): hasZone ? "timestamptz" : "timestamp"
        case .date: "date"
        case .bytes: "bytea"
        case .json(let isBinary): isBinary ? "jsonb" : "json"
        case .array(let element): "\(element.name)[]"
        case .reference(let collection, let key): "\(key.name), which refers to “\(collection)”"
        case .unknown: "a type that is not known"
        }
    }

    /// Whether the database compares and orders values as queries do, apart from the collation of text.
    var isOrdered: Bool {
        switch self {
        case .json, .array, .unknown: false
        case .reference(_, let key): if case .integer = key { false } else { key.isOrdered }
        default: true
        }
    }

    // MARK: Reading

    /// The value in an answer; `nil` for null, and for a time that is infinite.
    func value(_ text: IndexedJSON, at place: Int) -> DocumentValue? {
        if text.isNull(at: place) { return nil }
        switch self {
        // In a text column, a name that looks like a number is still text.
        case .text, .uuid, .date: return .string(text.string(at: place))
        case .integer:
            return text.integer(at: place).map { .integer($0) } ?? DocumentValue(postgres: text, at: place)
        case .bool, .json, .unknown: return DocumentValue(postgres: text, at: place)
        case .time(let hasZone):
            let time = hasZone ? text.moment(at: place) : text.text(at: place).flatMap { RFC3339.parse($0 + "Z") }
            return time.map { .timestamp(Timestamp(clampingSeconds: $0.seconds, nanoseconds: $0.nanoseconds)) }
        case .array(let element):
            guard text.isArray(at: place) else { return DocumentValue(postgres: text, at: place) }
            var elements: [DocumentValue] = []
            var inner = place + 1
            while inner < text.end(of: place) {
                elements.append(element.value(text, at: inner) ?? .null)
                inner = text.end(of: inner)
            }
            return .array(elements)
        case .float:
            let number = text.double(at: place) ?? text.text(at: place).flatMap { Double($0) }
            return number.map { .double($0) }
        case .numeric:
            return text.text(at: place).map { ColumnKind.number($0) } ?? text.json(at: place).double.map { .double($0) }
        case .bytes:
            guard let hex = text.text(at: place), hex.hasPrefix("\\x"), let bytes = Hex.decode(hex.dropFirst(2)) else {
                return DocumentValue(postgres: text, at: place)
            }
            return .bytes(Data(bytes))
        case .reference(let collection, _):
            let path = text.json(at: place).name.flatMap { try? StoragePath(validating: "\(collection)/\($0)") }
            return path?.collection == collection
                ? path?.documentValue : DocumentValue(postgres: text, at: place)
        }
    }

    /// A `numeric`: a double if that is exact, and otherwise its text, so that nothing is rounded.
    private static func number(_ text: String) -> DocumentValue {
        let digits = text.utf8.filter { (48...57).contains($0) }
        let significant = digits.drop { $0 == 48 }.count
        guard let number = Double(text), significant <= 15 || !number.isFinite else { return .string(text) }
        return .double(number)
    }

    // MARK: Writing

    /// The value in a request; `nil` if no column of this type can hold it.
    func json(_ value: DocumentValue) -> JSON? {
        switch (self, value) {
        case (_, .null): .null
        case (.json, _): value.postgres
        case (.text, .string(let text)): .string(text)
        case (.uuid, .string(let text)): UUID(uuidString: text).map { .string($0.uuidString.lowercased()) }
        case (.date, .string(let text)): CalendarDay.isOne(text) ? .string(text) : nil
        case (.bool, .bool(let value)): .bool(value)
        case (.integer(let limit), .integer(let number)):
            number <= limit && number >= -limit - 1 ? .integer(number) : nil
        case (.integer, .double(let number)): Int64(exactly: number).flatMap { json(.integer($0)) }
        case (.float, .integer(let number)), (.numeric, .integer(let number)): .integer(number)
        case (.float, .double(let number)): number.isFinite ? .number(number) : .string(ColumnKind.word(number))
        case (.numeric, .double(let number)): number.isFinite ? .number(number) : .string(ColumnKind.word(number))
        case (.numeric, .string(let text)): DecimalText.isOne(text) ? .string(text) : nil
        case (.time(let hasZone), .timestamp(let time)):
            .string(hasZone ? time.postgresText : String(time.postgresText.dropLast()))
        case (.bytes, .bytes(let data)): .string("\\x" + Hex.encode(Array(data)))
        case (.array(let element), .array(let values)):
            ColumnKind.all(values.map { element.json($0) }).map { .array($0) }
        case (.reference(let collection, let key), .reference(let reference)):
            reference.path.collection == collection && reference.origin == nil
                ? key.json(named: reference.path.id) : nil
        case (.unknown, _): ColumnKind.plain(value)
        default: nil
        }
    }

    /// For a column of unknown type, in a form that the type's input function parses.
    private static func plain(_ value: DocumentValue) -> JSON? {
        switch value {
        case .timestamp(let time): .string(time.postgresText)
        case .bytes(let data): .string("\\x" + Hex.encode(Array(data)))
        case .double(let number) where !number.isFinite: .string(word(number))
        case .array(let values): all(values.map { plain($0) }).map { .array($0) }
        default: value.postgres
        }
    }

    private static func all(_ values: [JSON?]) -> [JSON]? {
        values.contains(nil) ? nil : values.compactMap(\.self)
    }

    private static func word(_ number: Double) -> String {
        number.isNaN ? "NaN" : number > 0 ? "Infinity" : "-Infinity"
    }

    // MARK: Comparing

    /// The operand of a condition; `nil` if no value of this type can equal it.
    func operand(_ value: DocumentValue) -> String? {
        switch (self, value) {
        case (_, .null): nil
        // No row has such a key.
        case (.reference, .reference(let reference)) where ProvisionalKey.isOne(reference.path.id): nil
        case (.array(let element), .array(let values)):
            ColumnKind.list(values.map { element.operand($0) })
        case (.json(let isBinary), _): isBinary ? value.postgres.text() : nil
        default:
            switch json(value) {
            case .string(let text)?: text
            case let other?: other.text()
            case nil: nil
            }
        }
    }

    /// An array as a PostgreSQL literal; `nil` if an element cannot be written.
    static func list(_ elements: [String?]) -> String? {
        guard !elements.contains(nil) else { return nil }
        return "{\(elements.compactMap { $0.map(TableValue.quoted) }.joined(separator: ","))}"
    }

    /// A sample value of the kind that this column's values have in queries.
    var sample: DocumentValue? {
        switch self {
        case .text, .uuid, .date: .string("")
        case .bool: .bool(false)
        case .integer, .float, .numeric: .integer(0)
        case .time: .timestamp(.never)
        case .bytes: .bytes(Data())
        case .array: .array([])
        case .reference(let collection, _): collection.document("a").documentValue
        case .json, .unknown: nil
        }
    }
}

/// Parses dates such as `2026-11-26`.
private enum CalendarDay {
    static func isOne(_ text: String) -> Bool {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        return parts.map(\.utf8.count) == [4, 2, 2] && RFC3339.parse("\(text)T00:00:00Z") != nil
    }
}

/// A decimal number as text: digits, at most one point, at most one exponent.
private enum DecimalText {
    static func isOne(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { (48...57).contains($0) || "+-.eE".utf8.contains($0) }
            && Double(text)?.isFinite == true
    }
}
