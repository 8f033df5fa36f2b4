import Switchyard
import SwitchyardBytes
import SwitchyardSync

/// The address of a row: the columns of its key, and their values.
struct RowAddress: Sendable {
    let path: StoragePath
    let columns: [(name: String, value: JSON)]
    let conditions: [RowCondition]

    /// - Throws: `.invalidArgument`, as a refusal, if no row can have this name.
    init(_ path: StoragePath, _ place: TableMappings.Place, _ shape: RowShape) throws(StorageError) {
        self.path = path
        var columns: [(name: String, value: JSON)] = []
        var conditions: [RowCondition] = []
        let names = zip(
            shape.table.parentColumns + [shape.mapping.idColumn], (place.parents ?? []) + [path.id])
        for (column, name) in names {
            guard let value = shape.kind(of: column).json(named: name),
                let condition = shape.condition(column, named: name)
            else {
                throw StorageError(
                    .invalidArgument,
                    "“\(path)” cannot be a row of “\(shape.mapping.table)”: a name in it does not fit the column “\(column)” of "
                        + "type \(shape.kind(of: column).name).", isRefusal: true)
            }
            columns.append((column, value))
            conditions.append(condition)
        }
        self.columns = columns
        self.conditions = conditions
    }

    /// Whether an upsert identifies the row by exactly its key columns, so that it cannot replace another row.
    func isKey(of shape: RowShape) -> Bool { Set(shape.keys) == Set(columns.map(\.name)) }

    /// Whether the columns by which an upsert identifies the row are among its key columns.
    func includesKey(of shape: RowShape) -> Bool { Set(shape.keys).isSubset(of: columns.map(\.name)) }

    /// The conditions by which an upsert identifies this row.
    func keyConditions(of shape: RowShape) -> [RowCondition] {
        columns.indices.filter { shape.keys.contains(columns[$0].name) }.map { conditions[$0] }
    }

    /// The columns that a request for this row names, as a parameter.
    func columns(with change: RowChange, _ shape: RowShape) -> String {
        (columns.map(\.name) + change.columns(shape)).map(ColumnName.text).joined(separator: ",")
    }

    func object(with change: RowChange) -> JSONObject {
        JSONObject(
            columns.map { (key: $0.name, value: $0.value) } + change.values.map { (key: $0.key, value: $0.value) })
    }
}

/// What a write sets, column by column.
struct RowChange: Sendable {
    private(set) var values: JSONObject = [:]
    /// Whether columns that are not named are set to their defaults.
    let isWhole: Bool
    /// Whether the new values depend on the current ones, so that the row must be read first.
    private(set) var dependsOnRow = false

    init(_ write: DocumentWrite, _ shape: RowShape) throws(StorageError) {
        switch write.operation {
        case .set(let data):
            isWhole = true
            for (name, value) in data { try add(value, name, shape) }
        case .patch(let data, let mask):
            isWhole = false
            for field in mask {
                guard field.components.count == 1 else {
                    // A part of a JSON column.
                    _ = try shape.json(.map(DocumentData()), for: field.components[0])
                    dependsOnRow = true
                    continue
                }
                try add(data[field] ?? .null, field.components[0], shape)
            }
        case .delete, .verify: isWhole = false
        }
        for transform in write.transforms {
            let name = transform.field.components[0]
            if case .serverTime = transform.operation, transform.field.components.count == 1,
                let column = shape.column(of: name), case .time(hasZone: true) = column.kind
            {
                values[column.name] = "now"
            } else {
                guard shape.column(of: name) != nil else {
                    try add(.null, name, shape)
                    continue
                }
                dependsOnRow = true
            }
        }
        finish(shape, isChange: write.operation.isChange)
    }

    /// The change, applied to the row's current contents.
    init(_ write: DocumentWrite, over old: DocumentData?, _ shape: RowShape) throws(StorageError) {
        // A server time is requested by a keyword. A column of another type than `timestamptz` is refused by name.
        let now = Timestamp.never
        let new = write.applied(to: old, serverTime: now).data ?? DocumentData()
        if case .set = write.operation { isWhole = true } else { isWhole = false }
        var names = Set(write.transforms.map(\.field.components[0]))
        switch write.operation {
        case .set(let data): names.formUnion(data.names)
        case .patch(_, let mask): names.formUnion(mask.map(\.components[0]))
        case .delete, .verify: break
        }
        for name in names.sorted() { try add(new[name] ?? .null, name, shape) }
        for transform in write.transforms where transform.operation == .serverTime {
            guard let column = shape.column(of: transform.field.components[0]) else { continue }
            guard case .time(hasZone: true) = column.kind, transform.field.components.count == 1 else {
                throw StorageError(
                    .invalidArgument,
                    "The server's time cannot be written to “\(transform.field)”: its column “\(column.name)” is of type "
                        + "\(column.kind.name), and only a timestamptz takes it.", isRefusal: true)
            }
            values[column.name] = "now"
        }
        finish(shape, isChange: true)
    }

    private mutating func add(_ value: DocumentValue, _ field: String, _ shape: RowShape) throws(StorageError) {
        let (column, json) = try shape.json(value, for: field)
        // The database sets computed columns, and the path sets key columns, whatever is written.
        guard !shape.computed.contains(column), !shape.table.parentColumns.contains(column),
            column != shape.mapping.idColumn
        else { return }
        values[column] = json
    }

    /// The column for the time of the last change.
    private mutating func finish(_ shape: RowShape, isChange: Bool) {
        guard isChange, let column = shape.mapping.updatedColumn, !shape.computed.contains(column) else { return }
        values[column] = "now"
    }

    /// The columns that this change sets, explicitly or to their defaults.
    func columns(_ shape: RowShape) -> [String] {
        guard isWhole else { return values.keys }
        var columns = Set(shape.mapping.fields.values).union(values.keys).subtracting(shape.computed)
        columns.subtract(shape.table.parentColumns + [shape.mapping.idColumn])
        return columns.sorted()
    }

    /// Whether a row has all these values, as far as they are comparable.
    func isIn(_ row: AnswerRow) -> Bool {
        values.allSatisfy { value in
            if value.value == "now" { return true }
            return row[value.key].map { $0 == value.value || $0.double == value.value.double && $0.double != nil }
                ?? false
        }
    }
}

extension DocumentWrite.Operation {
    fileprivate var isChange: Bool {
        switch self {
        case .set, .patch: true
        case .delete, .verify: false
        }
    }
}
