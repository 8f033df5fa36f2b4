package import Switchyard
import SwitchyardBytes

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Values as a query's text has them.
package enum ValueText {
    package static func text(of value: DocumentValue) -> String {
        switch value {
        case .null: "null"
        case .bool(let value): "\(value)"
        case .integer(let value): "\(value)"
        case .double(let value): number(value)
        case .timestamp(let time): "timestamp \(quoted(rfc3339(time)))"
        case .string(let text): quoted(text)
        case .bytes(let data): "bytes \(quoted(Base64.encode(Array(data))))"
        case .reference(let reference):
            "reference \(quoted(reference.path.rawValue))" + (reference.origin.map { " from \(quoted($0))" } ?? "")
        case .geoPoint(let point): "geoPoint(\(number(point.latitude)), \(number(point.longitude)))"
        case .array(let values): "[\(values.map(text).joined(separator: ", "))]"
        case .vector(let values): "vector [\(values.map(number).joined(separator: ", "))]"
        case .map(let data): "{\(data.map { "\(quoted($0.name)): \(text(of: $0.value))" }.joined(separator: ", "))}"
        }
    }

    /// With a point or an exponent, which an integer has not.
    private static func number(_ value: Double) -> String {
        if value.isNaN { return "nan" }
        return value.isFinite ? "\(value)" : value < 0 ? "-infinity" : "infinity"
    }

    static func quoted(_ text: String) -> String { JSON.string(text).text() }

    static func rfc3339(_ time: Timestamp) -> String {
        RFC3339.format(RFC3339.Moment(seconds: time.seconds, nanoseconds: time.nanoseconds))
    }

    /// A day is its first moment in UTC.
    static func timestamp(_ text: String) -> DocumentValue? {
        let moment = RFC3339.parse(text) ?? RFC3339.parse(text + "T00:00:00Z")
        return moment.flatMap { try? Timestamp(validatingSeconds: $0.seconds, nanoseconds: $0.nanoseconds) }
            .map { .timestamp($0) }
    }

    static func bytes(_ text: String) -> DocumentValue? { Base64.decode(text).map { .bytes(Data($0)) } }
}
