import Switchyard
import SwitchyardBytes
import SwitchyardSync

/// Where the rows of an answer have a table's columns: all of them name the same ones in the same order, so this is worked out
/// once for an answer.
final class RowLayout: Sendable {
    private struct Field: Sendable {
        /// The field without a value yet.
        let entry: DocumentData.Entry
        let place: Int
        let kind: ColumnKind
    }

    private let shape: RowShape
    private let keys: [String]
    /// In the order of documents' fields.
    private let fields: [Field]
    private let names: [Int?]
    private let version: Int?
    private let created: (place: Int, kind: ColumnKind)?

    /// - Parameter row: One of the rows.
    init(_ shape: RowShape, like row: JSONObject) {
        self.shape = shape
        keys = row.keys
        var places: [String: Int] = [:]
        for (place, key) in row.keys.enumerated() { places[key] = place }
        let mapping = shape.mapping
        fields = mapping.fields.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }.compactMap {
            name, column in
            places[column].map {
                Field(entry: DocumentData.Entry(name: name, value: .null), place: $0, kind: shape.kind(of: column))
            }
        }
        names = (shape.table.parentColumns + [mapping.idColumn]).map { places[$0] }
        version = places[RowShape.version]
        created = mapping.createdColumn.flatMap { column in places[column].map { ($0, shape.kind(of: column)) } }
    }

    /// Whether a row has the columns in these places.
    func fits(_ row: JSONObject) -> Bool {
        guard row.count == keys.count else { return false }
        for place in keys.indices where row[place].key != keys[place] { return false }
        return true
    }

    /// - Returns: `nil` for a row whose key is no document's name.
    func path(of row: JSONObject) -> StoragePath? {
        shape.table.path(named: names.map { $0.flatMap { row[$0].value.name } })
    }

    func version(of row: JSONObject) -> String? { version.flatMap { row[$0].value.name } }

    func document(_ row: JSONObject, at path: StoragePath, version: Timestamp) -> DocumentSnapshot {
        var entries: [DocumentData.Entry] = []
        entries.reserveCapacity(fields.count)
        for field in fields {
            guard let value = field.kind.value(row[field.place].value) else { continue }
            var entry = field.entry
            entry.value = value
            entries.append(entry)
        }
        var time = Timestamp.never
        if let created, case .timestamp(let known)? = created.kind.value(row[created.place].value) { time = known }
        return .existing(path, DocumentData(unsorted: entries), createTime: time, updateTime: version)
    }
}
