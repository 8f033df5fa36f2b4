import Switchyard

/// Other paths in place of those in values, writes and queries, wherever these name a document.
extension StoragePath {
    /// The documents on the way to this one, outermost first, and itself.
    var lineage: [StoragePath] {
        let parts = segments
        return stride(from: 2, through: parts.count, by: 2).map {
            StoragePath(unchecked: parts[..<$0].joined(separator: "/"))
        }
    }

    /// The path of what is here or below, after `old` has become `new`.
    func moved(from old: StoragePath, to new: StoragePath) -> StoragePath {
        if self == old { return new }
        guard isBelow(old) else { return self }
        let rest = rawValue.utf8.dropFirst(old.rawValue.utf8.count)
        return StoragePath(unchecked: new.rawValue + String(decoding: rest, as: UTF8.self))
    }
}

extension CollectionPath {
    func mappingPaths(_ body: (StoragePath) -> StoragePath) -> CollectionPath {
        guard isValid, let parent else { return self }
        let mapped = body(parent)
        return mapped == parent ? self : CollectionPath(unchecked: "\(mapped.rawValue)/\(id)")
    }
}

extension DocumentValue {
    /// References to another database stay.
    func mappingPaths(_ body: (StoragePath) -> StoragePath) -> DocumentValue {
        switch self {
        case .reference(let reference) where reference.origin == nil:
            .reference(DocumentReference(body(reference.path)))
        case .array(let elements): .array(elements.map { $0.mappingPaths(body) })
        case .map(let data): .map(data.mappingPaths(body))
        default: self
        }
    }
}

extension DocumentData {
    func mappingPaths(_ body: (StoragePath) -> StoragePath) -> DocumentData {
        DocumentData(
            inOrder: entries.map { entry in
                var entry = entry
                entry.value = entry.value.mappingPaths(body)
                return entry
            })
    }
}

extension DocumentWrite {
    func mappingPaths(_ body: (StoragePath) -> StoragePath) -> DocumentWrite { mapping(at: body(path), body) }

    /// Those in its values only.
    func mappingReferences(_ body: (StoragePath) -> StoragePath) -> DocumentWrite { mapping(at: path, body) }

    private func mapping(at path: StoragePath, _ body: (StoragePath) -> StoragePath) -> DocumentWrite {
        let operation: Operation =
            switch operation {
            case .set(let data): .set(data.mappingPaths(body))
            case .patch(let data, let mask): .patch(data.mappingPaths(body), mask: mask)
            case .delete, .verify: operation
            }
        return DocumentWrite(
            path: path, operation: operation, transforms: transforms.map { $0.mappingPaths(body) },
            precondition: precondition)
    }
}

extension FieldTransform {
    fileprivate func mappingPaths(_ body: (StoragePath) -> StoragePath) -> FieldTransform {
        switch operation {
        case .arrayUnion(let elements): FieldTransform(field, .arrayUnion(elements.map { $0.mappingPaths(body) }))
        case .arrayRemove(let elements): FieldTransform(field, .arrayRemove(elements.map { $0.mappingPaths(body) }))
        case .serverTime, .increment, .maximum, .minimum: self
        }
    }
}

extension Query {
    func mappingPaths(_ body: (StoragePath) -> StoragePath) -> Query {
        guard mistake == nil else { return self }
        let source: Source =
            switch source {
            case .collection(let path): .collection(path.mappingPaths(body))
            case .group(let id, let ancestor): .group(id: id, under: ancestor.map(body))
            }
        var query = Query(source: source)
        query.filter = filter?.mappingPaths(body)
        query.orders = orders
        query.limit = limit
        query.offset = offset
        query.start = start?.mappingPaths(body)
        query.end = end?.mappingPaths(body)
        query.projection = projection
        return query
    }
}

extension Filter {
    fileprivate func mappingPaths(_ body: (StoragePath) -> StoragePath) -> Filter {
        switch self {
        case .comparison(let field, let operation, let operand):
            .comparison(field, operation, operand.mappingPaths(body))
        case .test: self
        case .all(let filters): .all(filters.map { $0.mappingPaths(body) })
        case .any(let filters): .any(filters.map { $0.mappingPaths(body) })
        }
    }
}

extension Query.Cursor {
    fileprivate func mappingPaths(_ body: (StoragePath) -> StoragePath) -> Query.Cursor {
        Query.Cursor(values: values.map { $0.mappingPaths(body) }, isInclusive: isInclusive)
    }
}

extension LiveQuery {
    func mappingPaths(_ body: (StoragePath) -> StoragePath) -> LiveQuery {
        switch self {
        case .document(let path): .document(body(path))
        case .query(let query): .query(query.mappingPaths(body))
        }
    }
}
