import Switchyard
import SwitchyardBytes
import SwitchyardText

/// A value in rules.
indirect enum RulesValue: Sendable, Equatable {
    case null
    case bool(Bool)
    case integer(Int64)
    case double(Double)
    case string(String)
    case path(String)
    case list([RulesValue])
    /// With the names in order. Of a partial one, other members may exist.
    case map([Member], isPartial: Bool)
    /// Of another kind, such as a time.
    case other(kind: String, shown: String)
    /// Not known, and why.
    case unknown(String)

    struct Member: Sendable, Equatable {
        let name: String
        let value: RulesValue
    }

    init(_ value: DocumentValue) {
        switch value {
        case .null: self = .null
        case .bool(let value): self = .bool(value)
        case .integer(let value): self = .integer(value)
        case .double(let value): self = .double(value)
        case .string(let value): self = .string(value)
        case .reference(let value): self = .path(value.path.rawValue)
        case .array(let values): self = .list(values.map { RulesValue($0) })
        case .vector(let values): self = .list(values.map { .double($0) })
        case .map(let data): self = .map(data)
        case .timestamp: self = .other(kind: "timestamp", shown: ValueText.text(of: value))
        case .bytes: self = .other(kind: "bytes", shown: ValueText.text(of: value))
        case .geoPoint: self = .other(kind: "latlng", shown: ValueText.text(of: value))
        }
    }

    static func map(_ data: DocumentData) -> RulesValue {
        .map(data.map { Member(name: $0.name, value: RulesValue($0.value)) }, isPartial: false)
    }

    init(_ json: JSON) {
        switch json {
        case .null: self = .null
        case .bool(let value): self = .bool(value)
        case .integer(let value): self = .integer(value)
        case .number(let value): self = .double(value)
        case .string(let value): self = .string(value)
        case .array(let values): self = .list(values.map { RulesValue($0) })
        case .object(let object):
            self = .map(
                object.members.map { Member(name: $0.key, value: RulesValue($0.value)) }, isPartial: false)
        }
    }

    func isA(_ type: String) -> Bool {
        switch (self, type) {
        case (.bool, "bool"), (.integer, "int"), (.integer, "number"), (.double, "float"), (.double, "number"),
            (.string, "string"), (.path, "path"), (.list, "list"), (.map, "map"):
            true
        case (.other(let kind, _), let type): kind == type
        default: false
        }
    }

    /// As one would write it, cut if it is long.
    var shown: String {
        let text =
            switch self {
            case .null: "null"
            case .bool(let value): "\(value)"
            case .integer(let value): "\(value)"
            case .double(let value): "\(value)"
            case .string(let value): JSON.string(value).text()
            case .path(let path): "/" + path
            case .list(let values): "[" + values.map(\.shown).joined(separator: ", ") + "]"
            case .map(let members, _):
                "{" + members.map { "\($0.name): \($0.value.shown)" }.joined(separator: ", ") + "}"
            case .other(_, let shown): shown
            case .unknown(let why): why
            }
        return text.count > 120 ? text.prefix(119) + "…" : text
    }
}
