package import Switchyard
package import SwitchyardBytes

/// The format of queries for the query functions.
extension Query {
    package var postgres: JSON {
        var object: JSONObject = [:]
        switch source {
        case .collection(let path): object["in"] = .string(path.rawValue)
        case .group(let id, let ancestor):
            object["group"] = .string(id)
            if let ancestor { object["under"] = .string(ancestor.rawValue) }
        }
        if let filter { object["filter"] = filter.postgres }
        let orders = effectiveOrders
        object["orders"] = .array(orders.map { [$0.field.postgres, $0.direction == .ascending ? "asc" : "desc"] })
        if let start { object["start"] = start.postgres(along: orders) }
        if let end { object["end"] = end.postgres(along: orders) }
        if offset > 0 { object["offset"] = .integer(Int64(offset)) }
        switch limit {
        case .first(let count): object["first"] = .integer(Int64(count))
        case .last(let count): object["last"] = .integer(Int64(count))
        case nil: break
        }
        if let projection { object["fields"] = .array(projection.filter { !$0.isDocumentID }.map(\.postgres)) }
        return .object(object)
    }
}

extension FieldPath {
    /// Null stands for the document's ID.
    var postgres: JSON { isDocumentID ? .null : .array(components.map { .string($0) }) }
}

extension Filter {
    fileprivate var postgres: JSON {
        switch self {
        case .all(let filters): ["all", .array(filters.map(\.postgres))]
        case .any(let filters): ["any", .array(filters.map(\.postgres))]
        case .test(let field, let test): [.string(test.rawValue), field.postgres]
        case .comparison(let field, let operation, let operand):
            [.string(operation.rawValue), field.postgres, field.isDocumentID ? operand.names : operand.postgres]
        }
    }
}

extension Query.Cursor {
    fileprivate func postgres(along orders: [Query.Order]) -> JSON {
        let values = zip(values, orders).map { value, order in order.field.isDocumentID ? value.names : value.postgres }
        return ["values": .array(values), "inclusive": .bool(isInclusive)]
    }
}

extension DocumentValue {
    /// The paths with which a document's ID is compared.
    fileprivate var names: JSON {
        switch self {
        case .reference(let reference): .string(reference.path.rawValue)
        case .array(let elements): .array(elements.map(\.names))
        default: postgres
        }
    }
}
