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
