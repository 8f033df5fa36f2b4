import Switchyard
import SwitchyardBytes
import SwitchyardProviderKit
import SwitchyardWire

/// A request to the data service. Each step returns a changed copy, and one of these sends it:
/// ``rows(as:)``, ``row(as:)``, ``first(as:)``, ``page(count:as:)``, ``count(_:)``, ``run()`` or ``explain(analyze:)``.
///
/// A mistake, such as a value that cannot be encoded, is stored and thrown when the request is sent.
public struct SupabaseRequest: Sendable {
    /// How rows are counted.
    public enum Count: String, Sendable, Hashable {
        case exact
        /// By the planner's estimate.
        case planned
        /// Exact up to the project's maximum of rows, and then by the planner's estimate.
        case estimated
    }

    let service: PostgRESTService
    let method: HTTPMethod
    let path: String
    let schema: String?
    let body: [UInt8]
    let isIdempotent: Bool
    /// Without one, all rows would be changed.
    var needsFilter = false
    private(set) var parameters: [(name: String, value: String)] = []
    private(set) var preferences: [String] = []
    private(set) var hasFilter = false
    private(set) var returnsRows: Bool
    private(set) var mistake: StorageError?

    init(
        _ service: PostgRESTService, _ method: HTTPMethod, _ path: String, schema: String?, isIdempotent: Bool = false
    ) {
        self.service = service
        self.method = method
        self.path = path
        self.schema = schema
        self.isIdempotent = isIdempotent
        body = []
        returnsRows = method == .get
    }

    init(
        _ service: PostgRESTService, _ method: HTTPMethod, _ path: String, schema: String?,
        body value: some Encodable, isIdempotent: Bool = false
    ) {
        self.service = service
        self.method = method
        self.path = path
        self.schema = schema
        self.isIdempotent = isIdempotent
        returnsRows = path.hasPrefix("rpc/")
        do {
            body = try JSONBytesEncoder().encode(value)
        } catch {
            body = []
            mistake = StorageError(
                .codingFailed, "The values for “\(path)” cannot be encoded.", isRetryable: false, underlying: error)
        }
    }

    mutating func add(_ name: String, _ value: String) { parameters.append((name, value)) }
    mutating func prefer(_ preference: String) { preferences.append(preference) }

    mutating func returning(_ columns: String?) {
        returnsRows = columns != nil
        if let columns { add("select", columns) }
        prefer(columns == nil ? "return=minimal" : "return=representation")
    }

    /// Names the columns of several rows: Swift's encoders omit `nil`, and the service accepts rows with different members only
    /// with this parameter. A missing member gets its column's default.
    mutating func nameColumns() {
        guard let rows = (try? JSON(parsing: body))?.array else { return }
        var names: [String] = []
        var seen: Set<String> = []
        for row in rows {
            for name in (row.object ?? [:]).map(\.key) where seen.insert(name).inserted { names.append(name) }
        }
        guard !names.isEmpty else { return }
        add("columns", names.map(TableValue.quoted).joined(separator: ","))
        prefer("missing=default")
    }

    private func filtered(_ column: String, _ condition: () throws(StorageError) -> String) -> SupabaseRequest {
        var request = self
        request.hasFilter = true
        do throws(StorageError) { request.add(column, try condition()) } catch { request.mistake = mistake ?? error }
        return request
    }

    // MARK: Filters

    /// Rows in which the column equals the value. Null equals nothing: use ``isNull(_:)``.
    public func eq(_ column: String, _ value: some Encodable) -> SupabaseRequest { compared(column, "eq", value) }
    public func neq(_ column: String, _ value: some Encodable) -> SupabaseRequest { compared(column, "neq", value) }
    public func gt(_ column: String, _ value: some Encodable) -> SupabaseRequest { compared(column, "gt", value) }
    public func gte(_ column: String, _ value: some Encodable) -> SupabaseRequest { compared(column, "gte", value) }
    public func lt(_ column: String, _ value: some Encodable) -> SupabaseRequest { compared(column, "lt", value) }
    public func lte(_ column: String, _ value: some Encodable) -> SupabaseRequest { compared(column, "lte", value) }

    /// Rows in which the column is another value, or null.
    public func isDistinct(_ column: String, from value: some Encodable) -> SupabaseRequest {
        compared(column, "isdistinct", value)
    }

    /// Rows in which the text is like the pattern: `%` stands for any characters, `_` for one.
    public func like(_ column: String, _ pattern: String) -> SupabaseRequest { compared(column, "like", pattern) }
    /// The same, regardless of case.
    public func ilike(_ column: String, _ pattern: String) -> SupabaseRequest { compared(column, "ilike", pattern) }

