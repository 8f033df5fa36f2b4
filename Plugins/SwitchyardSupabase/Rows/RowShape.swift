import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardSync

/// A mapped table with what is known of its columns: how its rows are requested, read and written.
final class RowShape: Sendable {
    let table: MappedTable
    private let kinds: [String: ColumnKind]
    /// Whether rows have versions: `xmin`, which views and foreign tables lack.
    let hasVersions: Bool
    /// The columns that the database computes; they are never written.
    let computed: Set<String>
    /// The columns by which an upsert identifies a row.
    let keys: [String]
    /// The columns of a request for all fields.
    private let wholeSelection: String
    /// The columns of the answer to that.
    let wholeColumns: RowColumns

    /// - Parameters:
    ///   - table: The mapping.
    ///   - types: The types of columns that the mapping does not declare.
    ///   - facts: What earlier answers have revealed about the table.
    ///   - isPartial: Whether the types of other columns are not known yet.
    init(
        _ table: MappedTable, types: [String: SupabaseColumnType] = [:], facts: RowFacts = RowFacts(),
        isPartial: Bool = false
    ) {
        self.table = table
        let mapping = table.mapping
        var kinds: [String: ColumnKind] = [:]
        for column in table.columns {
            if let type = mapping.columnTypes[column] ?? types[column] {
                kinds[column] = ColumnKind(type)
            }
            guard mapping.uuidColumns.contains(column) else { continue }
            // Until its type is known, a field's column may be an array.
            let mayBeArray = isPartial && kinds[column] == nil && mapping.fields.values.contains(column)
            if !mayBeArray { kinds[column] = kinds[column]?.holdingUUIDs ?? .uuid }
        }
        if let updated = mapping.updatedColumn, kinds[updated] == nil { kinds[updated] = .time(hasZone: true) }
        if let created = mapping.createdColumn, kinds[created] == nil { kinds[created] = .time(hasZone: true) }
        for (field, collection) in mapping.references {
            guard let column = mapping.fields[field] else { continue }
            kinds[column] = .reference(CollectionPath(unchecked: collection), key: kinds[column] ?? .unknown)
        }
        self.kinds = kinds
        wholeColumns = RowColumns(
            RowShape.columns(of: nil, table, hasVersions: facts.hasVersions), of: table, kinds)
        hasVersions = facts.hasVersions
        computed = facts.computed
        keys = facts.keys ?? table.parentColumns + [mapping.idColumn]
        wholeSelection = RowShape.selection(of: nil, table, kinds, hasVersions: facts.hasVersions)
    }

    var mapping: SupabaseTableMapping { table.mapping }

    func kind(of column: String) -> ColumnKind { kinds[column] ?? .unknown }

    /// The column and kind of a field; `nil` if it has no column.
    func column(of field: String) -> (name: String, kind: ColumnKind)? {
        mapping.fields[field].map { ($0, kind(of: $0)) }
    }

    // MARK: Requests

    /// The columns to request, without those that are not needed.
    ///
    /// - Parameter fields: The fields to read; `nil` for all.
    func selection(of fields: [FieldPath]? = nil) -> String {
        fields == nil ? wholeSelection : RowShape.selection(of: fields, table, kinds, hasVersions: hasVersions)
    }

    private static func selection(
        of fields: [FieldPath]?, _ table: MappedTable, _ kinds: [String: ColumnKind], hasVersions: Bool
    ) -> String {
        columns(of: fields, table, hasVersions: hasVersions).map { column in
            // As text, since JSON numbers may be rounded in transit.
            if case .numeric = kinds[column] ?? .unknown {
                "\(ColumnName.text(column))::text"
            } else {
                ColumnName.text(column)
            }
        }.joined(separator: ",")
    }

    private static func columns(
        of fields: [FieldPath]?, _ table: MappedTable, hasVersions: Bool
    ) -> [String] {
        let mapping = table.mapping
        var columns = table.parentColumns + [mapping.idColumn]
        let names = fields.map { Set($0.compactMap(\.components.first)) }
        columns += mapping.fields.filter { names?.contains($0.key) ?? true }.map(\.value).sorted()
        columns += [mapping.createdColumn, mapping.witnessColumn].compactMap(\.self)
        if hasVersions { columns.append(RowShape.version) }
        var seen: Set<String> = []
        return columns.filter { seen.insert($0).inserted }
    }

