/// One change to one document, in the form that providers receive: data, mask, transforms, precondition.
///
/// Made by ``set(_:_:)``, ``merge(_:_:)``, ``update(_:_:)``, ``create(_:_:)`` and ``delete(_:)``, which separate transforms
/// and removals from the fields and validate everything, so an adapter never sees a malformed write.
public struct DocumentWrite: Sendable, Hashable {
    public enum Operation: Sendable, Hashable {
        /// Replaces the whole document.
        case set(DocumentData)
        /// Writes the fields of `mask`: those in `data` are set, those not in it are removed. Others stay.
        case patch(DocumentData, mask: [FieldPath])
        case delete
        /// Changes nothing; the precondition must hold for the rest of the batch to be carried out.
        case verify
    }

    public enum Precondition: Sendable, Hashable {
        case none
        case exists(Bool)
        /// The document must have exactly this version.
        case updateTime(Timestamp)
    }

    public let path: StoragePath
    public let operation: Operation
    /// Carried out after the operation, in this order.
    public let transforms: [FieldTransform]
    public package(set) var precondition: Precondition

    package init(
        path: StoragePath, operation: Operation, transforms: [FieldTransform] = [], precondition: Precondition = .none
    ) {
        self.path = path
        self.operation = operation
        self.transforms = transforms
        self.precondition = precondition
    }

    /// Replaces the document, or creates it.
    public static func set(_ path: StoragePath, _ fields: WriteFields) throws(StorageError) -> DocumentWrite {
        let parts = try WriteParts(set: fields)
        return try checked(path, .set(parts.data), parts.transforms)
    }

    /// Replaces the document, or creates it, with plain values.
    public static func set(_ path: StoragePath, data: DocumentData) throws(StorageError) -> DocumentWrite {
        try checked(path, .set(data), [])
    }

    /// Creates the document; fails with `.alreadyExists` if it exists.
    public static func create(_ path: StoragePath, _ fields: WriteFields) throws(StorageError) -> DocumentWrite {
        try set(path, fields).requiring(.exists(false))
    }

    /// Writes the given fields, nested maps field by field, and creates the document if it is missing.
    public static func merge(_ path: StoragePath, _ fields: WriteFields) throws(StorageError) -> DocumentWrite {
        let parts = try WriteParts(merge: fields)
        return try checked(path, .patch(parts.data, mask: parts.mask), parts.transforms)
    }

    /// Writes only those of the given fields that `mask` names, each as a whole; all of them must be among the fields.
    public static func merge(
        _ path: StoragePath, _ fields: WriteFields, mask: [FieldPath]
    ) throws(StorageError) -> DocumentWrite {
        let parts = try WriteParts(merge: fields, mask: mask)
        return try checked(path, .patch(parts.data, mask: parts.mask), parts.transforms)
    }

    /// Writes the given fields; fails with `.notFound` if the document is missing.
    public static func update(_ path: StoragePath, _ updates: FieldUpdates) throws(StorageError) -> DocumentWrite {
        let parts = try WriteParts(update: updates)
        return try checked(path, .patch(parts.data, mask: parts.mask), parts.transforms).requiring(.exists(true))
    }

    private static func checked(
        _ path: StoragePath, _ operation: Operation, _ transforms: [FieldTransform]
    ) throws(StorageError) -> DocumentWrite {
        let write = DocumentWrite(path: path, operation: operation, transforms: transforms)
        try DocumentLimits.check(write)
        return write
    }

    /// Deletes the document; no error if it is missing. Documents below it stay.
    public static func delete(_ path: StoragePath) -> DocumentWrite {
        DocumentWrite(path: path, operation: .delete)
    }

    /// The same write, carried out only if `precondition` holds.
    ///
    /// - Throws: `.invalidArgument` if the write could then never succeed: an update requires its document to exist, a
    ///   creation requires it not to.
    public func requiring(_ precondition: Precondition) throws(StorageError) -> DocumentWrite {
        switch (self.precondition, precondition) {
        case (.exists(true), .exists(false)):
            throw .invalid("The write needs its document to exist; it cannot require the opposite.")
        case (.exists(false), .exists(true)), (.exists(false), .updateTime):
            throw .invalid("The write creates its document; it cannot require that there is one.")
        default: break
        }
        var copy = self
        copy.precondition = precondition
        return copy
    }

    /// Whether applying it twice has the same effect as applying it once, whatever the document was before.
    package var isIdempotent: Bool {
        // Repeating a guarded write fails after the first attempt succeeded, so its answer would be wrong.
        precondition == .none && transforms.allSatisfy(\.operation.isIdempotent)
    }
}

extension DocumentWrite: CustomStringConvertible, CustomDebugStringConvertible {
    /// The operation, the document and the number of fields, but never their contents.
    public var description: String {
        switch operation {
        case .set(let data):
            "\(precondition == .exists(false) ? "create" : "set") \(path) (\(fields(data.count)))"
        case .patch(_, let mask):
            "\(precondition == .exists(true) ? "update" : "merge") \(path) (\(fields(mask.count)))"
        case .delete: "delete \(path)"
        case .verify: "verify \(path)"
        }
    }
    public var debugDescription: String { description }

    private func fields(_ count: Int) -> String {
        let all = count + transforms.count
        return "\(all) field\(all == 1 ? "" : "s")"
    }
}
