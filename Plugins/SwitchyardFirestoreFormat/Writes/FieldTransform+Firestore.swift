package import Switchyard
package import SwitchyardBytes

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
