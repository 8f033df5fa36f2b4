/// Splits what a user writes into what travels: plain data, the mask of fields, and transforms.
///
/// Transforms and removals are cut out of the data, and a map left empty by that goes too, unless it was empty before.
/// A transform's own field never enters the mask; a removal enters the mask and not the data.
struct WriteParts {
    private(set) var data = DocumentData()
    private(set) var mask: [FieldPath] = []
    private(set) var transforms: [FieldTransform] = []

    init(set fields: WriteFields) throws(StorageError) {
        let (data, _) = try cut(fields, at: nil, mode: .set)
        self.data = data ?? DocumentData()
        try DocumentLimits.check(self.data)
    }

    init(merge fields: WriteFields) throws(StorageError) {
        let (data, _) = try cut(fields, at: nil, mode: .merge)
        self.data = data ?? DocumentData()
        try DocumentLimits.check(self.data)
    }

    init(merge fields: WriteFields, mask wanted: [FieldPath]) throws(StorageError) {
        try WriteParts.checkPrefixes(wanted)
        try self.init(merge: fields)
        // Everything that the mask does not name is left out; what it names must be there.
        let everything = data
        data = DocumentData()
        var found: [FieldPath] = []
        for field in wanted {
            let transformed = transforms.contains { $0.field.isWithin(field) }
            let removed = mask.contains { $0.isWithin(field) && everything[$0] == nil }
            if let value = everything[field] {
                data[field] = value
            } else if !transformed && !removed {
                throw .invalid("The merge names the field “\(field)”, which is not among its data.")
            }
            if !transforms.contains(where: { $0.field == field }) { found.append(field) }
        }
        mask = found
        for transform in transforms where !wanted.contains(where: { transform.field.isWithin($0) }) {
            throw .invalid("The transform of “\(transform.field)” lies outside of the fields to merge.")
        }
    }

    init(update updates: FieldUpdates) throws(StorageError) {
        guard !updates.isEmpty else { throw .invalid("An update needs at least one field.") }
        try WriteParts.checkPrefixes(updates.entries.map(\.field))
        for entry in updates.entries {
            switch entry.value {
            case .delete: mask.append(entry.field)
            case .transform(let operation): try append(operation, at: entry.field)
            case .value(let value):
                data[entry.field] = value
                mask.append(entry.field)
            case .fields(let fields):
                let (inner, isEmptied) = try cut(fields, at: entry.field, mode: .update)
                if let inner, !isEmptied {
                    data[entry.field] = .map(inner)
                    mask.append(entry.field)
                }
            }
        }
        try DocumentLimits.check(data)
    }

    private enum Mode { case set, merge, update }

    /// The plain part of `fields`; `isEmptied` when there is none because everything was cut out.
    private mutating func cut(
        _ fields: WriteFields, at prefix: FieldPath?, mode: Mode
    ) throws(StorageError) -> (data: DocumentData?, isEmptied: Bool) {
        var data = DocumentData()
        if fields.isEmpty {
            if mode == .merge, let prefix { mask.append(prefix) }
            return (data, false)
        }
        for (name, value) in fields.entries {
            try DocumentLimits.check(name: name)
            let field = prefix?.appending(name) ?? FieldPath(unchecked: [name])
            switch value {
            case .value(.map(let map)) where mode == .merge && !map.isEmpty:
                // A merge goes into nested maps, so that fields it does not name stay there as well.
                let (inner, _) = try cut(WriteFields(map), at: field, mode: mode)
                if let inner { data[name] = .map(inner) }
            case .value(let value):
                data[name] = value
                if mode == .merge { mask.append(field) }
            case .transform(let operation): try append(operation, at: field)
            case .delete:
                guard mode == .merge else {
                    throw .invalid(
                        "“\(field)” cannot be deleted here: only a merge, or an update at its own path, can.")
                }
                mask.append(field)
            case .fields(let inner):
                let (plain, isEmptied) = try cut(inner, at: field, mode: mode)
                if let plain, !isEmptied { data[name] = .map(plain) }
            }
        }
        return data.isEmpty ? (nil, true) : (data, false)
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
