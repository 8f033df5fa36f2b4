package import Switchyard
package import SwitchyardBytes

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Why JSON is no document, and where in it.
package struct DocumentJSONError: Error, Equatable, CustomStringConvertible {
    package let path: [String]
    package let message: String

    package var description: String {
        path.isEmpty ? message : "At “\(path.joined(separator: "."))”: \(message)"
    }
}

/// Reads what people and programs write: plain JSON, or an object with one member, its kind, wherever that matters.
///
/// An object whose only member is called like a kind is a value of this kind. A map of that shape is written with its own kind:
/// `{"map":{"string":"x"}}`.
package enum DocumentJSON {
    private static let kinds = [
        "null", "bool", "integer", "double", "timestamp", "string", "bytes", "reference", "geoPoint", "array", "vector",
        "map",
    ]
    private static let changes = [
        "increment", "maximum", "minimum", "arrayUnion", "arrayRemove", "serverTime", "delete",
    ]

    // MARK: Documents

    /// The fields of a set or a merge.
    package static func fields(_ json: JSON) throws(DocumentJSONError) -> WriteFields {
        WriteFields(try members(json).map { ($0.name, $0.value) })
    }

    /// The fields of an update, whose names are paths.
    package static func updates(_ json: JSON) throws(DocumentJSONError) -> FieldUpdates {
        var updates = FieldUpdates([])
        for (name, value) in try members(json) {
            do throws(StorageError) {
                updates.set(try FieldPath(validating: name), value)
            } catch {
                throw DocumentJSONError(path: [name], message: error.message)
            }
        }
        return updates
    }

    private static func members(
        _ json: JSON
    ) throws(DocumentJSONError) -> [(name: String, value: FieldValue)] {
        guard let object = json.object else {
            throw DocumentJSONError(path: [], message: "a document is an object, such as {\"name\":\"Alice\"}")
        }
        var members: [(name: String, value: FieldValue)] = []
        for member in object { members.append((member.key, try fieldValue(member.value, at: [member.key]))) }
        return members
    }

    /// A line that `get` prints.
    package static func line(_ json: JSON) throws(DocumentJSONError) -> (path: StoragePath, fields: WriteFields) {
        guard let text = json["path"]?.string, let data = json["data"] else {
            throw DocumentJSONError(
                path: [], message: "a line has a path and data, such as {\"path\":\"users/alice\",\"data\":{…}}")
        }
        do throws(StorageError) {
            return (try StoragePath(validating: text), try inner("data", data))
        } catch {
            throw DocumentJSONError(path: ["path"], message: error.message)
        }
    }

    private static func inner(_ name: String, _ json: JSON) throws(StorageError) -> WriteFields {
        do throws(DocumentJSONError) { return try fields(json) } catch {
            throw .invalid("\(error)")
        }
    }

    // MARK: Values

    private static func only(_ json: JSON) -> (kind: String, content: JSON)? {
        guard let object = json.object, object.members.count == 1, let member = object.members.first else { return nil }
        return (member.key, member.value)
    }

    /// A value, or what a write does to a field.
    static func fieldValue(_ json: JSON, at path: [String]) throws(DocumentJSONError) -> FieldValue {
        if let (kind, content) = only(json), changes.contains(kind) { return try change(kind, content, at: path) }
        // A map may have changes in it.
        let inner = only(json).flatMap { $0.kind == "map" ? $0.content : nil } ?? json
        guard let object = inner.object, only(inner).map({ !kinds.contains($0.kind) }) ?? true else {
            return .value(try value(json, at: path))
        }
        var fields: [(String, FieldValue)] = []
        for member in object { fields.append((member.key, try fieldValue(member.value, at: path + [member.key]))) }
        let values = fields.compactMap { name, value in
            if case .value(let value) = value { (name, value) } else { nil }
        }
        return values.count == fields.count ? .value(.map(DocumentData(values))) : .fields(WriteFields(fields))
    }

    private static func change(
        _ kind: String, _ content: JSON, at path: [String]
    ) throws(DocumentJSONError) -> FieldValue {
        let place = path + [kind]
        switch kind {
        case "increment": return .increment(try number(content, at: place))
        case "maximum": return .maximum(try number(content, at: place))
        case "minimum": return .minimum(try number(content, at: place))
        case "arrayUnion": return .transform(.arrayUnion(try elements(content, at: place)))
        case "arrayRemove": return .transform(.arrayRemove(try elements(content, at: place)))
        default:
            guard content == true else { throw misfit("true", content, at: place) }
            return kind == "delete" ? .delete : .serverTime
        }
    }

    private static func number(
        _ json: JSON, at path: [String]
    ) throws(DocumentJSONError) -> FieldTransform.Number {
        switch try value(json, at: path) {
        case .integer(let value): return .integer(value)
        case .double(let value): return .double(value)
        default: throw misfit("a number", json, at: path)
        }
    }

    private static func elements(_ json: JSON, at path: [String]) throws(DocumentJSONError) -> [DocumentValue] {
        guard case .array(let values) = try value(json, at: path) else { throw misfit("a list", json, at: path) }
        return values
    }

    package static func value(_ json: JSON) throws(DocumentJSONError) -> DocumentValue { try value(json, at: []) }

    static func value(_ json: JSON, at path: [String]) throws(DocumentJSONError) -> DocumentValue {
        switch json {
        case .null: return .null
        case .bool(let value): return .bool(value)
        case .integer(let value): return .integer(value)
        case .number(let value): return .double(value)
        case .string(let value): return .string(value)
        case .array: return .array(try list(json, at: path))
        case .object(let object):
            if let (kind, content) = only(json), kinds.contains(kind) {
                return try value(ofKind: kind, content, at: path + [kind])
            }
            return .map(try data(object, at: path))
        }
    }

    private static func list(_ json: JSON, at path: [String]) throws(DocumentJSONError) -> [DocumentValue] {
        guard let elements = json.array else { throw misfit("a list", json, at: path) }
        var values: [DocumentValue] = []
        for (index, element) in elements.enumerated() { values.append(try value(element, at: path + ["\(index)"])) }
        return values
    }

    private static func data(_ object: JSONObject, at path: [String]) throws(DocumentJSONError) -> DocumentData {
        var members: [(String, DocumentValue)] = []
        for member in object { members.append((member.key, try value(member.value, at: path + [member.key]))) }
        return DocumentData(members)
    }

    private static func value(
        ofKind kind: String, _ content: JSON, at path: [String]
    ) throws(DocumentJSONError) -> DocumentValue {
        let found: DocumentValue?
        let expected: String
        switch kind {
        case "null": (found, expected) = (content == true ? .null : nil, "true")
        case "bool": (found, expected) = (content.bool.map { .bool($0) }, "true or false")
        case "integer": (found, expected) = (content.int64.map { .integer($0) }, "a whole number of 64 bits")
        case "double": (found, expected) = (double(content).map { .double($0) }, "a number")
        case "timestamp":
            (found, expected) = (timestamp(content), "{\"seconds\":…} or a text such as 2026-05-01T09:41:00Z")
        case "string": (found, expected) = (content.string.map { .string($0) }, "text")
        case "bytes": (found, expected) = (content.string.flatMap(ValueText.bytes), "Base64")
        case "reference": (found, expected) = (reference(content), "{\"path\":\"users/bob\"}")
        case "geoPoint": (found, expected) = (geoPoint(content), "{\"latitude\":48.4,\"longitude\":10}")
        case "array": return .array(try list(content, at: path))
        case "vector":
            let numbers = content.array?.compactMap(double)
            found = numbers.flatMap { $0.count == content.array?.count ? .vector($0) : nil }
            expected = "a list of numbers"
        default:
            guard let object = content.object else { throw misfit("an object", content, at: path) }
            return .map(try data(object, at: path))
        }
        guard let found else { throw misfit(expected, content, at: path) }
        return found
    }

    private static func misfit(_ expected: String, _ json: JSON, at path: [String]) -> DocumentJSONError {
        let map = kinds.contains(path.last ?? "") ? " For a map with this name, write {\"map\":{…}}." : ""
        return DocumentJSONError(path: path, message: "expected \(expected), found \(kindName(json)).\(map)")
    }

    private static func kindName(_ json: JSON) -> String {
        switch json {
        case .null: "null"
        case .bool(let value): "\(value)"
        case .integer, .number: "a number"
        case .string: "text"
        case .array: "a list"
        case .object: "an object"
        }
    }

    private static func double(_ json: JSON) -> Double? {
        json.double ?? json.string.flatMap { ["nan", "inf", "-inf", "-0.0"].contains($0) ? Double($0) : nil }
    }

    private static func timestamp(_ json: JSON) -> DocumentValue? {
        if let text = json.string { return ValueText.timestamp(text) }
        guard let seconds = json["seconds"]?.int64 else { return nil }
        let nanoseconds = Int32(exactly: json["nanoseconds"]?.int64 ?? 0) ?? -1
        return (try? Timestamp(validatingSeconds: seconds, nanoseconds: nanoseconds)).map { .timestamp($0) }
    }

    private static func reference(_ json: JSON) -> DocumentValue? {
        guard let text = json.string ?? json["path"]?.string, let path = try? StoragePath(validating: text) else {
            return nil
        }
        return .reference(DocumentReference(path, origin: json["origin"]?.string))
    }

    private static func geoPoint(_ json: JSON) -> DocumentValue? {
        guard let latitude = json["latitude"]?.double, let longitude = json["longitude"]?.double else { return nil }
        return (try? GeoPoint(latitude: latitude, longitude: longitude)).map { .geoPoint($0) }
    }
}
