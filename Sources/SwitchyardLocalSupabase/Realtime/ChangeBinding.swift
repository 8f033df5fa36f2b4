import SwitchyardBytes

/// The rows whose changes a channel requests.
struct ChangeBinding: Sendable {
    /// The same for identical requests, and sent with each change.
    let id: Int64
    /// The request as it is repeated in the answer to the join.
    let request: JSONObject
    let filter: ChangeFilter?
    /// `nil` for all columns.
    let columns: Set<String>?
    /// The problem with it, in the service's words.
    let problem: String?
    private let event: String
    private let schema: String
    private let table: String

    init(_ request: JSONObject) {
        self.request = request
        id = Int64(CRC32C.checksum(of: JSON.object(request).bytes(JSONWritingOptions(sortsKeys: true))))
        let given = request["event"]?.string ?? "*"
        event = ["INSERT", "UPDATE", "DELETE"].contains(given) ? given : "*"
        schema = request["schema"]?.string ?? "public"
        table = request["table"]?.string ?? "*"
        columns = request["select"]?.array.map { Set($0.compactMap(\.string)) }
        let text = request["filter"]?.string ?? ""
        let names = ["schema", "table", "filter"]
        if names.contains(where: { request[$0] != nil && request[$0]?.string == nil })
            || (request["schema"] == nil && request["table"] == nil)
            || (!text.isEmpty && (request["schema"] == nil || request["table"] == nil))
        {
            filter = nil
            problem = "No subscription params provided. Please provide at least a `schema` or `table` to subscribe to"
            return
        }
        do throws(ChangeFilter.Mistake) {
            filter = text.isEmpty ? nil : try ChangeFilter(text)
            problem = nil
        } catch {
            filter = nil
            problem = "Error parsing `filter` params: \(error.text)"
        }
    }

    /// The answer to the join, with its ID.
    var answer: JSON {
        var answer = request
        answer["id"] = .integer(id)
        return .object(answer)
    }

    /// Its table, if it concerns a single one.
    var place: (schema: String, table: String)? { schema == "*" || table == "*" ? nil : (schema, table) }

    /// Whether it covers a change, ignoring its filter.
    func covers(_ change: RowChange) -> Bool {
        (schema == "*" || schema == change.schema) && (table == "*" || table == change.table)
            && (event == "*" || event == change.kind)
    }

    /// The problem with it for the columns of its table that the role may read.
    func problem(types: [String: String]) -> String? {
        guard let filter, place != nil else { return nil }
        for clause in filter.clauses {
            let text =
                switch types[clause.column] {
                case nil: "invalid column for filter \(clause.column)"
                case let type? where !clause.fits(type): "invalid input syntax for type \(type)"
                default: nil as String?
                }
            if let text { return problem(": " + text) }
        }
        return nil
    }

    /// The message if the database has no such table; an unpublished table counts as missing.
    func problem(_ reason: String) -> String {
        "Unable to subscribe to changes with given parameters. Please check Realtime is enabled for the given connect "
            + "parameters: [event: \(event), schema: \(schema), table: \(table), "
            + "filters: \(request["filter"]?.string ?? "")]\(reason)"
    }
}
