import SwitchyardBytes

/// A written row, as queued by the database.
struct RowChange: Sendable {
    let schema: String
    let table: String
    /// INSERT, UPDATE or DELETE.
    let kind: String
    let keys: [String]
    let at: String
    let record: JSONObject?
    let old: JSONObject?
    /// The change as received, for checking who may see it.
    let content: JSON

    /// Larger changes are delivered without their large values.
    static let limit = 1 << 20

    init?(_ content: JSON) {
        guard let schema = content["schema"]?.string, let table = content["table"]?.string,
            let kind = content["type"]?.string
        else { return nil }
        self.schema = schema
        self.table = table
        self.kind = kind
        keys = (content["keys"]?.array ?? []).compactMap(\.string)
        at = content["at"]?.string ?? ""
        record = content["record"]?.object
        old = content["old"]?.object
        self.content = content
    }

    /// The row that filters check.
    var filtered: JSONObject { record ?? old ?? [:] }

    /// The parts of a change that a role may see.
    struct Visibility: Sendable {
        let columns: [(name: String, type: String)]
        let isAllowed: Bool
        let isSeen: Bool
        /// Whether the table has row-level security.
        let isGuarded: Bool

        init(_ json: JSON) {
            columns = (json["columns"]?.array ?? []).compactMap { column in
                guard let name = column["name"]?.string, let type = column["type"]?.string else { return nil }
                return (name, type)
            }
            isAllowed = json["allowed"]?.bool ?? false
            isSeen = json["seen"]?.bool ?? false
            isGuarded = json["guarded"]?.bool ?? true
        }
    }

    /// - Parameter wanted: The columns to send besides the key; `nil` for all.
    /// - Returns: `nil` if the role cannot see it.
    func payload(for visibility: Visibility, ids: [Int64], wanted: Set<String>?) -> JSON? {
        if keys.isEmpty, kind != "DELETE" { return failure(ids, "Error 400: Bad Request, no primary key") }
        guard visibility.isAllowed else { return failure(ids, "Error 401: Unauthorized") }
        guard visibility.isSeen else { return nil }
        let names = Set(visibility.columns.map(\.name)).filter { wanted?.contains($0) != false || keys.contains($0) }
        var data: JSONObject = [
            "schema": .string(schema), "table": .string(table), "type": .string(kind), "commit_timestamp": .string(at),
            "columns": .array(
                visibility.columns.filter { names.contains($0.name) }.map {
                    ["name": .string($0.name), "type": .string($0.type)]
                }), "errors": .null,
        ]
        let isLarge = content.bytes().count > Self.limit
        if isLarge { data["errors"] = ["Error 413: Payload Too Large"] }
        if let record { data["record"] = .object(Self.part(record, names, isCut: isLarge)) }
        if let old {
            // For a deleted row, the policies cannot be checked.
            let visible = kind == "DELETE" && visibility.isGuarded ? Set(keys) : names
            data["old_record"] = .object(Self.part(old, visible, isCut: isLarge))
        }
        return ["ids": .array(ids.map { .integer($0) }), "data": .object(data)]
    }

    private static func part(_ row: JSONObject, _ names: Set<String>, isCut: Bool) -> JSONObject {
        JSONObject(
            row.filter { names.contains($0.key) && (!isCut || $0.value.bytes().count <= 64) }.map {
                (key: $0.key, value: $0.value)
            })
    }

    private func failure(_ ids: [Int64], _ error: String) -> JSON {
        var data: JSONObject = [
            "schema": .string(schema), "table": .string(table), "type": .string(kind), "columns": [],
            "commit_timestamp": .null, "errors": [.string(error)],
        ]
        if record != nil { data["record"] = [:] }
        if old != nil { data["old_record"] = [:] }
        return ["ids": .array(ids.map { .integer($0) }), "data": .object(data)]
    }
}
