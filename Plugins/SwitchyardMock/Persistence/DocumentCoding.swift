import Foundation
import Switchyard
import SwitchyardBytes

/// Documents and writes as JSON, without loss. Reading functions return `nil` for any other JSON.
///
/// Null, booleans, integers, text and arrays are written directly; every other value is an object with one short key.
enum DocumentCoding {
    static func json(_ value: DocumentValue) -> JSON {
        switch value {
        case .null: .null
        case .bool(let value): .bool(value)
        case .integer(let value): .integer(value)
        case .string(let value): .string(value)
        case .array(let elements): .array(elements.map(json))
        case .double(let value): ["d": .string(value.description)]
        case .timestamp(let value): ["t": json(value)]
        case .bytes(let value): ["b": .string(Base64.encode(value))]
        case .reference(let value): ["r": .string(value.path.rawValue), "o": value.origin.map { .string($0) } ?? .null]
        case .geoPoint(let value):
            ["g": .array([.string(value.latitude.description), .string(value.longitude.description)])]
        case .vector(let numbers): ["v": .array(numbers.map { .string($0.description) })]
        case .map(let data): ["m": json(data)]
        }
    }

    static func json(_ data: DocumentData) -> JSON {
        .object(JSONObject(data.map { (key: $0.name, value: json($0.value)) }))
    }

    static func json(_ time: Timestamp) -> JSON { .array([.integer(time.seconds), .integer(Int64(time.nanoseconds))]) }

    static func value(_ json: JSON) -> DocumentValue? {
        switch json {
        case .null: return DocumentValue.null
        case .bool(let value): return .bool(value)
        case .integer(let value): return .integer(value)
        case .number: return nil
        case .string(let value): return .string(value)
        case .array(let elements):
            let values = elements.compactMap { value($0) }
            return values.count == elements.count ? .array(values) : Optional.none
        case .object(let object):
            guard let first = object.first else { return nil }
            return tagged(first.key, first.value, object)
        }
    }

    private static func tagged(_ tag: String, _ json: JSON, _ object: JSONObject) -> DocumentValue? {
        switch tag {
        case "d": return double(json).map { .double($0) }
        case "t": return time(json).map { .timestamp($0) }
        case "b": return json.string.flatMap { Base64.decode($0.utf8) }.map { .bytes(Data($0)) }
        case "r":
            guard let text = json.string, let path = try? StoragePath(validating: text) else { return nil }
            return .reference(DocumentReference(path, origin: object["o"]?.string))
        case "g":
            guard let numbers = json.array?.compactMap(double), numbers.count == 2 else { return nil }
            return (try? GeoPoint(latitude: numbers[0], longitude: numbers[1])).map { .geoPoint($0) }
        case "v":
            guard let elements = json.array else { return nil }
            let numbers = elements.compactMap(double)
            return numbers.count == elements.count ? .vector(numbers) : Optional.none
        case "m": return data(json).map { .map($0) }
        default: return nil
        }
    }

    static func data(_ json: JSON) -> DocumentData? {
        guard let object = json.object else { return nil }
        var pairs: [(String, DocumentValue)] = []
        for member in object {
            guard let value = value(member.value) else { return nil }
            pairs.append((member.key, value))
        }
        return DocumentData(pairs)
    }

    static func time(_ json: JSON) -> Timestamp? {
        guard let parts = json.array, parts.count == 2, let seconds = parts[0].int64, let rest = parts[1].int64,
            let nanoseconds = Int32(exactly: rest)
        else { return nil }
        return try? Timestamp(validatingSeconds: seconds, nanoseconds: nanoseconds)
    }

    private static func double(_ json: JSON) -> Double? { json.string.flatMap { Double($0) } }

    // MARK: Documents

    static func json(_ document: DocumentSnapshot) -> JSON {
        [
            "path": .string(document.path.rawValue), "data": document.data.map(json) ?? .null,
            "created": document.createTime.map(json) ?? .null, "updated": document.updateTime.map(json) ?? .null,
        ]
    }

    /// A document of a cache, which may be known to be missing.
    static func knownDocument(_ json: JSON) -> DocumentSnapshot? {
        guard json["data"]?.isNull == true else { return document(json) }
        return json["path"]?.string.flatMap { try? StoragePath(validating: $0) }.map { .missing($0) }
    }

    static func document(_ json: JSON) -> DocumentSnapshot? {
        guard let text = json["path"]?.string, let path = try? StoragePath(validating: text),
            let data = json["data"].flatMap(data), let created = json["created"].flatMap(time),
            let updated = json["updated"].flatMap(time)
        else { return nil }
        return .existing(path, data, createTime: created, updateTime: updated)
    }
}

/// Queued writes as JSON.
enum WriteCoding {
    static func json(_ batch: WriteBatch) -> JSON { .array(batch.writes.map(json)) }

    static func batch(_ json: JSON) -> WriteBatch? {
        guard let elements = json.array else { return nil }
        let writes = elements.compactMap(write)
        return writes.count == elements.count ? WriteBatch(writes) : nil
    }

