import Foundation

/// How other coders, such as `JSONEncoder`, see document values: every value includes its kind, so nothing is lost (except
/// field names that Swift considers equal, if the other coder uses dictionaries). In a document they stay as they are.
extension Timestamp: Codable {
    private enum CodingKeys: CodingKey { case seconds, nanoseconds, isEstimate }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        try self.init(
            validatingSeconds: container.decode(Int64.self, forKey: .seconds),
            nanoseconds: container.decodeIfPresent(Int32.self, forKey: .nanoseconds) ?? 0)
        if try container.decodeIfPresent(Bool.self, forKey: .isEstimate) ?? false { self = asEstimate }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(seconds, forKey: .seconds)
        try container.encode(nanoseconds, forKey: .nanoseconds)
        if isEstimate { try container.encode(true, forKey: .isEstimate) }
    }
}

extension GeoPoint: Codable {
    private enum CodingKeys: CodingKey { case latitude, longitude }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        try self.init(
            latitude: container.decode(Double.self, forKey: .latitude),
            longitude: container.decode(Double.self, forKey: .longitude))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(latitude, forKey: .latitude)
        try container.encode(longitude, forKey: .longitude)
    }
}

extension DocumentReference: Codable {
    private enum CodingKeys: CodingKey { case path, origin }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            try container.decode(StoragePath.self, forKey: .path),
            origin: try container.decodeIfPresent(String.self, forKey: .origin))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(path, forKey: .path)
        try container.encodeIfPresent(origin, forKey: .origin)
    }
}

extension DocumentValue: Codable {
    private enum CodingKeys: String, CodingKey {
        case null, bool, integer, double, timestamp, string, bytes, reference, geoPoint, array, vector, map
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        guard let key = container.allKeys.first, container.allKeys.count == 1 else {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(
                    codingPath: container.codingPath,
                    debugDescription: "A value has exactly one key, which names its kind."))
        }
        self =
            switch key {
            case .null: .null
            case .bool: .bool(try container.decode(Bool.self, forKey: key))
            case .integer: .integer(try container.decode(Int64.self, forKey: key))
            case .double: .double(try PortableDouble.decode(from: container, key))
            case .timestamp: .timestamp(try container.decode(Timestamp.self, forKey: key))
            case .string: .string(try container.decode(String.self, forKey: key))
            case .bytes: .bytes(try container.decode(Data.self, forKey: key))
            case .reference: .reference(try container.decode(DocumentReference.self, forKey: key))
            case .geoPoint: .geoPoint(try container.decode(GeoPoint.self, forKey: key))
            case .array: .array(try container.decode([DocumentValue].self, forKey: key))
            case .vector: .vector(try container.decode([PortableDouble].self, forKey: key).map(\.value))
            case .map: .map(try container.decode(DocumentData.self, forKey: key))
            }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        switch self {
        case .null: try container.encode(true, forKey: .null)
        case .bool(let value): try container.encode(value, forKey: .bool)
        case .integer(let value): try container.encode(value, forKey: .integer)
        case .double(let value): try container.encode(PortableDouble(value: value), forKey: .double)
        case .timestamp(let value): try container.encode(value, forKey: .timestamp)
        case .string(let value): try container.encode(value, forKey: .string)
        case .bytes(let value): try container.encode(value, forKey: .bytes)
        case .reference(let value): try container.encode(value, forKey: .reference)
        case .geoPoint(let value): try container.encode(value, forKey: .geoPoint)
        case .array(let value): try container.encode(value, forKey: .array)
        case .vector(let value): try container.encode(value.map(PortableDouble.init(value:)), forKey: .vector)
        case .map(let value): try container.encode(value, forKey: .map)
        }
    }
}

/// A number that survives formats without NaN, infinities and negative zero.
private struct PortableDouble: Codable {
    var value: Double

    init(value: Double) { self.value = value }

    static func decode<Key>(from container: KeyedDecodingContainer<Key>, _ key: Key) throws -> Double {
        try container.decode(PortableDouble.self, forKey: key).value
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let text = try? container.decode(String.self), let number = Double(text) {
            value = number
        } else {
            value = try container.decode(Double.self)
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        let isPlain = value.isFinite && !(value.isZero && value.sign == .minus)
        if isPlain { try container.encode(value) } else { try container.encode("\(value)") }
    }
}

extension DocumentData: Codable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingStep.self)
        var entries: [Entry] = []
        for key in container.allKeys {
            entries.append(Entry(name: key.stringValue, value: try container.decode(DocumentValue.self, forKey: key)))
        }
        self.init(unsorted: entries)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingStep.self)
        for entry in entries { try container.encode(entry.value, forKey: .name(entry.name)) }
    }
}
