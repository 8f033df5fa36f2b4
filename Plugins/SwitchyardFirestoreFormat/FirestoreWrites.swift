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

extension FieldTransform {
    package init(firestore json: JSON, in database: FirestoreDatabase) throws(FirestoreFormatError) {
        let object = try json.members(of: "a transform")
        self.init(
            try FieldPath(firestore: try object.requiredString("fieldPath")),
            try Operation(firestore: object, in: database))
    }

    package func firestore(in database: FirestoreDatabase) -> JSON {
        let (key, operand) = operation.firestore(in: database)
        return .object(
            JSONObject(distinct: [
                JSONObject.Member(key: "fieldPath", value: .string(field.description)),
                JSONObject.Member(key: key, value: operand),
            ]))
    }
}

extension FieldTransform.Operation {
    fileprivate init(firestore object: JSONObject, in database: FirestoreDatabase) throws(FirestoreFormatError) {
        for member in object.members {
            switch member.key {
            case "fieldPath": continue
            case "setToServerValue":
                guard member.value == "REQUEST_TIME" || member.value == 1 else {
                    throw FirestoreFormatError("an unknown server value")
                }
                self = .serverTime
            case "increment": self = .increment(try FieldTransform.Number(firestore: member.value, in: database))
            case "maximum": self = .maximum(try FieldTransform.Number(firestore: member.value, in: database))
            case "minimum": self = .minimum(try FieldTransform.Number(firestore: member.value, in: database))
            case "appendMissingElements":
                self = .arrayUnion(try DocumentValue.list(try member.value.members(of: "an array"), in: database))
            case "removeAllFromArray":
                self = .arrayRemove(try DocumentValue.list(try member.value.members(of: "an array"), in: database))
            default: throw FirestoreFormatError("an unknown transform")
            }
            return
        }
        throw FirestoreFormatError("a transform without an operation")
    }

    fileprivate func firestore(in database: FirestoreDatabase) -> (key: String, operand: JSON) {
        switch self {
        case .serverTime: ("setToServerValue", "REQUEST_TIME")
        case .increment(let number): ("increment", number.value.firestore(in: database))
        case .maximum(let number): ("maximum", number.value.firestore(in: database))
        case .minimum(let number): ("minimum", number.value.firestore(in: database))
        case .arrayUnion(let values): ("appendMissingElements", DocumentValue.firestore(values, in: database))
        case .arrayRemove(let values): ("removeAllFromArray", DocumentValue.firestore(values, in: database))
        }
    }
}

extension FieldTransform.Number {
    fileprivate init(firestore json: JSON, in database: FirestoreDatabase) throws(FirestoreFormatError) {
        switch try DocumentValue(firestore: json, in: database) {
        case .integer(let value): self = .integer(value)
        case .double(let value): self = .double(value)
        default: throw FirestoreFormatError("a transform whose operand is not a number")
        }
    }
}

/// The answer to a commit, and each answer on the stream of writes.
package struct FirestoreWriteResults: Sendable, Hashable {
    package struct Result: Sendable, Hashable {
        /// The document's version after the write: older than the commit if nothing changed, `nil` for deletions.
        package let updateTime: Timestamp?
        /// One result per transform, in order; null for array transforms.
        package let transformResults: [DocumentValue]

        package init(updateTime: Timestamp? = nil, transformResults: [DocumentValue] = []) {
            self.updateTime = updateTime
            self.transformResults = transformResults
        }
    }

    /// One result per write, in order. Empty in the answer to a handshake.
    package let results: [Result]
    package let commitTime: Timestamp?
    /// On the stream only; returned with the next request.
    package let streamToken: String?

    package init(results: [Result], commitTime: Timestamp?, streamToken: String? = nil) {
        self.results = results
        self.commitTime = commitTime
        self.streamToken = streamToken
    }

    package init(firestore json: JSON, in database: FirestoreDatabase) throws(FirestoreFormatError) {
        let object = try json.members(of: "an answer to a commit")
        var results: [Result] = []
        for element in try object.array("writeResults") {
            let result = try element.members(of: "the result of a write")
            var values: [DocumentValue] = []
            for value in try result.array("transformResults") {
                values.append(try DocumentValue(firestore: value, in: database))
            }
            results.append(Result(updateTime: try result.timestamp("updateTime"), transformResults: values))
        }
        self.init(
            results: results, commitTime: try object.timestamp("commitTime"),
            streamToken: try object.string("streamToken"))
    }

    package func firestore(in database: FirestoreDatabase) -> JSON {
        var object = JSONObject()
        if let streamToken { object["streamToken"] = .string(streamToken) }
        if !results.isEmpty {
            object["writeResults"] = .array(
                results.map { result in
                    var message = JSONObject()
                    if let updateTime = result.updateTime { message["updateTime"] = .string(updateTime.firestoreText) }
                    if !result.transformResults.isEmpty {
                        message["transformResults"] = .array(result.transformResults.map { $0.firestore(in: database) })
                    }
                    return .object(message)
                })
        }
        if let commitTime { object["commitTime"] = .string(commitTime.firestoreText) }
        return .object(object)
    }
}
