import Switchyard
import SwitchyardBytes
import SwitchyardSync

/// The format of writes for the commit function, and of its answer.
extension DocumentWrite {
    var postgres: JSONObject {
        var object: JSONObject = ["path": .string(path.rawValue)]
        switch operation {
        case .set(let data):
            object["op"] = "set"
            object["data"] = .object(data.postgres)
        case .patch(let data, let mask):
            object["op"] = "patch"
            object["data"] = .object(data.postgres)
            object["mask"] = .array(mask.map(\.postgres))
        case .delete: object["op"] = "delete"
        case .verify: object["op"] = "verify"
        }
        switch precondition {
        case .none: break
        case .exists(let exists): object["exists"] = .bool(exists)
        case .updateTime(let time): object["updateTime"] = .string(time.postgresText)
        }
        if !transforms.isEmpty { object["transforms"] = .array(transforms.map(\.postgres)) }
        return object
    }
}

extension FieldTransform {
    fileprivate var postgres: JSON {
        var object: JSONObject = ["field": field.postgres]
        switch operation {
        case .serverTime: object["op"] = "serverTime"
        case .increment(let number):
            object["op"] = "increment"
            object["value"] = number.value.postgres
        case .maximum(let number):
            object["op"] = "maximum"
            object["value"] = number.value.postgres
        case .minimum(let number):
            object["op"] = "minimum"
            object["value"] = number.value.postgres
        case .arrayUnion(let elements):
            object["op"] = "arrayUnion"
            object["value"] = .array(elements.map(\.postgres))
        case .arrayRemove(let elements):
            object["op"] = "arrayRemove"
            object["value"] = .array(elements.map(\.postgres))
        }
        return .object(object)
    }
}

extension CommitResult {
    init(postgres json: JSON) throws(StorageError) {
        guard let commitTime = Timestamp(postgres: json["commitTime"]), let results = json["results"]?.array else {
            throw .unreadableAnswer
        }
        var transformResults: [[DocumentValue]?] = []
        for result in results {
            var values: [DocumentValue] = []
            for value in result["transforms"]?.array ?? [] { values.append(DocumentValue(postgres: value)) }
            transformResults.append(values)
        }
        self.init(
            commitTime: commitTime, updateTimes: results.map { Timestamp(postgres: $0["updateTime"]) },
            transformResults: transformResults)
    }
}