    public func isNull(_ column: String) -> SupabaseRequest { filtered(column) { "is.null" } }
    public func isNotNull(_ column: String) -> SupabaseRequest { filtered(column) { "not.is.null" } }

    /// Rows in which the column is one of the values; none if there are no values.
    public func `in`(_ column: String, _ values: [some Encodable]) -> SupabaseRequest {
        filtered(column) { () throws(StorageError) in
            var items: [String] = []
            for value in values { items.append(TableValue.quoted(try TableValue.text(value, for: column))) }
            return "in.(\(items.joined(separator: ",")))"
        }
    }

    /// Rows whose array has all of these values.
    public func contains(_ column: String, _ values: [some Encodable]) -> SupabaseRequest {
        array(column, "cs", values)
    }
    /// Rows whose array has no other values.
    public func containedBy(_ column: String, _ values: [some Encodable]) -> SupabaseRequest {
        array(column, "cd", values)
    }
    /// Rows whose array has at least one of these values.
    public func overlaps(_ column: String, _ values: [some Encodable]) -> SupabaseRequest {
        array(column, "ov", values)
    }

    /// Rows whose JSON has all members of the value.
    public func contains(_ column: String, json value: some Encodable) -> SupabaseRequest {
        filtered(column) { () throws(StorageError) in "cs.\(try TableValue.json(value, for: column))" }
    }

    /// Rows whose text matches a query of the database's full-text search.
    ///
    /// - Parameters:
    ///   - column: The text, or its search vector.
    ///   - query: The search words, in the syntax of web search engines.
    ///   - configuration: The text search configuration, such as `english`; `nil` for the database's default.
    public func textSearch(_ column: String, _ query: String, configuration: String? = nil) -> SupabaseRequest {
        filtered(column) { "wfts\(configuration.map { "(\($0))" } ?? "").\(query)" }
    }

    /// A condition in the data service's syntax, such as `filter("due", "not.lt.2026-01-01")`.
    public func filter(_ column: String, _ condition: String) -> SupabaseRequest { filtered(column) { condition } }

    /// Rows that meet at least one of the conditions.
    ///
    /// - Parameters:
    ///   - conditions: in the data service's syntax, such as `"done.is.true,due.lt.now"`.
    ///   - table: Applies to rows of a related table.
    public func or(_ conditions: String, in table: String? = nil) -> SupabaseRequest {
        filtered(table.map { "\($0).or" } ?? "or") { "(\(conditions))" }
    }

    private func compared(_ column: String, _ operation: String, _ value: some Encodable) -> SupabaseRequest {
        filtered(column) { () throws(StorageError) in "\(operation).\(try TableValue.text(value, for: column))" }
    }

    private func array(_ column: String, _ operation: String, _ values: [some Encodable]) -> SupabaseRequest {
        filtered(column) { () throws(StorageError) in "\(operation).\(try TableValue.array(values, for: column))" }
    }

    // MARK: Order and range

    /// - Parameters:
    ///   - column: The column, or a field of JSON.
    ///   - ascending: Whether small values come first.
    ///   - nullsFirst: Whether null comes first; by default, last in ascending order.
    ///   - table: Orders rows of a related table.
    public func order(
        _ column: String, ascending: Bool = true, nullsFirst: Bool? = nil, in table: String? = nil
    ) -> SupabaseRequest {
        let nulls = nullsFirst.map { $0 ? ".nullsfirst" : ".nullslast" } ?? ""
        let order = "\(column).\(ascending ? "asc" : "desc")\(nulls)"
        let name = table.map { "\($0).order" } ?? "order"
        var request = self
        if let index = request.parameters.firstIndex(where: { $0.name == name }) {
            request.parameters[index].value += ",\(order)"
        } else {
            request.add(name, order)
        }
        return request
    }

    /// - Parameters:
    ///   - count: The maximum number of rows. The project's own maximum applies, too; see ``page(count:as:)``.
    ///   - table: Limits rows of a related table.
    public func limit(_ count: Int, in table: String? = nil) -> SupabaseRequest {
        var request = self
        request.add(table.map { "\($0).limit" } ?? "limit", "\(count)")
        return request
    }

    /// - Parameters:
    ///   - range: The positions of the rows, from zero.
    ///   - table: Limits rows of a related table.
    public func range(_ range: Range<Int>, in table: String? = nil) -> SupabaseRequest {
        var request = limit(range.count, in: table)
        request.add(table.map { "\($0).offset" } ?? "offset", "\(range.lowerBound)")
        return request
    }
}

extension SupabaseRequest: CustomStringConvertible, CustomReflectable {
    /// Omits values.
    public var description: String { "SupabaseRequest(\(method) \(path), \(parameters.count) parameters)" }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
