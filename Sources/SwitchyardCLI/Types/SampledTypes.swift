import Switchyard
import SwitchyardBytes

/// Types of documents, from those that were sampled.
enum SampledTypes {
    /// A map with more keys than this, all with one kind of value, is a dictionary.
    private static let maximumMembers = 40

    static func type(of collection: String, _ documents: [DocumentData]) -> SwiftStruct {
        let name = collection.split(separator: "/").last.map(String.init) ?? collection
        return SwiftStruct(
            name: SwiftName.type(SwiftName.singular(name)),
            summary: "A document of `\(collection)`, as in the \(documents.count) that were sampled.", id: "String",
            members: members(of: documents))
    }

    /// A member for each field that occurs, in the order of the names.
    private static func members(of maps: [DocumentData]) -> [SwiftStruct.Member] {
        var values: [(name: String, values: [DocumentValue])] = []
        var places: [String: Int] = [:]
        for map in maps {
            for (name, value) in map {
                if let place = places[name] {
                    values[place].values.append(value)
                } else {
                    places[name] = values.count
                    values.append((name, [value]))
                }
            }
        }
        return values.sorted { $0.name < $1.name }.map { name, values in
            let present = values.filter { !$0.isNull }
            return SwiftStruct.Member(
                field: name, type: type(of: present, named: name),
                isOptional: values.count < maps.count || present.count < values.count, remark: remark(present))
        }
    }

    private static func kinds(_ values: [DocumentValue]) -> [String] {
        values.reduce(into: []) { if !$0.contains($1.kind) { $0.append($1.kind) } }
    }

    private static func remark(_ values: [DocumentValue]) -> String? {
        let kinds = kinds(values)
        if values.isEmpty { return "Null in every document." }
        if Set(kinds) == ["integer", "double"] || kinds.count == 1 { return nil }
        return "Values of several kinds: \(kinds.sorted().joined(separator: ", "))."
    }

    private static func type(of values: [DocumentValue], named name: String) -> SwiftType {
        let kinds = kinds(values)
        if Set(kinds) == ["integer", "double"] { return .named("Double") }
        guard kinds.count == 1 else { return .any }
        switch values[0] {
        case .bool: return .named("Bool")
        case .integer: return .named("Int")
        case .double: return .named("Double")
        case .timestamp: return .named("Timestamp")
        case .string: return .named("String")
        case .bytes: return .named("Data")
        case .reference:
            // A path stands for a document of the same database only.
            let isElsewhere = values.contains { $0.referenceValue?.origin != nil }
            return .named(isElsewhere ? "DocumentReference" : "StoragePath")
        case .geoPoint: return .named("GeoPoint")
        case .array: return array(values.compactMap(\.arrayValue), named: name)
        case .map: return map(values.compactMap(\.mapValue), named: name)
        // No Swift type writes a vector.
        case .vector, .null: return .any
        }
    }

    private static func array(_ arrays: [[DocumentValue]], named name: String) -> SwiftType {
        let elements = arrays.flatMap { $0 }
        let present = elements.filter { !$0.isNull }
        guard !present.isEmpty else { return .array(.any, hasNulls: false) }
        let element = type(of: present, named: SwiftName.singular(name))
        // A document value has null among its kinds.
        if element == .any { return .array(.any, hasNulls: false) }
        return .array(element, hasNulls: present.count < elements.count)
    }

    private static func map(_ maps: [DocumentData], named name: String) -> SwiftType {
        let names = Set(maps.flatMap(\.names))
        let values = maps.flatMap { $0.map(\.value) }
        // Keys that are data, such as people's IDs.
        if names.count > maximumMembers {
            let isAlike = kinds(values).count == 1
            return .dictionary(isAlike ? type(of: values, named: SwiftName.singular(name)) : .any)
        }
        guard !names.isEmpty else { return .dictionary(.any) }
        return .nested(SwiftStruct(name: SwiftName.type(name), summary: "", id: nil, members: members(of: maps)))
    }
}
