import Switchyard
import SwitchyardBytes
import SwitchyardSync

/// Maps collections to tables of the project; all others are in the document table, if that is used.
struct TableMappings: Sendable {
    /// A collection in a table, or all collections of a table.
    struct Place: Hashable, Sendable {
        let table: MappedTable
        /// `nil` for all.
        let parents: [String]?

        /// The description for calls.
        var json: JSONObject {
            var object: JSONObject = ["table": table.json]
            if let parents { object["parents"] = .array(parents.map { .string($0) }) }
            return object
        }
    }

    private let tables: [MappedTable]
    /// Whether collections without a table exist.
    let usesDocuments: Bool
    /// Whether any table has columns for UUIDs.
    let hasUUIDs: Bool
    /// Whether the database makes the names of some documents.
    let generatesIDs: Bool

    static let none = TableMappings()

    private init() {
        tables = []
        usesDocuments = true
        hasUUIDs = false
        generatesIDs = false
    }

    /// - Throws: `.invalidConfiguration`, naming the invalid mapping.
    init(_ mappings: [SupabaseTableMapping], usesDocuments: Bool = true) throws(InfrastructureError) {
        var tables: [MappedTable] = []
        for mapping in mappings { tables.append(try MappedTable(mapping)) }
        self.tables = tables
        self.usesDocuments = usesDocuments
        hasUUIDs = tables.contains { !$0.mapping.uuidColumns.isEmpty }
        generatesIDs = mappings.contains(where: \.generatesIDs)
    }

    var isEmpty: Bool { tables.isEmpty }

    var capabilities: StorageCapabilities {
        var capabilities = StorageCapabilities.all
        capabilities.maximumBatchSize = 500
        guard !isEmpty else { return capabilities }
        capabilities.openTypes = false
        capabilities.maximumDeletions = RowGroup.maximumDeletions
        if !usesDocuments {
            capabilities.openSchema = false
            capabilities.listCollections = false
            capabilities.recursiveDelete = false
            capabilities.mixedBatches = false
        }
        return capabilities
    }

    /// The table of a collection; `nil` for the document table.
    func place(of collection: CollectionPath) throws(StorageError) -> Place? {
        for table in tables {
            if let parents = table.parents(of: collection) { return Place(table: table, parents: parents) }
        }
        guard usesDocuments else {
            throw .unsupported(
                "collections without a table", by: .supabase, instead: "Map “\(collection.id)” to a table.")
        }
        return nil
    }

    func place(of target: WatchTarget) throws(StorageError) -> Place? {
        switch target {
        case .document(let path): try place(of: path.collection)
        case .query(let query): try place(of: query)
        }
    }

    func place(of query: Query) throws(StorageError) -> Place? {
        switch query.source {
        case .collection(let path): return try place(of: path)
        case .group(let id, _):
            let found = tables.filter { $0.id.utf8Equals(id) }
            guard found.count < 2 else {
                throw .unsupported(
                    "groups of collections in several tables", by: .supabase, instead: "Query the tables one by one.")
            }
            if let table = found.first { return Place(table: table, parents: nil) }
            return try place(of: CollectionPath(unchecked: id))
        }
    }

    /// - Throws: `.unsupported` if a table's rows are below the document, since the actual parents are unknown.
    func check(below document: StoragePath?, directly: Bool, for operation: String) throws(StorageError) {
        guard usesDocuments, !tables.contains(where: { $0.isBelow(document, directly: directly) }) else {
            throw .unsupported(operation, by: .supabase, instead: "Tables are mapped there; name their collections.")
        }
    }
}