    /// The same for an answer with other columns, or in another order.
    func columns(named names: [String]) -> RowColumns { RowColumns(names, of: table, kinds) }

    /// The columns of a row's path.
    var pathSelection: String {
        (table.parentColumns + [mapping.idColumn]).map(ColumnName.text).joined(separator: ",")
    }

    /// The columns of the key, and the version. By the witness, rows are known that this client is adding.
    var digestColumns: [String] {
        table.parentColumns + [mapping.idColumn] + [mapping.witnessColumn].compactMap(\.self)
            + (hasVersions ? [RowShape.version] : [])
    }

    /// The condition on one column for a name in a path; `nil` if no row can have it.
    func condition(_ column: String, named name: String) -> RowCondition? {
        kind(of: column).operand(named: name).map { .test(column, "eq", .value($0)) }
    }

    // MARK: Rows

    static let version = "xmin"

    /// A row as a document. For many rows, use one ``RowLayout``.
    ///
    /// - Returns: `nil` for a row whose key is not a valid document name.
    func document(_ row: AnswerRow, at version: Timestamp) -> DocumentSnapshot? {
        let layout = RowLayout(self, at: row)
        return layout.path.map { .existing($0, layout.data, createTime: layout.created, updateTime: version) }
    }

    func path(of row: AnswerRow) -> StoragePath? {
        table.path(named: (table.parentColumns + [mapping.idColumn]).map { row[$0]?.name })
    }

    func version(of row: AnswerRow) -> String? { row[RowShape.version]?.name }

    func tag(of row: AnswerRow) -> DocumentTag? { version(of: row).map { tag($0) } }
    func tag(_ version: String) -> DocumentTag { table.tag(version) }
    func tags(_ versions: [String]) -> DocumentTagList { DocumentTagList(prefix: table.tagPrefix, versions) }
    func version(in tag: DocumentTag) -> String? { table.version(in: tag) }

    // MARK: Writing

    /// The value for a field's column.
    ///
    /// - Throws: `.invalidArgument`, as a refusal, if the field has no column or the value does not fit it.
    func json(_ value: DocumentValue, for field: String) throws(StorageError) -> (column: String, json: JSON) {
        guard let (name, kind) = column(of: field) else {
            throw StorageError(
                .invalidArgument,
                "The table “\(mapping.table)” has no column for the field “\(field)”.\(nearestField(to: field)) Add it to the "
                    + "mapping, or leave it out.", isRefusal: true)
        }
        guard let json = kind.json(value) else {
            throw StorageError(
                .invalidArgument,
                "The field “\(field)” holds \(value.kindName), which its column “\(name)” of type \(kind.name) cannot.",
                isRefusal: true)
        }
        return (name, json)
    }

    private func nearestField(to field: String) -> String {
        guard let near = nearestName(to: field, in: Array(mapping.fields.keys)) else { return "" }
        return " Did you mean “\(near)”?"
    }
}

/// What the service's answers have revealed about a table.
struct RowFacts: Sendable, Hashable {
    var hasVersions = true
    var computed: Set<String> = []
    /// `nil` for the parents and the ID.
    var keys: [String]?
}

extension ColumnKind {
    fileprivate var holdingUUIDs: ColumnKind { if case .array = self { .array(.uuid) } else { .uuid } }

    /// The operand for a name in a path; `nil` if no row can have it.
    func operand(named name: String) -> String? {
        if ProvisionalKey.isOne(name) { return nil }
        return switch self {
        case .integer: Int64(name).flatMap { operand(.integer($0)) }
        case .text, .uuid, .date: operand(.string(name))
        case .unknown: name
        default: nil
        }
    }

    /// A key's value for a name in a path.
    func json(named name: String) -> JSON? {
        switch self {
        case .integer: Int64(name).flatMap { json(.integer($0)) }
        case .unknown: .string(name)
        default: json(.string(name))
        }
    }
}

extension JSON {
    /// A key's value as a document's name.
    var name: String? {
        switch self {
        case .string(let text): text
        case .integer(let number): String(number)
        default: nil
        }
    }
}

/// The service's syntax for column names.
enum ColumnName {
    static func text(_ column: String) -> String {
        let isPlain = column.utf8.allSatisfy {
            (97...122).contains($0) || (65...90).contains($0) || (48...57).contains($0) || $0 == UInt8(ascii: "_")
        }
        return isPlain ? column : TableValue.quoted(column)
    }
}
