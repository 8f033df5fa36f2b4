import Foundation
package import Switchyard
package import SwitchyardBytes

/// Decodes values such as `{"stringValue": "a"}`. It runs for every field of every document, so it uses the parsed members
/// directly: no dictionaries, no intermediate types.
extension DocumentValue {
    package init(firestore json: JSON, in database: FirestoreDatabase) throws(FirestoreFormatError) {
        guard case .object(let object) = json, object.members.count == 1 else {
            throw FirestoreFormatError("a value without exactly one type")
        }
        let member = object.members[0]
        switch member.key {
        case "stringValue":
            guard case .string(let text) = member.value else {
                throw FirestoreFormatError("expected a string in “stringValue”")
            }
            self = .string(text)
        case "integerValue":
            switch member.value {
            case .string(let text):
                guard let number = Int64(text) else {
                    throw FirestoreFormatError("expected an integer of 64 bits in “integerValue”")
                }
                self = .integer(number)
            case let value:
                guard let number = value.int64 else {
                    throw FirestoreFormatError("expected an integer of 64 bits in “integerValue”")
                }
                self = .integer(number)
            }
        case "doubleValue": self = .double(try DocumentValue.double(member.value))
        case "booleanValue":
            guard case .bool(let flag) = member.value else {
                throw FirestoreFormatError("expected a boolean in “booleanValue”")
            }
            self = .bool(flag)
        case "timestampValue":
            guard case .string(let text) = member.value else {
                throw FirestoreFormatError("expected a string in “timestampValue”")
            }
            self = .timestamp(try Timestamp(firestore: text))
        case "mapValue": self = try DocumentValue.map(member.value, in: database)
        case "arrayValue":
            guard case .object(let array) = member.value else {
                throw FirestoreFormatError("expected an object in “arrayValue”")
            }
            self = .array(try DocumentValue.list(array, in: database))
        case "nullValue":
            guard member.value.isNull || member.value == .string("NULL_VALUE") else {
                throw FirestoreFormatError("expected null in “nullValue”")
            }
            self = .null
        case "referenceValue":
            guard case .string(let name) = member.value else {
                throw FirestoreFormatError("expected a string in “referenceValue”")
            }
            self = .reference(try database.reference(ofName: name))
        case "geoPointValue": self = .geoPoint(try DocumentValue.geoPoint(member.value))
        case "bytesValue":
            guard case .string(let text) = member.value, let bytes = JSON.base64(text) else {
                throw FirestoreFormatError("expected base64 in “bytesValue”")
            }
            self = .bytes(Data(bytes))
        default: throw FirestoreFormatError("a value of an unknown type")
        }
    }

    /// The elements of `{"values": […]}`; an empty array has no `values` member.
    static func list(_ array: JSONObject, in database: FirestoreDatabase) throws(FirestoreFormatError)
        -> [DocumentValue]
    {
        let elements = try array.array("values")
        var values: [DocumentValue] = []
        values.reserveCapacity(elements.count)
        for element in elements { values.append(try DocumentValue(firestore: element, in: database)) }
        return values
    }

    /// A number, or the text of one that JSON cannot represent.
    private static func double(_ json: JSON) throws(FirestoreFormatError) -> Double {
        switch json {
        case .number(let value): return value
        case .integer(let value): return Double(value)
        case .string("NaN"): return .nan
        case .string("Infinity"): return .infinity
        case .string("-Infinity"): return -.infinity
        case .string(let text):
            guard let value = Double(text), value.isFinite else { throw FirestoreFormatError("expected a number") }
            return value
        default: throw FirestoreFormatError("expected a number")
        }
    }

    /// Missing coordinates are zero, since proto JSON omits defaults.
    private static func geoPoint(_ json: JSON) throws(FirestoreFormatError) -> GeoPoint {
        let object = try json.members(of: "a geo point")
        let latitude = try object.nonNull("latitude").map(double) ?? 0
        let longitude = try object.nonNull("longitude").map(double) ?? 0
        do throws(StorageError) {
            return try GeoPoint(latitude: latitude, longitude: longitude)
        } catch {
            throw FirestoreFormatError("a geo point with coordinates that are not on Earth")
        }
    }

