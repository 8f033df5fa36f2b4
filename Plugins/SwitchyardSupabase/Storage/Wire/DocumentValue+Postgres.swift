import Foundation
import Switchyard
import SwitchyardBytes

/// Values in a `jsonb` column; see the SQL of this module for the format.
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

    /// Every JSON is a value: an unknown tag is read as the map that contains it, so that foreign data does not break anything
    /// else.
    init(postgres json: JSON) {
        switch json {
        case .null: self = .null
        case .bool(let value): self = .bool(value)
        case .integer(let value): self = .integer(value)
        case .number(let value): self = .double(value)
        case .string(let value): self = .string(value)
        case .array(let elements):
            self = .array(elements.map { DocumentValue(postgres: $0) })
        case .object(let object):
            if object.count == 1, let member = object.first, let value = DocumentValue(tag: member.key, member.value) {
                self = value
            } else {
                self = .map(DocumentData(postgres: object))
            }
        }
    }

    /// The same, from an indexed text.
    init(postgres text: IndexedJSON, at place: Int) {
        switch text.kind(at: place) {
        case .null: self = .null
        case .yes: self = .bool(true)
        case .no: self = .bool(false)
        case .number: self.init(postgres: text.json(at: place))
        case .string, .escapedString, .key, .escapedKey: self = .string(text.string(at: place))
        case .array:
            var elements: [DocumentValue] = []
            var inner = place + 1
            while inner < text.end(of: place) {
                elements.append(DocumentValue(postgres: text, at: inner))
                inner = text.end(of: inner)
            }
            self = .array(elements)
        case .object:
            let first = place + 1
            if first < text.end(of: place), text.end(of: first + 1) == text.end(of: place),
                text.string(at: first).utf8.first == UInt8(ascii: "$")
            {
                if text.string(at: first) == "$ts", let time = text.moment(at: first + 1) {
                    self = .timestamp(Timestamp(clampingSeconds: time.seconds, nanoseconds: time.nanoseconds))
                } else {
                    self.init(postgres: text.json(at: place))
                }
            } else {
                self = .map(DocumentData(postgres: text, at: place))
            }
        }
    }

    /// - Returns: `nil` for a tag that this module does not write.
    private init?(tag: String, _ value: JSON) {
        switch tag {
        case "$num":
            guard let text = value.string, let number = Double(text) else { return nil }
            self = .double(number)
        case "$ts":
            guard let text = value.string, let time = RFC3339.parse(text) else { return nil }
            self = .timestamp(Timestamp(clampingSeconds: time.seconds, nanoseconds: time.nanoseconds))
        case "$bytes":
            guard let text = value.string, let bytes = Base64.decode(text.utf8) else { return nil }
            self = .bytes(Data(bytes))
        case "$ref":
            guard let text = value.string ?? value[1]?.string, let path = try? StoragePath(validating: text) else {
                return nil
            }
            self = .reference(DocumentReference(path, origin: value[0]?.string))
        case "$geo":
            guard let latitude = value[0]?.double, let longitude = value[1]?.double,
                let point = try? GeoPoint(latitude: latitude, longitude: longitude)
            else { return nil }
            self = .geoPoint(point)
        case "$vec":
            guard let numbers = value.array?.map(DocumentValue.number), !numbers.contains(nil) else { return nil }
            self = .vector(numbers.compactMap(\.self))
        case "$map":
            guard let object = value.object else { return nil }
            self = .map(DocumentData(postgres: object))
        default: return nil
        }
    }

    private static func number(_ json: JSON) -> Double? {
        json.double ?? json["$num"]?.string.flatMap { Double($0) }
    }
}

extension DocumentData {
    var postgres: JSONObject { JSONObject(map { (key: $0.name, value: $0.value.postgres) }) }

    init(postgres object: JSONObject) {
        self.init(unsorted: object.members.map { Entry(name: $0.key, value: DocumentValue(postgres: $0.value)) })
    }

    /// The same, from an object of an indexed text.
    init(postgres text: IndexedJSON, at object: Int) {
        self.init(
            unsorted: text.keys(of: object).map {
                Entry(name: text.string(at: $0), value: DocumentValue(postgres: text, at: $0 + 1))
            })
    }

    /// Whether this map, written unchanged, would be read as another value.
    fileprivate var isMistakable: Bool { count == 1 && names[0].hasPrefix("$") }
}

extension Timestamp {
    /// With six digits, as in the database.
    var postgresText: String {
        RFC3339.format(RFC3339.Moment(seconds: seconds, nanoseconds: nanoseconds), fraction: .digits(6))
    }
}
