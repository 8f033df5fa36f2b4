/// The limits that apply to every document on every backend.
package enum DocumentLimits {
    /// Names, values and overhead together.
    package static let maximumBytes = 1_048_576
    /// Nested maps and arrays.
    package static let maximumDepth = 20
    static let maximumNameBytes = 1500
    /// Transforms of one document in one batch.
    static let maximumTransforms = 500
    static let tooDeep = StorageError.invalid("Maps and arrays nest at most \(maximumDepth) levels deep in a document.")

    /// The data of `write` must fit into a document. The result of a merge is known only where it is carried out.
    static func check(_ write: DocumentWrite) throws(StorageError) {
        try write.path.checked()
        guard write.transforms.count <= maximumTransforms else { throw tooManyTransforms(write.transforms.count) }
        switch write.operation {
        case .set(let data), .patch(let data, _):
            try check(data, depth: 1)
            try checkSize(data, at: write.path)
        case .delete, .verify: break
        }
    }

    /// Checks the total over several writes to one document.
    static func checkTransforms(_ writes: some Collection<DocumentWrite>) throws(StorageError) {
        var counts: [StoragePath: Int] = [:]
        for write in writes where !write.transforms.isEmpty {
            let count = counts[write.path, default: 0] + write.transforms.count
            guard count <= maximumTransforms else { throw tooManyTransforms(count) }
            counts[write.path] = count
        }
    }

    private static func tooManyTransforms(_ count: Int) -> StorageError {
        .invalid(
            "A batch holds at most \(maximumTransforms) transforms of one document; this one has \(count). Split it.")
    }

    /// Whether `data` fits into a document at `path`. For backends that apply merges and transforms themselves.
    package static func checkSize(_ data: DocumentData, at path: StoragePath) throws(StorageError) {
        let size = data.storedBytes + path.rawValue.utf8.count + 1 + 16 + 32
        guard size <= maximumBytes else {
            throw .invalid(
                "A document has at most \(maximumBytes) bytes; this one has \(size). Move large contents to file storage."
            )
        }
    }

    private static func check(_ data: DocumentData, depth: Int) throws(StorageError) {
        for (name, value) in data {
            try check(name: name)
            try check(value, depth: depth)
        }
    }

    static func check(name: String) throws(StorageError) {
        guard !name.isEmpty else { throw .invalid("A field name cannot be empty.") }
        guard name.utf8.count <= maximumNameBytes else {
            throw .invalid("A field name has at most \(maximumNameBytes) bytes of UTF-8.")
        }
        guard !FieldPath.isReserved(name) else {
            throw .invalid("The field name “\(name)” begins and ends with two underscores; such names are reserved.")
        }
    }

    /// Checks the path of a single field, which may be too deep for any document.
    static func check(_ field: FieldPath) throws(StorageError) {
        guard field.components.count <= maximumDepth + 1 else { throw tooDeep }
        for name in field.components { try check(name: name) }
    }

    /// - Parameter depth: The number of maps and arrays around the value, including the document itself.
    static func check(_ value: DocumentValue, depth: Int) throws(StorageError) {
        switch value {
        case .map(let map):
            guard depth <= maximumDepth else { throw tooDeep }
            try check(map, depth: depth + 1)
        case .array(let elements):
            guard depth <= maximumDepth else { throw tooDeep }
            for element in elements {
                if case .array = element {
                    throw .invalid("An array cannot hold an array; put a map in between.")
                }
                try check(element, depth: depth + 1)
            }
        case .reference(let reference): try reference.path.checked()
        default: break
        }
    }
}

extension DocumentData {
    /// The size that counts against the limit: names and values as servers count them.
    package var storedBytes: Int {
        entries.reduce(0) { $0 + $1.name.utf8.count + 1 + $1.value.storedBytes }
    }
}

extension DocumentValue {
    /// - Throws: `.invalidArgument` if a reference in it has an invalid path.
    func checkPaths() throws(StorageError) {
        switch self {
        case .reference(let reference): try reference.path.checked()
        case .array(let elements): for element in elements { try element.checkPaths() }
        case .map(let map): for (_, value) in map { try value.checkPaths() }
        default: break
        }
    }

    package var storedBytes: Int {
        switch self {
        case .null, .bool: 1
        case .integer, .double, .timestamp: 8
        case .string(let value): value.utf8.count + 1
        case .bytes(let value): value.count
        case .reference(let value): value.path.rawValue.utf8.count + 16
        case .geoPoint: 16
        case .array(let elements): elements.reduce(0) { $0 + $1.storedBytes }
        case .vector(let numbers): numbers.count * 8
        case .map(let map): map.storedBytes
        }
    }
}
