import Foundation
import SwitchyardBytes

/// Shows contents explicitly, for debugging. Descriptions hide them, since descriptions end up in logs.
///
/// ```
/// (lldb) po snapshot.data?.revealed
/// {done: false, title: "Milk", created: 2026-05-01T09:41:00Z (estimated)}
/// ```
extension DocumentData {
    public var revealed: String { "{" + map { "\($0.name): \($0.value.revealed)" }.joined(separator: ", ") + "}" }
}

extension DocumentValue {
    /// The value as text; for bytes, only their number.
    public var revealed: String {
        switch self {
        case .null: "null"
        case .bool(let value): "\(value)"
        case .integer(let value): "\(value)"
        case .double(let value): "\(value)"
        case .timestamp(let value):
            RFC3339.format(RFC3339.Moment(seconds: value.seconds, nanoseconds: value.nanoseconds))
                + (value.isEstimate ? " (estimated)" : "")
        case .string(let value): JSON.string(value).text()
        case .bytes(let value): "\(value.count) byte\(value.count == 1 ? "" : "s")"
        case .reference(let value): value.path.rawValue
        case .geoPoint(let value): "(\(value.latitude), \(value.longitude))"
        case .array(let values): "[" + values.map(\.revealed).joined(separator: ", ") + "]"
        case .vector(let values): "vector[" + values.map { "\($0)" }.joined(separator: ", ") + "]"
        case .map(let data): data.revealed
        }
    }
}
