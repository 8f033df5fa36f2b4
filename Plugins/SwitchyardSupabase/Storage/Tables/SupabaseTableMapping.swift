/// A table of your own, shown as a collection: its rows are the documents, its columns their fields.
///
/// ```swift
/// var todos = SupabaseTableMapping(collection: "lists/{list_id}/todos", table: "todos", columns: ["title", "done", "due"])
/// todos.updatedColumn = "updated_at"
/// ```
///
/// The table's own grants and policies decide who may read and write; the functions of this module run with the caller's
/// rights. Batches and transactions are atomic, also together with documents of the document table.
///
/// A field has the type of its column: `bool`, integers, `float` and `numeric` as doubles, `timestamp` and `timestamptz` as
/// times, `bytea` as bytes, arrays, `json` and `jsonb` as any value. All other types are strings in the database's format, such
/// as UUIDs. A null is the same as a missing field. A value that a column cannot hold, and a field without a column, are
/// refused with `.invalidArgument`, which names field and column.
public struct SupabaseTableMapping: Sendable, Hashable, Codable {
    /// The collection's path, with the columns for parents' IDs in braces: `lists/{list_id}/todos`.
    public var collection: String
    /// The table's schema. It must be enabled for documents in the database; `public` is.
    public var schema = "public"
    public var table: String
    /// The column for the document's ID: text, or any type whose text form has no slash.
    public var idColumn = "id"
    /// The columns by field name.
    public var fields: [String: String]
    /// Those columns of the ID, the parents and the fields that have the type `uuid`.
    ///
    /// The database spells UUIDs in lower case, Swift's `uuidString` in upper case. In these columns, names and values are
    /// converted to lower case wherever you pass them: in paths, writes and conditions. Added documents get a UUID as ID.
    public var uuidColumns: Set<String> = []
    /// The column for a row's creation time; without it, that time is unknown.
    public var createdColumn: String?
    /// The column for the time of a row's last change, in microseconds: the document's version. Commits set it, and other
    /// writers must set it as well, ideally with a trigger. Without it, there are no preconditions on versions, and no
    /// transactions that read rows.
    public var updatedColumn: String?

    /// - Parameters:
    ///   - collection: The collection that shows the table.
    ///   - table: The table's name.
    ///   - fields: The columns by field name.
    public init(collection: String, table: String, fields: [String: String]) {
        self.collection = collection
        self.table = table
        self.fields = fields
    }

    /// - Parameters:
    ///   - collection: The collection that shows the table.
    ///   - table: The table's name.
    ///   - columns: The fields, named like their columns.
    public init(collection: String, table: String, columns: [String]) {
        self.init(
            collection: collection, table: table, fields: Dictionary(columns.map { ($0, $0) }) { first, _ in first })
    }

    private enum CodingKeys: CodingKey {
        case collection, schema, table, idColumn, fields, uuidColumns, createdColumn, updatedColumn
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            collection: try container.decode(String.self, forKey: .collection),
            table: try container.decode(String.self, forKey: .table),
            fields: try container.decode([String: String].self, forKey: .fields))
        schema = try container.decodeIfPresent(String.self, forKey: .schema) ?? schema
        idColumn = try container.decodeIfPresent(String.self, forKey: .idColumn) ?? idColumn
        uuidColumns = try container.decodeIfPresent(Set<String>.self, forKey: .uuidColumns) ?? uuidColumns
        createdColumn = try container.decodeIfPresent(String.self, forKey: .createdColumn)
        updatedColumn = try container.decodeIfPresent(String.self, forKey: .updatedColumn)
    }
}
