package import Switchyard
package import SwitchyardBytes

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Documents as JSON: each value is an object with one member, its kind, as in an archive of a move and as `DocumentValue`
/// encodes itself.
extension DocumentSnapshot {
    /// `{"path":"users/alice","created":…,"updated":…,"data":{"age":{"integer":36}}}`
    package func json(isPlain: Bool = false) -> JSON {
        var object: JSONObject = ["path": .string(path.rawValue)]
        if let createTime { object["created"] = isPlain ? createTime.plainJSON : createTime.json }
        if let updateTime { object["updated"] = isPlain ? updateTime.plainJSON : updateTime.json }
        if let data { object["data"] = isPlain ? data.plainJSON : data.json }
        return .object(object)
    }
}

extension DocumentData {
    package var json: JSON { .object(JSONObject(map { (key: $0.name, value: $0.value.json) })) }
    /// Without the kinds of values.
    package var plainJSON: JSON { .object(JSONObject(map { (key: $0.name, value: $0.value.plainJSON) })) }
}

extension Timestamp {
    fileprivate var json: JSON {
        var object: JSONObject = ["seconds": .integer(seconds), "nanoseconds": .integer(Int64(nanoseconds))]
        if isEstimate { object["isEstimate"] = true }
        return .object(object)
    }

    fileprivate var plainJSON: JSON { .string(ValueText.rfc3339(self)) }
}

extension DocumentValue {
    package var json: JSON {
        func kind(_ value: JSON) -> JSON { .object([self.jsonKind: value]) }
        return switch self {
        case .null: kind(true)
        case .bool(let value): kind(.bool(value))
        case .integer(let value): kind(.integer(value))
        case .double(let value): kind(Self.number(value))
        case .timestamp(let value): kind(value.json)
        case .string(let value): kind(.string(value))
        case .bytes(let value): kind(.string(Base64.encode(Array(value))))
        case .reference(let value):
            kind(
                .object(
                    value.origin.map { ["path": .string(value.path.rawValue), "origin": .string($0)] }
                        ?? ["path": .string(value.path.rawValue)]))
        case .geoPoint(let value): kind(["latitude": .number(value.latitude), "longitude": .number(value.longitude)])
        case .array(let values): kind(.array(values.map(\.json)))
        case .vector(let values): kind(.array(values.map(Self.number)))
        case .map(let data): kind(data.json)
        }
    }

    /// Without its kind: times and bytes are text, references paths.
    package var plainJSON: JSON {
        switch self {
        case .null: .null
        case .bool(let value): .bool(value)
        case .integer(let value): .integer(value)
        case .double(let value): Self.number(value)
        case .timestamp(let value): value.plainJSON
        case .string(let value): .string(value)
        case .bytes(let value): .string(Base64.encode(Array(value)))
        case .reference(let value): .string(value.path.rawValue)
        case .geoPoint(let value): ["latitude": .number(value.latitude), "longitude": .number(value.longitude)]
        case .array(let values): .array(values.map(\.plainJSON))
        case .vector(let values): .array(values.map(Self.number))
        case .map(let data): data.plainJSON
        }
    }

    /// JSON has no other numbers, and no negative zero that every reader keeps.
    private static func number(_ value: Double) -> JSON {
        value.isFinite && !(value.isZero && value.sign == .minus) ? .number(value) : .string("\(value)")
    }

    private var jsonKind: String { if case .geoPoint = self { "geoPoint" } else { kind } }
}
