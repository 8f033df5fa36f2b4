package import Switchyard
package import SwitchyardBytes

/// Encodes and decodes `Write` messages: the local servers read what the provider writes.
extension DocumentWrite {
    package func firestore(in database: FirestoreDatabase) -> JSON {
        let name = JSON.string(database.resourceName(of: path))
        var object = JSONObject()
        switch operation {
        case .set(let data): object["update"] = DocumentWrite.document(name, data, in: database)
        case .patch(let data, let mask):
            object["update"] = DocumentWrite.document(name, data, in: database)
            // An empty mask: no field is written, but transforms are applied.
            object["updateMask"] = .object("fieldPaths", .array(mask.map { .string($0.description) }))
        case .delete: object["delete"] = name
        case .verify: object["verify"] = name
        }
        if !transforms.isEmpty { object["updateTransforms"] = .array(transforms.map { $0.firestore(in: database) }) }
        object["currentDocument"] = precondition.firestore
        return .object(object)
    }

    private static func document(_ name: JSON, _ data: DocumentData, in database: FirestoreDatabase) -> JSON {
        .object(
            JSONObject(distinct: [
                JSONObject.Member(key: "name", value: name),
                JSONObject.Member(key: "fields", value: .object(data.firestore(in: database))),
            ]))
    }

    package init(firestore json: JSON, in database: FirestoreDatabase) throws(FirestoreFormatError) {
        let object = try json.members(of: "a write")
        var transforms: [FieldTransform] = []
        for transform in try object.array("updateTransforms") {
            transforms.append(try FieldTransform(firestore: transform, in: database))
        }
        let precondition = try Precondition(firestore: try object.object("currentDocument"))
        if let update = try object.object("update") {
            let path = try database.path(ofName: try update.requiredString("name"))
            let data = try update.object("fields").map { fields throws(FirestoreFormatError) in
                try DocumentData(firestore: fields, in: database)
            }
            var operation = Operation.set(data ?? DocumentData())
            if let mask = try object.object("updateMask") {
                operation = .patch(data ?? DocumentData(), mask: try FieldPath.list(mask))
            }
            self.init(path: path, operation: operation, transforms: transforms, precondition: precondition)
        } else if let name = try object.string("delete") {
            self.init(path: try database.path(ofName: name), operation: .delete, precondition: precondition)
        } else if let name = try object.string("verify") {
            self.init(path: try database.path(ofName: name), operation: .verify, precondition: precondition)
        } else if let transform = try object.object("transform") {
            // The older form of a write with only transforms.
            for field in try transform.array("fieldTransforms") {
                transforms.append(try FieldTransform(firestore: field, in: database))
            }
            self.init(
                path: try database.path(ofName: try transform.requiredString("document")),
                operation: .patch(DocumentData(), mask: []), transforms: transforms, precondition: precondition)
        } else {
            throw FirestoreFormatError("a write without an operation")
        }
    }
}

extension FieldPath {
    /// The paths of a `DocumentMask`.
    package static func list(_ mask: JSONObject) throws(FirestoreFormatError) -> [FieldPath] {
        var fields: [FieldPath] = []
        for element in try mask.array("fieldPaths") {
            guard case .string(let text) = element else {
                throw FirestoreFormatError("expected a string for each field path")
            }
            fields.append(try FieldPath(firestore: text))
        }
        return fields
    }
}

extension DocumentWrite.Precondition {
    /// The `Precondition` message, `nil` if there is none.
    package var firestore: JSON? {
        switch self {
        case .none: nil
        case .exists(let flag): .object("exists", .bool(flag))
        case .updateTime(let time): .object("updateTime", .string(time.firestoreText))
        }
    }

    package init(firestore object: JSONObject?) throws(FirestoreFormatError) {
        if let flag = try object?.bool("exists") {
            self = .exists(flag)
        } else if let time = try object?.timestamp("updateTime") {
            self = .updateTime(time)
        } else {
            self = .none
        }
    }
}
