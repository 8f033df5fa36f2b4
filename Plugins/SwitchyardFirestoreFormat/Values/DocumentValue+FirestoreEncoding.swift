package import Switchyard
package import SwitchyardBytes

extension DocumentValue {
    package func firestore(in database: FirestoreDatabase) -> JSON {
        switch self {
        case .null: .object("nullValue", .null)
        case .bool(let value): .object("booleanValue", .bool(value))
        case .integer(let value): .object("integerValue", .string(String(value)))
        case .double(let value): .object("doubleValue", DocumentValue.firestore(value))
        case .timestamp(let value): .object("timestampValue", .string(value.firestoreText))
        case .string(let value): .object("stringValue", .string(value))
        case .bytes(let value): .object("bytesValue", .string(Base64.encode(value)))
        case .reference(let value): .object("referenceValue", .string(database.resourceName(of: value)))
        case .geoPoint(let value):
            .object("geoPointValue", ["latitude": .number(value.latitude), "longitude": .number(value.longitude)])
        case .array(let values): .object("arrayValue", DocumentValue.firestore(values, in: database))
        case .vector(let numbers): DocumentValue.firestore(vector: numbers)
        case .map(let data):
            .object("mapValue", data.isEmpty ? [:] : .object("fields", .object(data.firestore(in: database))))
        }
    }

    static func firestore(_ values: [DocumentValue], in database: FirestoreDatabase) -> JSON {
        values.isEmpty ? [:] : .object("values", .array(values.map { $0.firestore(in: database) }))
    }

    /// Numbers that JSON cannot represent are text, and so is −0, whose sign servers would lose.
    private static func firestore(_ number: Double) -> JSON {
        if number.isNaN { return "NaN" }
        if number.isInfinite { return number > 0 ? "Infinity" : "-Infinity" }
        return number == 0 && number.sign == .minus ? "-0" : .number(number)
    }

    private static func firestore(vector numbers: [Double]) -> JSON {
        let elements: [JSON] = numbers.map { .object("doubleValue", firestore($0)) }
        let fields = JSONObject(distinct: [
            JSONObject.Member(key: "__type__", value: .object("stringValue", "__vector__")),
            JSONObject.Member(
                key: "value", value: .object("arrayValue", elements.isEmpty ? [:] : .object("values", .array(elements)))
            ),
        ])
        return .object("mapValue", .object("fields", .object(fields)))
    }
}

extension DocumentData {
    /// The object for `fields`.
    package func firestore(in database: FirestoreDatabase) -> JSONObject {
        JSONObject(distinct: entries.map { JSONObject.Member(key: $0.name, value: $0.value.firestore(in: database)) })
    }
}
