import Foundation
import Switchyard
import SwitchyardBytes

/// Values as they stand in a `jsonb` column; the SQL that this module ships says how.
extension DocumentValue {
    var postgres: JSON {
        switch self {
        case .null: .null
        case .bool(let value): .bool(value)
        case .integer(let value): .integer(value)
        case .double(let value): DocumentValue.postgres(value)
        case .timestamp(let value): ["$ts": .string(value.postgresText)]
        case .string(let value): .string(value)
        case .bytes(let value): ["$bytes": .string(Base64.encode(Array(value)))]
        case .reference(let value):
            ["$ref": value.origin.map { [.string($0), .string(value.path.rawValue)] } ?? .string(value.path.rawValue)]
        case .geoPoint(let value):
            ["$geo": [DocumentValue.postgres(value.latitude), DocumentValue.postgres(value.longitude)]]
        case .array(let elements): .array(elements.map(\.postgres))
        case .vector(let numbers): ["$vec": .array(numbers.map(DocumentValue.postgres))]
        case .map(let map): map.isMistakable ? ["$map": .object(map.postgres)] : .object(map.postgres)
        }
    }

    private static func postgres(_ number: Double) -> JSON {
        switch number {
        case _ where number.isNaN: ["$num": "NaN"]
        case .infinity: ["$num": "Infinity"]
        case -.infinity: ["$num": "-Infinity"]
        case 0 where number.sign == .minus: ["$num": "-0"]
        default: .number(number)
        }
    }

    /// - Throws: `.internal` for something that this module has not written.
    init(postgres json: JSON) throws(StorageError) {
        switch json {
        case .null: self = .null
        case .bool(let value): self = .bool(value)
        case .integer(let value): self = .integer(value)
        case .number(let value): self = .double(value)
        case .string(let value): self = .string(value)
        case .array(let elements):
            var values: [DocumentValue] = []
            for element in elements { values.append(try DocumentValue(postgres: element)) }
            self = .array(values)
        case .object(let object):
            guard object.count == 1, let member = object.first, member.key.hasPrefix("$") else {
                self = .map(try DocumentData(postgres: object))
                return
            }
            self = try DocumentValue(tag: member.key, member.value)
        }
    }

    private init(tag: String, _ value: JSON) throws(StorageError) {
        let malformed = StorageError(.internal, "A stored value is not of a form that this version writes.")
        switch tag {
        case "$num":
            guard let text = value.string, let number = Double(text) else { throw malformed }
            self = .double(number)
        case "$ts":
            guard let text = value.string, let time = RFC3339.parse(text) else { throw malformed }
            self = .timestamp(Timestamp(clampingSeconds: time.seconds, nanoseconds: time.nanoseconds))
        case "$bytes":
            guard let text = value.string, let bytes = Base64.decode(text.utf8) else { throw malformed }
            self = .bytes(Data(bytes))
        case "$ref":
            guard let text = value.string ?? value[1]?.string else { throw malformed }
            self = .reference(DocumentReference(try StoragePath(validating: text), origin: value[0]?.string))
        case "$geo":
            guard let latitude = value[0]?.double, let longitude = value[1]?.double else { throw malformed }
            self = .geoPoint(try GeoPoint(latitude: latitude, longitude: longitude))
        case "$vec":
            var numbers: [Double] = []
            for element in value.array ?? [] {
                guard let number = try DocumentValue(postgres: element).doubleValue else { throw malformed }
                numbers.append(number)
            }
            self = .vector(numbers)
        case "$map":
            guard let object = value.object else { throw malformed }
            self = .map(try DocumentData(postgres: object))
        default: throw malformed
        }
    }
}

extension DocumentData {
    var postgres: JSONObject { JSONObject(map { (key: $0.name, value: $0.value.postgres) }) }

    init(postgres object: JSONObject) throws(StorageError) {
        var fields: [(String, DocumentValue)] = []
        for member in object { fields.append((member.key, try DocumentValue(postgres: member.value))) }
        self.init(fields)
    }

    /// Whether this, written as it is, would be read as something else.
    fileprivate var isMistakable: Bool { count == 1 && names[0].hasPrefix("$") }
}

extension Timestamp {
    /// With six digits, as the database keeps it.
    var postgresText: String {
        RFC3339.format(RFC3339.Moment(seconds: seconds, nanoseconds: nanoseconds), fraction: .digits(6))
    }
}
