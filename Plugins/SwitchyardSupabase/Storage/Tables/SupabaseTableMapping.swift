/// A table of your own, shown as a collection: its rows are the documents, its columns their fields.
///
/// ```swift
/// var todos = SupabaseTableMapping(collection: "lists/{list_id}/todos", table: "todos", columns: ["title", "done", "due"])
/// todos.updatedColumn = "updated_at"
/// ```
///
/// Nothing has to be installed: rows are read and written over the data service's own requests, and the table's grants and
/// policies decide. Only a batch of several rows, or of rows and documents, needs the functions of this module.
///
/// A field has the type of its column: `bool`, integers, `float` and `numeric` as doubles, `timestamp` and `timestamptz` as
/// times, `bytea` as bytes, arrays, `json` and `jsonb` as any value. All other types are strings in the database's format, such
/// as UUIDs. A null is the same as a missing field. A value that a column cannot hold, and a field without a column, are
/// refused with `.invalidArgument`, which names field and column.
public struct SupabaseTableMapping: Sendable, Hashable, Codable {
    /// The collection's path, with the columns for parents' IDs in braces: `lists/{list_id}/todos`.
    public var collection: String
    /// The table's schema, which the project must expose; `public` is.
    public var schema = "public"
    public var table: String
    /// The column for the document's ID: text, or any type whose text form has no slash.
    public var idColumn = "id"
    /// The columns by field name.
    public var fields: [String: String]
    /// Those columns of the ID, the parents and the fields that have the type `uuid`; the same as declaring them so in
    /// ``columnTypes``.
    ///
    /// The database spells UUIDs in lower case, Swift's `uuidString` in upper case. In these columns, names and values are
    /// converted to lower case wherever you pass them: in paths, writes and conditions. Added documents get a UUID as ID.
    public var uuidColumns: Set<String> = []
    /// The types of columns, such as `["due": .timestamptz]`. Those that are missing are taken from the service's description of
    /// the tables, where it gives one to this client; where it does not, values are what the JSON of its answers says, and times
    /// are strings.
    public var columnTypes: [String: SupabaseColumnType] = [:]
    /// Whether the database makes the IDs of added rows, as for an identity column.
    ///
    /// With a ``witnessColumn``, additions wait in the queue like all writes, and the row has a local ID until the database has
    /// made one: a negative number beyond any that a table counts to. Without, and for IDs of type `uuid`, adding a document
    /// waits for the answer, which has the ID, and so needs a connection.
    public var generatesIDs = false
    /// With ``generatesIDs``: a column of type `uuid`, unique and none of the fields, into which the client writes a UUID when it
    /// adds a row. By it the client finds out whether the row was added if the answer is lost; without it, it cannot.
    public var witnessColumn: String?
    /// Fields whose columns are foreign keys, with the collections that these refer to, such as `["list": "lists"]`. They hold
    /// references to documents instead of bare keys.
    public var references: [String: String] = [:]
    /// The column for a row's creation time; without it, that time is unknown.
    public var createdColumn: String?
    /// A column for the time of a row's last change, which this client's writes set. Versions do not need it.
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
        case collection, schema, table, idColumn, fields, uuidColumns, columnTypes, references, generatesIDs
        case witnessColumn, createdColumn,
            updatedColumn
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
        columnTypes =
            try container.decodeIfPresent([String: SupabaseColumnType].self, forKey: .columnTypes) ?? columnTypes
        references = try container.decodeIfPresent([String: String].self, forKey: .references) ?? references
        generatesIDs = try container.decodeIfPresent(Bool.self, forKey: .generatesIDs) ?? generatesIDs
        witnessColumn = try container.decodeIfPresent(String.self, forKey: .witnessColumn)
        createdColumn = try container.decodeIfPresent(String.self, forKey: .createdColumn)
        updatedColumn = try container.decodeIfPresent(String.self, forKey: .updatedColumn)
    }
}
