/// How rows become a result.
enum RESTShape: Sendable {
    /// Any number of rows.
    case rows
    /// One row, which is an object.
    case row
    /// Any number of rows with one column, which is all that counts.
    case values
    /// One such row.
    case value

    var isSingle: Bool {
        switch self {
        case .row, .value: true
        case .rows, .values: false
        }
    }
}

extension RESTForm {
    /// The names, in a statement, of the rows of a result, and of each of them.
    static let rows = "\"pgrst rows\""
    static let row = "\"pgrst row\""

    /// The expression that gives the result: over all rows, or for a single one.
    func content(_ shape: RESTShape) -> String {
        let isValue = shape == .value || shape == .values
        let element = isValue ? "\(Self.row).\"pgrst_scalar\"" : Self.row
        switch self {
        case .many(let stripsNulls):
            return shape.isSingle
                ? Self.single("to_json(\(element))", stripsNulls)
                : "coalesce(\(Self.stripped("json_agg(\(element))", stripsNulls)), '[]')::text"
        case .one(let stripsNulls):
            // As with the vendor, one of several values is an object with the name of their column.
            return shape.isSingle
                ? Self.single("to_json(\(element))", stripsNulls)
                : Self.single("json_agg(\(Self.row)) -> 0", stripsNulls)
        case .table: return Self.lines
        case .handled(let handler): return "\(handler.function)(\(shape == .value ? element : Self.row))::text"
        case .plan(_, of: let form): return form.content(shape)
        }
    }

    private static func stripped(_ json: String, _ stripsNulls: Bool) -> String {
        stripsNulls ? "json_strip_nulls(\(json))" : json
    }

    private static func single(_ json: String, _ stripsNulls: Bool) -> String {
        "coalesce(\(stripped(json, stripsNulls)), 'null')::text"
    }

    /// The names of the columns, and a line for each row, as the database writes rows.
    private static let lines = """
        (select coalesce(string_agg(column_name, ','), '')
         from (select json_object_keys(row_to_json(first_row)) as column_name
               from (select * from \(rows) limit 1) as first_row) as names)
        || E'\\n' || coalesce(string_agg(substr(\(row)::text, 2, length(\(row)::text) - 2), E'\\n'), '')
        """
}
