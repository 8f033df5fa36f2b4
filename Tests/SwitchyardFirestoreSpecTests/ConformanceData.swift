import Switchyard
import SwitchyardBytes

@testable import SwitchyardFirestoreFormat

/// Reads the data of a call: JSON text in which some strings and some first elements of lists stand for special values.
enum ConformanceData {
    /// Maps without special values can be given as fields or as one value; both must come to the same.
    enum Variant: CaseIterable { case nestedFields, wholeValues }

    /// The types of the API have no place for this.
    struct Inexpressible: Error {}

    static func json(_ text: JSON?) throws -> JSON {
        guard let text = text?.string else { throw FirestoreFormatError("a case without data") }
        return try JSON(parsing: text)
    }

    static func fields(_ json: JSON, _ variant: Variant) throws -> WriteFields {
        guard let object = json.object else { throw FirestoreFormatError("data that is no object") }
        return WriteFields(try object.map { ($0.key, try field($0.value, variant)) })
    }

    static func field(_ json: JSON, _ variant: Variant) throws -> FieldValue {
        switch json {
        case "Delete": return .delete
        case "ServerTimestamp": return .serverTime
        case .array(let elements) where elements.first == "ArrayUnion":
            return .transform(.arrayUnion(try elements.dropFirst().map(value)))
        case .array(let elements) where elements.first == "ArrayRemove":
            return .transform(.arrayRemove(try elements.dropFirst().map(value)))
        case .object:
            if variant == .wholeValues, let plain = try? value(json) { return .value(plain) }
            return .fields(try fields(json, variant))
        default: return .value(try value(json))
        }
    }

    /// A value without special ones inside.
    static func value(_ json: JSON) throws -> DocumentValue {
        switch json {
        case .null: return .null
        case .bool(let flag): return .bool(flag)
        case .integer(let number): return .integer(number)
        case .number(let number): return .double(number)
        case "Delete", "ServerTimestamp": throw Inexpressible()
        case "NaN": return .double(.nan)
        case .string(let text): return .string(text)
        case .array(let elements):
            if elements.first == "ArrayUnion" || elements.first == "ArrayRemove" { throw Inexpressible() }
            return .array(try elements.map(value))
        case .object(let object):
            return .map(DocumentData(try object.map { ($0.key, try value($0.value)) }))
        }
    }

    static func fieldPath(_ json: JSON?) throws -> FieldPath {
        guard let components = json?["field"]?.array else { throw FirestoreFormatError("a case without a field") }
        return try FieldPath(components: components.compactMap(\.string))
    }
}

enum ConformanceWrites {
    static func write(
        _ kind: String, _ body: JSON, at path: StoragePath, variant: ConformanceData.Variant
    ) throws -> DocumentWrite {
        let write: DocumentWrite =
            switch kind {
            case "create":
                try .create(path, try ConformanceData.fields(try ConformanceData.json(body["jsonData"]), variant))
            case "set": try set(body, at: path, variant)
            case "update": try .update(path, try updates(try ConformanceData.json(body["jsonData"]), variant))
            case "updatePaths": try .update(path, try pathUpdates(body, variant))
            default: .delete(path)
            }
        guard let precondition = body["precondition"] else { return write }
        return try write.requiring(try DocumentWrite.Precondition(firestore: precondition.object))
    }

    private static func set(
        _ body: JSON, at path: StoragePath, _ variant: ConformanceData.Variant
    ) throws -> DocumentWrite {
        let fields = try ConformanceData.fields(try ConformanceData.json(body["jsonData"]), variant)
        guard let option = body["option"] else { return try .set(path, fields) }
        if option["all"] == true { return try .merge(path, fields) }
        return try .merge(path, fields, mask: (option["fields"]?.array ?? []).map { try ConformanceData.fieldPath($0) })
    }

    private static func updates(_ json: JSON, _ variant: ConformanceData.Variant) throws -> FieldUpdates {
        FieldUpdates(
            try (json.object ?? [:]).map { member in
                (try FieldPath(validating: member.key), try ConformanceData.field(member.value, variant))
            })
    }

    private static func pathUpdates(_ body: JSON, _ variant: ConformanceData.Variant) throws -> FieldUpdates {
        let values = body["jsonValues"]?.array ?? []
        return FieldUpdates(
            try (body["fieldPaths"]?.array ?? []).enumerated().map { index, field in
                (
                    try ConformanceData.fieldPath(field),
                    try ConformanceData.field(try ConformanceData.json(values[index]), variant)
                )
            })
    }
}
