import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardWire

/// A parsed request to the data service.
struct RESTCall: Sendable {
    let request: ServerRequest
    let token: SupabaseToken
    let schema: String
    var preferences: RESTPreferences
    /// The form of the result, which `LocalREST.negotiated` decides.
    var form = RESTForm.many(stripsNulls: false)
    /// Whether several schemas are exposed, or the request names one: then answers name it.
    let namesSchema: Bool
    private(set) var selection = RESTSelection.everything
    private(set) var order: [RESTOrder] = []
    private(set) var limit: Int?
    private(set) var offset = 0
    /// The columns to read from a body; `nil` for all that it has.
    private(set) var columns: [String]?
    private(set) var conflictColumns: [String] = []
    /// The remaining parameters: conditions, or arguments of a function.
    private(set) var others: [(name: String, value: String)] = []

    var isOne: Bool { form.isOne }

    /// The field that names the schema.
    private static func profile(of request: ServerRequest) -> String {
        let isWrite = [HTTPMethod.post, .put, .patch, .delete].contains(request.method)
        return isWrite ? "Content-Profile" : "Accept-Profile"
    }

    /// The type of the body.
    var contentType: RESTMediaType { RESTMediaType(request.headers["Content-Type"] ?? "application/json") }

    /// The types of the result that the request takes.
    var accepted: [RESTMediaType] { RESTMediaType.accepted(request.headers["Accept"]) }

    /// The schema that a request names, or else the first one.
    static func schema(
        of request: ServerRequest, exposing schemas: [String]
    ) throws(RESTFailure) -> String {
        let schema = request.headers[profile(of: request)] ?? schemas[0]
        guard schemas.contains(schema) else {
            var failure = RESTFailure(406, "PGRST106", "Invalid schema: \(schema)")
            failure.hint = .string("Only the following schemas are exposed: \(schemas.joined(separator: ", "))")
            throw failure
        }
        return schema
    }

    init(
        _ request: ServerRequest, as token: SupabaseToken, exposing schemas: [String]
    ) throws(RESTFailure) {
        self.request = request
        self.token = token
        schema = try RESTCall.schema(of: request, exposing: schemas)
        namesSchema = schemas.count > 1 || request.headers[RESTCall.profile(of: request)] != nil
        preferences = RESTPreferences(request.headers.values(for: "Prefer"))
        var embedded: [(path: [String], name: String, value: String)] = []
        var seen: Set<String> = []
        for (name, value) in RESTCall.parameters(of: request) {
            // Of these the first counts.
            if RESTCall.single.contains(name), !seen.insert(name).inserted { continue }
            switch name {
            case "select":
                selection = try RESTCall.parse("select parameter", value) { text throws(RESTFailure) in
                    try RESTSelection(parsing: text)
                }
            case "order": order = try RESTCall.parse("order", value, RESTOrder.parse)
            case "limit": limit = Int(value) ?? limit
            case "offset": offset = max(Int(value) ?? offset, 0)
            case "columns": columns = try RESTCall.parse("columns parameter", value, RESTCall.names)
            case "apikey": break  // the gateway's
            case "on_conflict":
                conflictColumns = try RESTCall.parse("on_conflict parameter", value, RESTCall.names)
            default:
                if name.hasSuffix(".order") || name.hasSuffix(".limit") || name.hasSuffix(".offset") {
                    let (path, last) = try RESTEmbedding.path(of: name)
                    embedded.append((path, last, value))
                } else {
                    others.append((name, value))
                }
            }
        }
        for (path, name, value) in embedded {
            let order = name == "order" ? try RESTCall.parse("order", value, RESTOrder.parse) : []
            if name == "limit", let limit = Int(value), limit < 0 { throw .negativeLimit }
            try selection.change(path) { embedding in
                switch name {
                case "order": embedding.order = order
                case "limit": embedding.limit = Int(value) ?? embedding.limit
                default: embedding.offset = max(Int(value) ?? embedding.offset, 0)
                }
            }
        }
        if let limit, limit < 0 { throw .negativeLimit }
        if request.method.isRead { try applyRange() }
    }