    private static func map(_ json: JSON, in database: FirestoreDatabase) throws(FirestoreFormatError) -> DocumentValue
    {
        let object = try json.members(of: "a map")
        guard let fields = try object.object("fields") else { return .map(DocumentData()) }
        if let vector = vector(fields) { return .vector(vector) }
        return .map(try DocumentData(firestore: fields, in: database))
    }

    /// A vector is a map with a reserved type name. A map that is only similar stays a map.
    private static func vector(_ fields: JSONObject) -> [Double]? {
        guard fields.members.count == 2, fields["__type__"]?["stringValue"] == .string("__vector__"),
            case .object(let array)? = fields["value"]?["arrayValue"]
        else { return nil }
        let elements = array["values"]?.array ?? []
        var numbers: [Double] = []
        numbers.reserveCapacity(elements.count)
        for element in elements {
            guard case .object(let value) = element, value.members.count == 1, let member = value.members.first else {
                return nil
            }
            if member.key == "doubleValue", let number = try? double(member.value) {
                numbers.append(number)
            } else if member.key == "integerValue",
                let number = member.value.double ?? member.value.string.flatMap({ Int64($0) }).map(Double.init)
            {
                numbers.append(number)
            } else {
                return nil
            }
        }
        return numbers
    }
}

extension DocumentData {
    /// From the object under `fields`, whose names are not escaped.
    package init(firestore fields: JSONObject, in database: FirestoreDatabase) throws(FirestoreFormatError) {
        var entries: [Entry] = []
        entries.reserveCapacity(fields.members.count)
        for member in fields.members {
            entries.append(Entry(name: member.key, value: try DocumentValue(firestore: member.value, in: database)))
        }
        self.init(unsorted: entries)
    }
}

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

extension DocumentSnapshot {
    /// From a `Document` message with name, fields and times. An existing document without fields has no `fields` member.
    package init(firestore json: JSON, in database: FirestoreDatabase) throws(FirestoreFormatError) {
        let object = try json.members(of: "a document")
        var path: StoragePath?
        var data = DocumentData()
        var createTime: Timestamp?
        var updateTime: Timestamp?
        for member in object.members {
            switch (member.key, member.value) {
            case ("name", .string(let name)): path = try database.path(ofName: name)
            case ("fields", .object(let fields)): data = try DocumentData(firestore: fields, in: database)
            case ("createTime", .string(let time)): createTime = try Timestamp(firestore: time)
            case ("updateTime", .string(let time)): updateTime = try Timestamp(firestore: time)
            case (_, .null): break
            case ("name", _), ("fields", _), ("createTime", _), ("updateTime", _):
                throw FirestoreFormatError("a document whose “\(member.key)” is of a wrong type")
            default: break
            }
        }
        guard let path else { throw FirestoreFormatError("a document without a name") }
        self.init(path: path, data: data, createTime: createTime, updateTime: updateTime)
    }

    /// The `Document` message; for a missing document, only its name.
    package func firestore(in database: FirestoreDatabase) -> JSON {
        var object: JSONObject = ["name": .string(database.resourceName(of: path))]
        if let data, !data.isEmpty { object["fields"] = .object(data.firestore(in: database)) }
        if let createTime { object["createTime"] = .string(createTime.firestoreText) }
        if let updateTime { object["updateTime"] = .string(updateTime.firestoreText) }
        return .object(object)
    }
}

extension Timestamp {
    /// Accepts any number of fraction digits, and `Z` or an offset; drops anything below a nanosecond.
    package init(firestore text: String) throws(FirestoreFormatError) {
        guard let moment = RFC3339.parse(text) else { throw FirestoreFormatError("a timestamp that is malformed") }
        do throws(StorageError) {
            try self.init(validatingSeconds: moment.seconds, nanoseconds: moment.nanoseconds)
        } catch {
            throw FirestoreFormatError("a timestamp outside the years 1 to 9999")
        }
    }

    package var firestoreText: String {
        RFC3339.format(RFC3339.Moment(seconds: seconds, nanoseconds: nanoseconds))
    }
}

extension JSONObject {
    func timestamp(_ key: String) throws(FirestoreFormatError) -> Timestamp? {
        guard let text = try string(key) else { return nil }
        return try Timestamp(firestore: text)
    }
}
