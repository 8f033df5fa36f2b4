import Switchyard
import SwitchyardBytes
import SwitchyardSync

/// A row of an answer. Its values are decoded on demand.
struct AnswerRow: Sendable {
    let text: IndexedJSON
    let place: Int

    subscript(column: String) -> JSON? { text.value(of: column, in: place).map { text.json(at: $0) } }
}

/// The positions of a table's columns in the rows of an answer. All rows name the same columns in the same order, so the layout
/// is computed once per answer, and moves from row to row.
struct RowLayout {
    private struct Field {
        /// The field; its value is filled in for each row.
        let entry: DocumentData.Entry
        let column: Int
        let kind: ColumnKind
    }

    private let shape: RowShape
    private let model: AnswerRow
    /// In the order of documents' fields.
    private let fields: [Field]
    private let names: [Int?]
    /// The common prefix of all paths, if only the ID follows.
    private let prefix: String?
    private let versionColumn: Int?
    private let createdColumn: (place: Int, kind: ColumnKind)?
    /// The positions of the row's values, by column.
    private var places: [Int]

    /// - Parameter row: The first of the rows.
    init(_ shape: RowShape, at row: AnswerRow) {
        self.shape = shape
        model = row
        let keys = row.text.keys(of: row.place)
        var columns: [String: Int] = [:]
        for (column, key) in keys.enumerated() { columns[row.text.string(at: key)] = column }
        places = keys.map { $0 + 1 }
        let mapping = shape.mapping
        fields = mapping.fields.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }.compactMap {
            name, column in
            columns[column].map {
                Field(entry: DocumentData.Entry(name: name, value: .null), column: $0, kind: shape.kind(of: column))
            }
        }
        names = (shape.table.parentColumns + [mapping.idColumn]).map { columns[$0] }
        prefix = shape.table.rootPrefix
        versionColumn = columns[RowShape.version]
        createdColumn = mapping.createdColumn.flatMap { column in columns[column].map { ($0, shape.kind(of: column)) } }
    }

    /// - Returns: `false` for a row with other columns, which needs another layout.
    mutating func move(to row: AnswerRow) -> Bool {
        row.text === model.text && model.text.findValues(of: row.place, like: model.place, in: &places)
    }

    /// The path of the row's document; `nil` if its key is not a valid document name.
    var path: StoragePath? {
        guard let prefix else { return shape.table.path(named: names.map { $0.flatMap { name(in: $0) } }) }
        return names[0].flatMap { name(in: $0) }.flatMap { shape.table.path(named: $0, behind: prefix) }
    }

    var version: String? { versionColumn.flatMap { name(in: $0) } }

    private func name(in column: Int) -> String? {
        let place = places[column]
        return model.text.isString(at: place) ? model.text.string(at: place) : model.text.json(at: place).name
    }

    /// The fields of the row's document.
    var data: DocumentData {
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

    var created: Timestamp {
        guard let createdColumn,
            case .timestamp(let time)? = createdColumn.kind.value(model.text, at: places[createdColumn.place])
        else { return .never }
        return time
    }
}
