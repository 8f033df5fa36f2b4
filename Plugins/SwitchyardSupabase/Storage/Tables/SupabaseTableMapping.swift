/// A table of the project's own, shown as a collection: its rows are the documents, its columns their fields.
///
/// ```swift
/// var todos = SupabaseTableMapping(collection: "lists/{list_id}/todos", table: "todos", columns: ["title", "done", "due"])
/// todos.updatedColumn = "updated_at"
/// ```
///
/// The table's own grants and policies decide who may read and write; the functions that this module ships run with the
/// caller's rights. Batches and transactions are atomic, also together with documents of the document table.
///
/// A field has the type of its column: `bool`, whole numbers, `float` and `numeric` as doubles, `timestamp` and
/// `timestamptz` as times, `bytea` as bytes, arrays, `json` and `jsonb` as anything; every other type is a string in the
/// database's own spelling, such as of a UUID. A null and a missing field are the same. What a column cannot hold, and a
/// field without a column, is refused with `.invalidArgument`, naming both.
public struct SupabaseTableMapping: Sendable, Hashable, Codable {
    /// The collection's path, with the column that holds a parent's ID in braces: `lists/{list_id}/todos`.
    public var collection: String
    /// The database must have been told that documents may be in it; of `public` it has been.
    public var schema = "public"
    public var table: String
    /// Whose value is the document's ID: text, or anything that has a spelling without a slash.
    public var idColumn = "id"
    /// Columns by the names of their fields.
    public var fields: [String: String]
    /// When a row was made; without it that is not known.
    public var createdColumn: String?
    /// When a row was last written, to the microsecond: a document's version. Commits set it; other writers must as well,
    /// best by a trigger. Without it there are no preconditions on versions, and no transactions
    /// that read rows.
    public var updatedColumn: String?

    /// - Parameters:
    ///   - collection: The collection as which the table is seen.
    ///   - table: The table's name.
    ///   - fields: Columns by the names of their fields.
    public init(collection: String, table: String, fields: [String: String]) {
        self.collection = collection
        self.table = table
        self.fields = fields
    }

    /// - Parameters:
    ///   - collection: The collection as which the table is seen.
    ///   - table: The table's name.
    ///   - columns: Fields that are called like their columns.
    public init(collection: String, table: String, columns: [String]) {
        self.init(
            collection: collection, table: table, fields: Dictionary(columns.map { ($0, $0) }) { first, _ in first })
    }

    private enum CodingKeys: CodingKey {
        case collection, schema, table, idColumn, fields, createdColumn, updatedColumn
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            collection: try container.decode(String.self, forKey: .collection),
            table: try container.decode(String.self, forKey: .table),
            fields: try container.decode([String: String].self, forKey: .fields))
        schema = try container.decodeIfPresent(String.self, forKey: .schema) ?? schema
        idColumn = try container.decodeIfPresent(String.self, forKey: .idColumn) ?? idColumn
        createdColumn = try container.decodeIfPresent(String.self, forKey: .createdColumn)
        updatedColumn = try container.decodeIfPresent(String.self, forKey: .updatedColumn)
    }
}
