import Switchyard
import SwitchyardBytes
import SwitchyardSync

/// Writes to different rows of one table that share one request, so that all take effect or none. Pure.
struct RowGroup: Sendable {
    enum Kind: Sendable {
        case sets, creations, deletions
    }

    struct Entry: Sendable {
        let write: DocumentWrite
        let row: RowAddress
        let change: RowChange
        /// The version that the row had when the write was first sent; `nil` if that is not known.
        let base: String?
    }

    /// The maximum length of the keys in a deletion: they are part of the URL, and gateways accept URLs of 8,192 bytes.
    static let maximumKeys = 7_500
    /// The maximum number of rows with UUID keys that one request can delete.
    static let maximumDeletions = 190

    let kind: Kind
    /// Whether an upsert identifies the rows by less than their paths, so that it could replace a row of another parent.
    let needsParentCheck: Bool
    private(set) var entries: [Entry]
    private var paths: Set<StoragePath>
    /// The approximate size of the rows in the request.
    private var size: Int

    /// - Parameters:
    ///   - writes: With the mapping's field names, each with the tag that its document had when it was first sent.
    ///   - places: The tables of the writes.
    ///   - shape: The shape of the table that all of them are in.
    /// - Returns: `nil` if the writes are in several tables, of several kinds, or need a request each.
    init?(
        _ writes: [DocumentWrite], _ bases: [DocumentTag?] = [], in places: [TableMappings.Place], _ shape: RowShape
    ) throws(StorageError) {
        var entries: [Entry] = []
        var kind: Kind?
        var needsParentCheck = false
        var paths: Set<StoragePath> = []
        var keys: Set<[RowCondition]> = []
        for (index, write) in writes.enumerated() {
            guard places[index].table == shape.table, paths.insert(write.path).inserted else { return nil }
            let row = try RowAddress(write.path, places[index], shape)
            let change = try RowChange(write, shape)
            guard let own = Kind(write, row, change, shape), kind == nil || kind == own else { return nil }
            kind = own
            if own == .sets, !row.isKey(of: shape) {
                needsParentCheck = true
                // A request cannot set the same row twice.
                guard keys.insert(row.keyConditions(of: shape)).inserted else { return nil }
            }
            let base = index < bases.count ? bases[index].flatMap { shape.version(in: $0) } : nil
            entries.append(Entry(write: write, row: row, change: change, base: base))
        }
        guard let kind else { return nil }
        (self.kind, self.needsParentCheck, self.entries, self.paths) = (kind, needsParentCheck, entries, paths)
        size =
            kind == .deletions
            ? 0 : entries.reduce(0) { $0 + JSON.object($1.row.object(with: $1.change)).approximateSize }
        guard kind != .deletions || fits(conditions(asSent: false)) else { return nil }
    }

    /// Whether these conditions fit into a request for deletions.
    func fits(_ conditions: [RowCondition]) -> Bool { RowCondition.length(conditions) <= Self.maximumKeys }

    /// Only some of the writes.
    subscript(indices: some Collection<Int>) -> RowGroup {
        var part = self
        part.entries = indices.map { entries[$0] }
        return part
    }

    /// Whether the request is about a megabyte, so that nothing more should be added.
    var isLarge: Bool { size > SupabaseDriver.sharedBytes }

    /// - Returns: Whether the other group's writes were added: `false` if they are of another kind, or to the same rows.
    mutating func add(_ other: RowGroup) -> Bool {
        guard other.kind == kind, !needsParentCheck, !other.needsParentCheck, paths.isDisjoint(with: other.paths) else {
            return false
        }
        entries += other.entries
        guard kind != .deletions || fits(conditions(asSent: false)) else {
            entries.removeLast(other.entries.count)
            return false
        }
        paths.formUnion(other.paths)
        size += other.size
        return true
    }

    /// The columns that the rows set; the same for all.
    func columns(_ shape: RowShape) -> String { entries[0].row.columns(with: entries[0].change, shape) }

    var objects: JSON { .array(entries.map { .object($0.row.object(with: $0.change)) }) }

    /// The condition for rows with the keys by which an upsert identifies these.
    static func keyCondition(of entries: some Collection<Entry>, _ shape: RowShape) -> RowCondition {
        let conditions = entries.map { $0.row.keyConditions(of: shape) }
        let operands = conditions.compactMap { conditions -> String? in
            guard conditions.count == 1, case .test(_, _, .value(let operand)) = conditions[0] else { return nil }
            return operand
        }
        guard operands.count == conditions.count else { return .any(conditions.map { RowCondition.all($0) }) }
        return .test(shape.keys[0], "in", .list(operands))
    }

    /// The conditions for exactly these rows.
    ///
    /// - Parameter asSent: Whether to exclude rows that have changed since the writes were first sent.
    func conditions(asSent: Bool) -> [RowCondition] {
        let last = entries[0].row.columns.count - 1
        let shared = entries[0].row.conditions.dropLast()
        let isOneParent = entries.allSatisfy { $0.row.conditions.dropLast() == shared }
        if isOneParent, !asSent || entries.allSatisfy({ $0.base == nil }) {
            let operands = entries.compactMap { entry -> String? in
                guard case .test(_, _, .value(let operand)) = entry.row.conditions[last] else { return nil }
                return operand
            }
            return shared + [.test(entries[0].row.columns[last].name, "in", .list(operands))]
        }
        let rows = entries.map { entry -> RowCondition in
            guard asSent, let base = entry.base else { return .all(entry.row.conditions) }
            return .all(entry.row.conditions + [.test(RowShape.version, "eq", .value(base))])
        }
        return [.any(rows)]
    }
}

extension RowGroup.Kind {
    /// - Returns: `nil` for a write that needs a separate request.
    fileprivate init?(_ write: DocumentWrite, _ row: RowAddress, _ change: RowChange, _ shape: RowShape) {
        switch (write.operation, write.precondition) {
        case (.set, .none):
            guard !change.dependsOnRow, row.includesKey(of: shape) else { return nil }
            self = .sets
        case (.set, .exists(false)):
            guard !change.dependsOnRow else { return nil }
            self = .creations
        case (.delete, .none): self = .deletions
        default: return nil
        }
    }
}
