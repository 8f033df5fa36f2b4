import Switchyard
import SwitchyardBytes
import SwitchyardSync

/// A row of an answer. Its values are decoded on demand.
struct AnswerRow: Sendable {
    let text: IndexedJSON
    let place: Int

    subscript(column: String) -> JSON? { text.value(of: column, in: place).map { text.json(at: $0) } }
}

/// The columns of an answer's rows, and what documents take from each.
final class RowColumns: Sendable {
    struct Field {
        /// The field; its value is filled in for each row.
        let entry: DocumentData.Entry
        let column: Int
        let kind: ColumnKind
    }

    let names: [String]
    /// In the order of documents' fields.
    let fields: [Field]
    /// The columns of the path's names; `nil` for one that is not there.
    let key: [Int?]
    let version: Int?
    let created: (place: Int, kind: ColumnKind)?

    init(_ names: [String], of table: MappedTable, _ kinds: [String: ColumnKind]) {
        let mapping = table.mapping
        let places = Dictionary(names.enumerated().map { ($0.element, $0.offset) }) { $1 }
        self.names = names
        fields = mapping.fields.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }.compactMap {
            name, column in
            places[column].map {
                Field(entry: DocumentData.Entry(name: name, value: .null), column: $0, kind: kinds[column] ?? .unknown)
            }
        }
        key = (table.parentColumns + [mapping.idColumn]).map { places[$0] }
        version = places[RowShape.version]
        created = mapping.createdColumn.flatMap { column in
            places[column].map { ($0, kinds[column] ?? .unknown) }
        }
    }
}

/// The positions of a table's columns in the rows of an answer. All rows name the same columns in the same order, so the layout
/// is computed once per answer, and moves from row to row.
struct RowLayout {
    private let table: MappedTable
    private let columns: RowColumns
    private let model: AnswerRow
    /// The positions of the row's values, by column.
    private var places: [Int]

    /// - Parameter row: The first of the rows.
    init(_ shape: RowShape, at row: AnswerRow) {
        table = shape.table
        model = row
        if let places = row.text.values(of: row.place, named: shape.wholeColumns.names) {
            columns = shape.wholeColumns
            self.places = places
        } else {
            let keys = row.text.keys(of: row.place)
            columns = shape.columns(named: keys.map { row.text.string(at: $0) })
            places = keys.map { $0 + 1 }
        }
    }

    /// - Returns: `false` for a row with other columns, which needs another layout.
    mutating func move(to row: AnswerRow) -> Bool {
        row.text === model.text && model.text.findValues(of: row.place, like: model.place, in: &places)
    }

    /// The path of the row's document; `nil` if its key is not a valid document name.
    var path: StoragePath? {
        guard let prefix = table.rootPrefix else {
            return table.path(named: columns.key.map { $0.flatMap { name(in: $0) } })
        }
        return columns.key[0].flatMap { name(in: $0) }.flatMap { table.path(named: $0, behind: prefix) }
    }

    var version: String? { columns.version.flatMap { name(in: $0) } }

    private func name(in column: Int) -> String? {
        let place = places[column]
        return model.text.isString(at: place) ? model.text.string(at: place) : model.text.json(at: place).name
    }

    /// The fields of the row's document.
    var data: DocumentData {
        let fields = columns.fields
        let entries = [DocumentData.Entry](unsafeUninitializedCapacity: fields.count) { entries, count in
            for index in fields.indices {
                guard let value = fields[index].kind.value(model.text, at: places[fields[index].column]) else {
                    continue
                }
                var entry = fields[index].entry
                entry.value = value
                (entries.baseAddress! + count).initialize(to: entry)
                count += 1
            }
        }
        return DocumentData(inOrder: entries)
    }

    /// Whether rows say when they were created.
    var hasCreated: Bool { columns.created != nil }

    var created: Timestamp {
        guard let created = columns.created,
            case .timestamp(let time)? = created.kind.value(model.text, at: places[created.place])
        else { return .never }
        return time
    }
}
