import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardWire

/// A request's body as the data service reads it, by its type.
enum RESTPayload: Sendable {
    /// Rows, or the arguments of a function.
    case rows(RESTBody)
    /// The arguments of a function as text, some of them repeatedly.
    case fields([(name: String, value: String)])
    /// The only, nameless argument of a function.
    case whole([UInt8])

    /// - Parameters:
    ///   - columns: Those that the query names; then nothing in JSON is checked here.
    ///   - isCall: Whether a function is called, which takes more types.
    init(
        _ bytes: [UInt8], type: RESTMediaType, columns: [String]?, isCall: Bool
    ) throws(RESTFailure) {
        switch type.name {
        case "application/json":
            // No arguments are none.
            self = .rows(try RESTBody(bytes.isEmpty && isCall ? Array("{}".utf8) : bytes, columns))
        case "text/csv": self = .rows(try RESTBody(RESTPayload.json(ofTable: bytes), nil))
        case "application/x-www-form-urlencoded":
            guard let form = FormCoding.decode(String(decoding: bytes, as: UTF8.self)) else {
                throw .unreadableBody("Empty or invalid form")
            }
            guard !isCall else {
                self = .fields(form)
                return
            }
            let object = JSONObject(form.map { (key: $0.name, value: JSON.string($0.value)) })
            self = .rows(try RESTBody(JSON.object(object).bytes(), nil))
        case "text/plain" where isCall, "text/xml" where isCall, "application/octet-stream" where isCall:
            self = .whole(bytes)
        default:
            throw .unreadableBody(
                "Content-Type not acceptable: \(RESTPayload.known.contains(type.name) ? type.name : type.text)")
        }
    }

    /// The types whose parameters are not repeated in messages.
    private static let known: Set<String> = [
        "text/plain", "text/xml", "application/octet-stream", "application/geo+json", "application/openapi+json", "*/*",
    ]

    private static func json(ofTable bytes: [UInt8]) throws(RESTFailure) -> [UInt8] {
        let lines = RESTTableText.rows(String(decoding: bytes, as: UTF8.self))
        guard let names = lines.first else { throw .unreadableBody("Empty or invalid csv") }
        guard lines.dropFirst().allSatisfy({ $0.count == names.count }) else {
            throw .unreadableBody("All lines must have same number of fields")
        }
        let rows = lines.dropFirst().map { line in
            JSON.object(
                JSONObject(zip(names, line).map { (key: $0, value: $1 == "NULL" ? JSON.null : JSON.string($1)) }))
        }
        return JSON.array(rows).bytes()
    }
}

/// The rows in a request's body.
struct RESTBody: Sendable {
    /// Empty if the query names the columns: then the database reads the body first.
    let rows: [JSONObject]
    let columns: [String]
    /// A list with the request's own text, so that numbers keep their digits.
    let text: String
    /// The request's own text.
    let whole: String
    /// Whether there certainly is no row.
    let isEmpty: Bool

    /// - Parameter named: The columns to use; without them, all objects must have the same ones.
    init(_ bytes: [UInt8], _ named: [String]?) throws(RESTFailure) {
        let given = String(decoding: bytes, as: UTF8.self)
        let isObject = given.first { !" \t\n\r".contains($0) } == "{"
        if let named {
            (rows, columns, whole, isEmpty) = ([], named, given, false)
            text = isObject ? "[\(given)]" : given
            return
        }
        guard let json = try? JSON(parsing: bytes) else { throw .unreadableBody("Empty or invalid json") }
        switch json {
        case .object(let object): (rows, text, whole) = ([object], "[\(given)]", given)
        case .array(let elements):
            rows = elements.compactMap(\.object)
            guard rows.count == elements.count else { throw .unreadableBody("All object keys must match") }
            (text, whole) = (given, given)
        // A plain value has no columns, and so is not a row.
        default: (rows, text, whole) = ([], "[]", "[]")
        }
        columns = rows.first?.keys ?? []
        isEmpty = rows.isEmpty
        let first = Set(columns)
        guard rows.allSatisfy({ Set($0.keys) == first }) else { throw .unreadableBody("All object keys must match") }
    }

    /// Checks that the table has all columns.
    func check(against table: RESTTable) throws(RESTFailure) {
        let types = table.types
        for column in columns where types[column] == nil { throw .unknownColumn(column, table) }
    }
}

extension RESTFailure {
    static func unreadableBody(_ message: String) -> RESTFailure { RESTFailure(400, "PGRST102", message) }

    static func unknownColumn(_ column: String, _ table: RESTTable) -> RESTFailure {
        RESTFailure(400, "PGRST204", "Could not find the '\(column)' column of '\(table.name)' in the schema cache")
    }
}
