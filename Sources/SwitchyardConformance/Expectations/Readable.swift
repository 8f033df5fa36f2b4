import Foundation
import Switchyard

/// Values as text. The library's own descriptions hide contents; a check's contents are made up, so they may be shown.
enum Readable {
    static func text(_ value: Any?) -> String {
        switch value {
        case nil: return "nothing"
        case let value as DocumentValue: return text(of: value)
        case let data as DocumentData: return text(of: data)
        case let snapshot as DocumentSnapshot:
            return "\(snapshot.id): \(snapshot.data.map { text(of: $0) } ?? "missing")"
        case let snapshot as QuerySnapshot:
            return "[" + snapshot.documents.map(\.id).joined(separator: ", ") + "]"
                + (snapshot.metadata.isFromCache ? " from cache" : "")
        case let text as String: return "“\(text)”"
        case let error as any ClientError:
            let cause = error.underlying.map { " [\(type(of: $0)): \($0)]" } ?? ""
            return error.description + cause
        case let list as [Any]: return "[" + list.map { text($0) }.joined(separator: ", ") + "]"
        case let value?:
            let mirror = Mirror(reflecting: value)
            guard mirror.displayStyle == .optional else { return String(describing: value) }
            return mirror.children.first.map { text($0.value) } ?? "nothing"
        }
    }

    private static func text(of data: DocumentData) -> String {
        "{" + data.map { "\($0.name): \(text(of: $0.value))" }.joined(separator: ", ") + "}"
    }

    private static func text(of value: DocumentValue) -> String {
        switch value {
        case .null: "null"
        case .bool(let value): "\(value)"
        case .integer(let value): "\(value)"
        case .double(let value): "double \(value)"
        case .timestamp(let value): "time \(value.seconds) s + \(value.nanoseconds) ns"
        case .string(let value): shortened(value)
        case .bytes(let value): "\(value.count) bytes"
        case .reference(let value): "reference \(value.path)"
        case .geoPoint(let value): "place \(value.latitude), \(value.longitude)"
        case .array(let value): "[" + value.map { text(of: $0) }.joined(separator: ", ") + "]"
        case .vector(let value): "vector \(value)"
        case .map(let value): text(of: value)
        }
    }

    private static func shortened(_ text: String) -> String {
        text.utf8.count <= 80 ? "“\(text)”" : "“\(text.prefix(40))…” (\(text.utf8.count) bytes)"
    }
}
