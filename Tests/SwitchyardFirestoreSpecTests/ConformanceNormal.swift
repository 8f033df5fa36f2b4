import SwitchyardBytes

/// Brings both sides of a comparison into one form where the format has several for the same request.
enum ConformanceNormal {
    /// Absent fields are empty fields; masks and transforms are sets, whose order follows that of a map's keys.
    static func request(_ json: JSON) -> JSON {
        guard var object = filled(json).object else { return json }
        object["writes"] = .array(
            (object["writes"]?.array ?? []).map { write in
                guard var write = write.object else { return write }
                if var update = write["update"]?.object {
                    if update["fields"] == nil { update["fields"] = [:] }
                    write["update"] = .object(update)
                }
                if let paths = write["updateMask"]?["fieldPaths"]?.array {
                    write["updateMask"] = ["fieldPaths": .array(sorted(paths))]
                } else if write["updateMask"] != nil {
                    write["updateMask"] = ["fieldPaths": []]
                }
                if let transforms = write["updateTransforms"]?.array {
                    write["updateTransforms"] = .array(sorted(transforms))
                }
                return .object(write)
            })
        return .object(object)
    }

    /// Writes out the empty contents of maps and lists.
    private static func filled(_ json: JSON) -> JSON {
        switch json {
        case .object(let object):
            return .object(
                JSONObject(
                    object.map { member in
                        switch (member.key, member.value) {
                        case ("mapValue", [:]): (member.key, ["fields": [:]])
                        case ("arrayValue", [:]): (member.key, ["values": []])
                        default: (member.key, filled(member.value))
                        }
                    }))
        case .array(let elements): return .array(elements.map(filled))
        default: return json
        }
    }

    private static func sorted(_ elements: [JSON]) -> [JSON] {
        let options = JSONWritingOptions(sortsKeys: true)
        return elements.sorted { $0.text(options).utf8.lexicographicallyPrecedes($1.text(options).utf8) }
    }

    /// Writes out the implied part of the order, which the files leave out where no document is the cursor.
    static func query(_ json: JSON) -> JSON {
        guard var object = filled(json).object else { return json }
        var orders = object["orderBy"]?.array ?? []
        func isOrdered(by field: String) -> Bool { orders.contains { $0["field"]?["fieldPath"]?.string == field } }
        let direction = orders.last?["direction"] ?? "ASCENDING"
        let implied = inequalities(object["where"] ?? .null).sorted() + ["__name__"]
        if !isOrdered(by: "__name__") {
            for field in implied where !isOrdered(by: field) {
                orders.append(["field": ["fieldPath": .string(field)], "direction": direction])
            }
        }
        object["orderBy"] = .array(orders)
        for key in ["limit", "offset"] {
            if let wrapped = object[key]?["value"] { object[key] = wrapped }
        }
        return .object(object)
    }

    private static func inequalities(_ filter: JSON) -> Set<String> {
        if let parts = filter["compositeFilter"]?["filters"]?.array { return Set(parts.flatMap(inequalities)) }
        let equalities: Set = ["EQUAL", "IN", "ARRAY_CONTAINS", "ARRAY_CONTAINS_ANY", "IS_NULL", "IS_NAN"]
        let condition = filter["fieldFilter"] ?? filter["unaryFilter"]
        guard let operation = condition?["op"]?.string, !equalities.contains(operation),
            let field = condition?["field"]?["fieldPath"]?.string
        else { return [] }
        return [field]
    }
}
