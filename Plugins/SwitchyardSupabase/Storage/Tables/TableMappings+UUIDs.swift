import Foundation
import Switchyard
import SwitchyardSync

/// The database's spelling of UUIDs, in paths, queries and writes.
extension TableMappings {
    func canonical(_ path: StoragePath) -> StoragePath {
        guard hasUUIDs, path.isValid, let place = try? place(of: path.collection) else { return path }
        let mapping = place.table.mapping
        let collection = place.table.canonical(path.collection)
        return StoragePath(unchecked: "\(collection.rawValue)/\(mapping.canonical(path.id, in: mapping.idColumn))")
    }

    /// A document with a new name, for a table with UUIDs as keys, or a provisional one where the database makes keys; `nil`
    /// for other collections.
    func newDocument(in collection: CollectionPath) -> StoragePath? {
        guard hasUUIDs || generatesIDs, collection.isValid, let mapping = try? place(of: collection)?.table.mapping
        else {
            return nil
        }
        if mapping.generatesIDs { return collection.document(ProvisionalKey.make()) }
        guard mapping.uuidColumns.contains(mapping.idColumn) else { return nil }
        return canonical(collection.document(UUID().uuidString))
    }

    func isProvisional(_ path: StoragePath) -> Bool { provisionalTable(of: path) != nil }

    /// Whether the addition that a path stands for can be found by its witness, and the row shown until then: no value of type
    /// `UUID` could read a provisional key.
    func isFound(_ path: StoragePath) -> Bool {
        guard let mapping = provisionalTable(of: path)?.mapping else { return false }
        return mapping.witnessColumn != nil && !mapping.uuidColumns.contains(mapping.idColumn)
    }

    private func provisionalTable(of path: StoragePath) -> MappedTable? {
        guard generatesIDs, path.isValid, ProvisionalKey.isOne(path.id),
            let table = (try? place(of: path.collection))??.table, table.mapping.generatesIDs
        else { return nil }
        return table
    }

    /// Refuses what would write a provisional key into the database.
    ///
    /// - Parameter isAddition: Whether the rows themselves have no keys yet.
    /// - Throws: A refusal.
    func checkKeys(_ writes: [DocumentWrite], isAddition: Bool = false) throws(StorageError) {
        guard generatesIDs else { return }
        for write in writes {
            var stranger = (isAddition ? write.path.parent : write.path)?.provisional(in: self)
            for value in write.values where stranger == nil { stranger = value.provisional(in: self) }
            if let stranger { throw .namelessRow(stranger) }
        }
    }

    func canonical(_ write: DocumentWrite) -> DocumentWrite {
        guard hasUUIDs, write.path.isValid, let mapping = try? place(of: write.path.collection)?.table.mapping else {
            return write
        }
        let operation: DocumentWrite.Operation =
            switch write.operation {
            case .set(let data): .set(mapping.canonical(data))
            case .patch(let data, let mask): .patch(mapping.canonical(data), mask: mask)
            case .delete, .verify: write.operation
            }
        return DocumentWrite(
            path: canonical(write.path), operation: operation,
            transforms: write.transforms.map { mapping.canonical($0) }, precondition: write.precondition)
    }

    func canonical(_ batch: OutgoingBatch) -> OutgoingBatch {
        guard hasUUIDs else { return batch }
        return OutgoingBatch(
            id: batch.id, writes: batch.writes.map { canonical($0) }, mayHaveBeenSent: batch.mayHaveBeenSent,
            userID: batch.userID, bases: batch.bases)
    }

    func canonical(_ query: Query) -> Query {
        guard hasUUIDs, query.mistake == nil, let place = try? place(of: query) else { return query }
        let mapping = place.table.mapping
        var result = query
        if case .collection(let path) = query.source {
            result = Query(source: .collection(place.table.canonical(path)))
            result.orders = query.orders
            result.limit = query.limit
            result.offset = query.offset
            result.projection = query.projection
        }
        let orders = query.effectiveOrders
        result.filter = query.filter.map { canonical($0, mapping) }
        result.start = query.start.map { canonical($0, along: orders, mapping) }
        result.end = query.end.map { canonical($0, along: orders, mapping) }
        return result
    }

    private func canonical(_ filter: Filter, _ mapping: SupabaseTableMapping) -> Filter {
        switch filter {
        case .all(let filters): .all(filters.map { canonical($0, mapping) })
        case .any(let filters): .any(filters.map { canonical($0, mapping) })
        case .test: filter
        case .comparison(let field, let operation, let operand):
            .comparison(field, operation, canonical(operand, of: field, mapping))
        }
    }

    private func canonical(
        _ cursor: Query.Cursor, along orders: [Query.Order], _ mapping: SupabaseTableMapping
    ) -> Query.Cursor {
        let values = zip(cursor.values, orders).map { canonical($0, of: $1.field, mapping) }
        return Query.Cursor(values: values, isInclusive: cursor.isInclusive)
    }

    private func canonical(
        _ value: DocumentValue, of field: FieldPath, _ mapping: SupabaseTableMapping
    ) -> DocumentValue {
        guard field.isDocumentID else { return mapping.canonical(value, of: field) }
        switch value {
        case .reference(let reference):
            return .reference(DocumentReference(canonical(reference.path), origin: reference.origin))
        case .array(let elements): return .array(elements.map { canonical($0, of: field, mapping) })
        default: return value
        }
    }
}

extension SupabaseTableMapping {
    /// A name or value of a column in the database's spelling.
    func canonical(_ text: String, in column: String) -> String {
        uuidColumns.contains(column) && UUID(uuidString: text) != nil ? text.lowercased() : text
    }

    fileprivate func canonical(_ data: DocumentData) -> DocumentData {
        DocumentData(data.map { ($0.name, canonical($0.value, of: FieldPath(unchecked: [$0.name]))) })
    }

    fileprivate func canonical(_ transform: FieldTransform) -> FieldTransform {
        let field = transform.field
        return switch transform.operation {
        case .arrayUnion(let elements):
            FieldTransform(field, .arrayUnion(elements.map { canonical($0, of: field) }))
        case .arrayRemove(let elements):
            FieldTransform(field, .arrayRemove(elements.map { canonical($0, of: field) }))
        case .serverTime, .increment, .maximum, .minimum: transform
        }
    }

    /// Elements of arrays, too: a column may be an array of UUIDs.
    fileprivate func canonical(_ value: DocumentValue, of field: FieldPath) -> DocumentValue {
        guard field.components.count == 1, let column = fields[field.components[0]], uuidColumns.contains(column) else {
            return value
        }
        return switch value {
        case .string(let text): .string(canonical(text, in: column))
        case .array(let elements): .array(elements.map { canonical($0, of: field) })
        case .reference(let reference):
            .reference(
                DocumentReference(
                    reference.path.collection.document(canonical(reference.path.id, in: column)),
                    origin: reference.origin))
        default: value
        }
    }
}
