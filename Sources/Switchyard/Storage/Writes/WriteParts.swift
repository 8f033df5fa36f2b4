/// Splits the fields of a write into the parts that are sent: plain data, the field mask, and transforms.
///
/// Transforms and removals are cut out of the data, and so is a map that becomes empty thereby, unless it was empty before.
/// The field of a transform is never in the mask; a removal is in the mask but not in the data.
struct WriteParts {
    private(set) var data = DocumentData()
    private(set) var mask: [FieldPath] = []
    private(set) var transforms: [FieldTransform] = []

    init(set fields: WriteFields) throws(StorageError) {
        data = try cut(fields, at: [], mode: .set) ?? DocumentData()
    }

    init(merge fields: WriteFields) throws(StorageError) {
        data = try cut(fields, at: [], mode: .merge) ?? DocumentData()
    }

    /// Only the fields inside `wanted`; each of these must be present.
    init(merge fields: WriteFields, mask wanted: [FieldPath]) throws(StorageError) {
        try WriteParts.checkPrefixes(wanted)
        try self.init(merge: fields)
        let everything = data
        let written = mask
        for removed in written where everything[removed] == nil {
            // In a field that is written as a whole, there is nothing to delete.
            guard wanted.contains(removed) else {
                throw .invalid(
                    "The fields delete “\(removed)”, but the mask does not name it. Add it to the mask.")
            }
        }
        transforms = transforms.filter { transform in wanted.contains { transform.field.isWithin($0) } }
        data = DocumentData()
        mask = []
        for field in wanted {
            let value = everything[field]
            let isTransformed = transforms.contains { $0.field.isWithin(field) }
            let isRemoved = written.contains { $0.isWithin(field) && everything[$0] == nil }
            guard value != nil || isTransformed || isRemoved else {
                throw .invalid(
                    "The mask names “\(field)”, which is not among the fields. Add it to the fields, or remove it from the mask."
                )
            }
            data[field] = value
            if !transforms.contains(where: { $0.field == field }) { mask.append(field) }
        }
    }

    init(update updates: FieldUpdates) throws(StorageError) {
        guard !updates.isEmpty else { throw .invalid("An update needs at least one field.") }
        try WriteParts.checkPrefixes(updates.entries.map(\.field))
        for entry in updates.entries {
            try DocumentLimits.check(entry.field)
            switch entry.value {
            case .delete: mask.append(entry.field)
            case .transform(let operation): try append(operation, at: entry.field)
            case .value(let value):
                data[entry.field] = value
                mask.append(entry.field)
            case .fields(let fields):
                // The map replaces the current value, so it is in the mask even if only transforms are left of it.
                data[entry.field] = try cut(fields, at: entry.field.components, mode: .update).map { .map($0) }
                mask.append(entry.field)
            }
        }
    }

    private enum Mode { case set, merge, update }

    /// The plain part of `fields`; `nil` if everything in it was cut out.
    private mutating func cut(
        _ fields: WriteFields, at prefix: [String], mode: Mode
    ) throws(StorageError) -> DocumentData? {
        guard prefix.count <= DocumentLimits.maximumDepth else { throw DocumentLimits.tooDeep }
        if fields.isEmpty {
            if mode == .merge, !prefix.isEmpty { mask.append(FieldPath(unchecked: prefix)) }
            return DocumentData()
        }
        var plain: [DocumentData.Entry] = []
        plain.reserveCapacity(fields.entries.count)
        for (name, value) in fields.entries {
            try DocumentLimits.check(name: name)
            var field: FieldPath { FieldPath(unchecked: prefix + [name]) }
            switch value {
            case .value(.map(let map)) where mode == .merge && !map.isEmpty:
                // A merge also merges nested maps, so fields that it does not name stay there, too.
                let inner = try cut(WriteFields(map), at: prefix + [name], mode: mode)
                if let inner { plain.append(.init(name: name, value: .map(inner))) }
            case .value(let value):
                plain.append(.init(name: name, value: value))
                if mode == .merge { mask.append(field) }
            case .transform(let operation): try append(operation, at: field)
            case .delete:
                guard mode == .merge else {
                    throw .invalid(
                        "“\(field)” cannot be deleted here: only a merge, or an update at its own path, can.")
                }
                mask.append(field)
            case .fields(let fields):
                let inner = try cut(fields, at: prefix + [name], mode: mode)
                if let inner { plain.append(.init(name: name, value: .map(inner))) }
            }
        }
        return plain.isEmpty ? nil : DocumentData(unsorted: plain)
    }

    private mutating func append(_ operation: FieldTransform.Operation, at field: FieldPath) throws(StorageError) {
        switch operation {
        case .arrayUnion(let elements), .arrayRemove(let elements):
            for element in elements {
                if case .array = element { throw .invalid("The array at “\(field)” cannot hold an array itself.") }
                try DocumentLimits.check(element, depth: field.components.count + 1)
            }
        case .serverTime, .increment, .maximum, .minimum: break
        }
        transforms.append(FieldTransform(field, operation))
    }

    private static func checkPrefixes(_ fields: [FieldPath]) throws(StorageError) {
        let sorted = fields.sorted { $0.ordering(to: $1) == .before }
        for (field, next) in zip(sorted, sorted.dropFirst()) where next.isWithin(field) {
            throw .invalid(
                field == next
                    ? "The field “\(field)” is given twice."
                    : "The fields “\(field)” and “\(next)” overlap; give one of them.")
        }
    }
}