    private static func json(_ write: DocumentWrite) -> JSON {
        var object: JSONObject = ["path": .string(write.path.rawValue)]
        switch write.operation {
        case .set(let data): object["set"] = DocumentCoding.json(data)
        case .patch(let data, let mask):
            object["patch"] = DocumentCoding.json(data)
            object["mask"] = .array(mask.map(json))
        case .delete: object["delete"] = true
        case .verify: object["verify"] = true
        }
        switch write.precondition {
        case .none: break
        case .exists(let wanted): object["exists"] = .bool(wanted)
        case .updateTime(let time): object["version"] = DocumentCoding.json(time)
        }
        if !write.transforms.isEmpty { object["transforms"] = .array(write.transforms.map(json)) }
        return .object(object)
    }

    private static func write(_ json: JSON) -> DocumentWrite? {
        guard let text = json["path"]?.string, let path = try? StoragePath(validating: text) else { return nil }
        let operation: DocumentWrite.Operation
        if let data = json["set"].flatMap(DocumentCoding.data) {
            operation = .set(data)
        } else if let data = json["patch"].flatMap(DocumentCoding.data), let mask = json["mask"]?.array {
            let fields = mask.compactMap(field)
            guard fields.count == mask.count else { return nil }
            operation = .patch(data, mask: fields)
        } else if json["delete"] != nil {
            operation = .delete
        } else if json["verify"] != nil {
            operation = .verify
        } else {
            return nil
        }
        let elements = json["transforms"]?.array ?? []
        let transforms = elements.compactMap(transform)
        guard transforms.count == elements.count else { return nil }
        var precondition = DocumentWrite.Precondition.none
        if let wanted = json["exists"]?.bool { precondition = .exists(wanted) }
        if let version = json["version"] {
            guard let time = DocumentCoding.time(version) else { return nil }
            precondition = .updateTime(time)
        }
        return DocumentWrite(path: path, operation: operation, transforms: transforms, precondition: precondition)
    }

    private static func json(_ field: FieldPath) -> JSON { .array(field.components.map { .string($0) }) }

    private static func field(_ json: JSON) -> FieldPath? {
        json.array.flatMap { try? FieldPath(components: $0.compactMap(\.string)) }
    }

    private static func json(_ transform: FieldTransform) -> JSON {
        let (name, operand): (String, DocumentValue) =
            switch transform.operation {
            case .serverTime: ("serverTime", .null)
            case .increment(let number): ("increment", number.value)
            case .maximum(let number): ("maximum", number.value)
            case .minimum(let number): ("minimum", number.value)
            case .arrayUnion(let elements): ("union", .array(elements))
            case .arrayRemove(let elements): ("remove", .array(elements))
            }
        return ["field": json(transform.field), "do": .string(name), "with": DocumentCoding.json(operand)]
    }

    private static func transform(_ json: JSON) -> FieldTransform? {
        guard let field = json["field"].flatMap(field), let operand = json["with"].flatMap(DocumentCoding.value) else {
            return nil
        }
        let number: FieldTransform.Number? =
            switch operand {
            case .integer(let value): .integer(value)
            case .double(let value): .double(value)
            default: nil
            }
        let operation: FieldTransform.Operation? =
            switch json["do"]?.string {
            case "serverTime": .serverTime
            case "increment": number.map { .increment($0) }
            case "maximum": number.map { .maximum($0) }
            case "minimum": number.map { .minimum($0) }
            case "union": operand.arrayValue.map { .arrayUnion($0) }
            case "remove": operand.arrayValue.map { .arrayRemove($0) }
            default: nil
            }
        return operation.map { FieldTransform(field, $0) }
    }

    // MARK: A device's queue

    static func json(_ shares: [String: MockWriteQueue.Share]) -> JSON {
        let shares = shares.sorted { $0.key < $1.key }
        return [
            "waiting": .array(
                shares.flatMap { owner, share in
                    share.items.map {
                        [
                            "id": .string($0.id), "batch": json($0.batch), "at": DocumentCoding.json($0.queuedAt),
                            "attempts": .integer(Int64($0.attempts)), "owner": .string(owner),
                        ]
                    }
                }),
            "refused": .array(
                shares.flatMap { owner, share in
                    share.refused.map {
                        [
                            "id": .string($0.id), "batch": json($0.batch), "at": DocumentCoding.json($0.refusedAt),
                            "code": .string($0.error.code.rawValue), "message": .string($0.error.message),
                            "owner": .string(owner),
                        ]
                    }
                }),
        ]
    }

    /// - Parameter owner: The owner of writes by an earlier version, which did not store it.
    static func shares(_ json: JSON, owner: String) -> [String: MockWriteQueue.Share]? {
        guard let waiting = json["waiting"]?.array, let refused = json["refused"]?.array else { return nil }
        var shares: [String: MockWriteQueue.Share] = [:]
        for one in waiting {
            guard let id = one["id"]?.string, let batch = one["batch"].flatMap(batch),
                let time = one["at"].flatMap(DocumentCoding.time)
            else { return nil }
            var item = MockWriteQueue.Item(id: id, batch: batch, queuedAt: time, answer: MockWriteQueue.Answer())
            item.attempts = one["attempts"]?.int ?? 0
            shares[one["owner"]?.string ?? owner, default: .init()].items.append(item)
        }
        for one in refused {
            guard let id = one["id"]?.string, let batch = one["batch"].flatMap(batch),
                let time = one["at"].flatMap(DocumentCoding.time), let code = one["code"]?.string
            else { return nil }
            let error = StorageError(.init(rawValue: code), one["message"]?.string ?? "")
            shares[one["owner"]?.string ?? owner, default: .init()].refused.append(
                RefusedWrite(id: id, batch: batch, refusedAt: time, error: error))
        }
        return shares
    }
}