    /// The requested URL as given in answers: with sorted parameters and the strictest encoding.
    var location: String {
        // Several conditions on one column are listed together.
        var values: [String: [String]] = [:]
        for (name, value) in request.queryItems { values[name, default: []].append(Self.coded(value)) }
        let query = values.sorted { $0.key < $1.key }.map { Self.coded($0.key) + "=" + $0.value.joined(separator: ",") }
        let path = request.path.dropFirst("/rest/v1".count)
        return path + (query.isEmpty ? "" : "?" + query.joined(separator: "&"))
    }

    /// The vendor's service encodes each byte as a character here.
    private static func coded(_ text: String) -> String {
        PercentCoding.encode(String(String.UnicodeScalarView(text.utf8.map { Unicode.Scalar($0) })))
    }

    /// "0-19", intersected with the query's range.
    private mutating func applyRange() throws(RESTFailure) {
        guard let text = request.headers["Range"], (request.headers["Range-Unit"] ?? "items") == "items" else { return }
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, let first = Int(parts[0]), first >= 0 else { return }
        if let last = Int(parts[1]), last < first {
            throw .outOfRange(
                "The lower boundary must be lower than or equal to the upper boundary in the Range header.")
        }
        let end = min(
            Int(parts[1]).map { $0.addingSaturated(1) } ?? .max, limit.map { offset.addingSaturated($0) } ?? .max)
        offset = max(offset, first)
        limit = end == .max ? limit : max(end - offset, 0)
    }

    private static func names(_ text: String) throws(RESTFailure) -> [String] {
        var scanner = RESTScanner(text)
        var names: [String] = []
        repeat {
            scanner.skipSpaces()
            let isQuoted = scanner.peek == "\""
            let name = try scanner.name { $0 == "," }
            names.append(isQuoted ? name : name.trimmed)
            scanner.skipSpaces()
        } while scanner.skip(",")
        return names
    }

    private static let single: Set<String> = ["select", "columns", "on_conflict"]

    /// The parameters of the query. One without an equals sign says nothing.
    private static func parameters(of request: ServerRequest) -> [(name: String, value: String)] {
        let parts = (request.rawQuery ?? "").split(separator: "&")
        return zip(parts, request.queryItems).filter { $0.0.utf8.contains(UInt8(ascii: "=")) }.map(\.1)
    }

    /// Parses a parameter; what cannot be read is named with its kind.
    private static func parse<Value>(
        _ kind: String, _ text: String, _ body: (String) throws(RESTFailure) -> Value
    ) throws(RESTFailure) -> Value {
        do throws(RESTFailure) { return try body(text) } catch {
            guard error.code == "PGRST100" else { throw error }
            throw .unparsable("\(kind) (\(text))", error.details.string ?? "")
        }
    }
}

extension RESTFailure {
    static let unknownPath = RESTFailure(404, "PGRST125", "Invalid path specified in request URL")

    static func unsupportedMethod(_ method: HTTPMethod) -> RESTFailure {
        RESTFailure(405, "PGRST117", "Unsupported HTTP method: \(method.rawValue)")
    }

    static func outOfRange(_ details: String) -> RESTFailure {
        var failure = RESTFailure(416, "PGRST103", "Requested range not satisfiable")
        failure.details = .string(details)
        return failure
    }

    fileprivate static let negativeLimit = outOfRange("Limit should be greater than or equal to zero.")

    // MARK: Refusals within a statement

    /// An expression that is 0 if `condition` holds, and otherwise rolls everything back.
    ///
    /// - Parameter count: An expression for the number in the message.
    static func demanding(_ condition: String, or code: String, _ count: String) -> String {
        "case when \(condition) then 0 else ('\(mark) \(code) ' || \(count))::int end"
    }
    private static let mark = "refused by the data service:"

    /// A refusal by `demanding`.
    init?(refused failure: PostgresFailure) {
        guard failure.code == "22P02", let start = failure.message.firstRange(of: RESTFailure.mark + " ") else {
            return nil
        }
        let words = failure.message[start.upperBound...].split(separator: " ")
        let count = words.dropFirst().first.map { $0.filter(\.isNumber) } ?? ""
        switch words.first {
        case "PGRST116":
            self.init(406, "PGRST116", "Cannot coerce the result to a single JSON object")
            details = .string("The result contains \(count) rows")
        case "PGRST124":
            self.init(400, "PGRST124", "Query result exceeds max-affected preference constraint")
            details = .string("The query affects \(count) rows")
        default: return nil
        }
    }
}

extension HTTPMethod {
    fileprivate var isRead: Bool { self == .get || self == .head }
}
