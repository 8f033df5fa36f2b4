import Switchyard
import SwitchyardBytes

/// A write as it stands in the log: complete, so that it can be carried out on another backend.
struct LoggedWrite: Codable {
    private enum Kind: String, Codable { case set, patch, delete, verify }
    private enum Change: String, Codable { case serverTime, increment, maximum, minimum, union, remove }

    private struct Transform: Codable {
        var field: [String]
        var change: Change
        var values: [DocumentValue]?

        init(_ transform: FieldTransform) {
            field = transform.field.components
            switch transform.operation {
            case .serverTime: change = .serverTime
            case .increment(let number): (change, values) = (.increment, [number.value])
            case .maximum(let number): (change, values) = (.maximum, [number.value])
            case .minimum(let number): (change, values) = (.minimum, [number.value])
            case .arrayUnion(let elements): (change, values) = (.union, elements)
            case .arrayRemove(let elements): (change, values) = (.remove, elements)
            }
        }

        func transform() throws(StorageError) -> FieldTransform {
            FieldTransform(try FieldPath(components: field), try operation())
        }

        private func operation() throws(StorageError) -> FieldTransform.Operation {
            switch change {
            case .serverTime: .serverTime
            case .increment: .increment(try number())
            case .maximum: .maximum(try number())
            case .minimum: .minimum(try number())
            case .union: .arrayUnion(values ?? [])
            case .remove: .arrayRemove(values ?? [])
            }
        }

        private func number() throws(StorageError) -> FieldTransform.Number {
            switch values?.first {
            case .integer(let value): .integer(value)
            case .double(let value): .double(value)
            default:
                throw StorageError(.invalidArgument, "An entry of the move's log has a transform without a number.")
            }
        }
    }

    private var path: StoragePath
    private var kind: Kind
    private var data: DocumentData?
    private var mask: [[String]]?
    private var transforms: [Transform]?
    private var exists: Bool?

    init(_ write: DocumentWrite) {
        path = write.path
        switch write.operation {
        case .set(let data): (kind, self.data) = (.set, data)
        case .patch(let data, let mask): (kind, self.data, self.mask) = (.patch, data, mask.map(\.components))
        case .delete: kind = .delete
        case .verify: kind = .verify
        }
        if !write.transforms.isEmpty { transforms = write.transforms.map(Transform.init) }
        // A version means nothing elsewhere. A write that has one is fenced instead; see `LoggedStorageClient`.
        if case .exists(let exists) = write.precondition { self.exists = exists }
    }

    func write() throws(StorageError) -> DocumentWrite {
        let operation: DocumentWrite.Operation
        switch kind {
        case .set: operation = .set(data ?? DocumentData())
        case .patch:
            var fields: [FieldPath] = []
            for names in mask ?? [] { fields.append(try FieldPath(components: names)) }
            operation = .patch(data ?? DocumentData(), mask: fields)
        case .delete: operation = .delete
        case .verify: operation = .verify
        }
        var changes: [FieldTransform] = []
        for transform in transforms ?? [] { changes.append(try transform.transform()) }
        return DocumentWrite(
            path: path, operation: operation, transforms: changes,
            precondition: exists.map { .exists($0) } ?? .none)
    }
}
