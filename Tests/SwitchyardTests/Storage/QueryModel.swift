import Foundation
import Switchyard

/// What a query means, said a second time: as plainly as possible, and with nothing of what the evaluator is made of.
struct QueryModel {
    let query: Query

    func results(among documents: [DocumentSnapshot]) -> [DocumentSnapshot] {
        let all = documents.filter(isResult).sorted { left, right in
            PlainOrder.lists(position(of: left), position(of: right), PlainOrder.directed) < 0
        }
        let rest = all.dropFirst(query.offset)
        return switch query.limit {
        case nil: Array(rest)
        case .first(let count): Array(rest.prefix(count))
        case .last(let count): Array(rest.suffix(count))
        }
    }

    /// The explicit orders, fields with inequalities by name, then the document's name; nothing comes after that name.
    private var orders: [(field: FieldPath, isDescending: Bool)] {
        var orders = query.orders.map { (field: $0.field, isDescending: $0.direction == .descending) }
        let isDescending = orders.last?.isDescending ?? false
        func isThere(_ field: FieldPath) -> Bool {
            orders.contains { PlainOrder.fields($0.field, field) == 0 }
        }
        if isThere(.documentID) { return orders }
        let unequal = query.filter.map(fieldsWithInequalities) ?? []
        for field in unequal.sorted(by: { PlainOrder.fields($0, $1) < 0 }) where !field.isDocumentID && !isThere(field)
        {
            orders.append((field, isDescending))
        }
        return orders + [(.documentID, isDescending)]
    }

    private func fieldsWithInequalities(of filter: Filter) -> [FieldPath] {
        switch filter {
        case .all(let filters), .any(let filters): filters.flatMap(fieldsWithInequalities)
        case .test(let field, .isNotNull), .test(let field, .isNotNaN): [field]
        case .test: []
        case .comparison(let field, let operation, _):
            switch operation {
            case .equal, .in, .arrayContains, .arrayContainsAny: []
            case .notEqual, .notIn, .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual: [field]
            }
        }
    }

    private func isResult(_ document: DocumentSnapshot) -> Bool {
        guard document.data != nil, isInSource(document.path) else { return false }
        for order in orders where value(of: order.field, in: document) == nil { return false }
        if let filter = query.filter, !passes(document, filter) { return false }
        if let start = query.start {
            let place = place(of: document, from: start)
            if place < 0 || (place == 0 && !start.isInclusive) { return false }
        }
        if let end = query.end {
            let place = place(of: document, from: end)
            if place > 0 || (place == 0 && !end.isInclusive) { return false }
        }
        return true
    }

    private func isInSource(_ path: StoragePath) -> Bool {
        let names = PlainOrder.segments(path.rawValue)
        switch query.source {
        case .collection(let collection): return Array(names.dropLast()) == PlainOrder.segments(collection.rawValue)
        case .group(let id, let ancestor):
            let above = ancestor.map { PlainOrder.segments($0.rawValue) } ?? []
            return names[names.count - 2] == Array(id.utf8) && names.count > above.count && names.starts(with: above)
        }
    }

    private func value(of field: FieldPath, in document: DocumentSnapshot) -> DocumentValue? {
        if field.isDocumentID { return .reference(DocumentReference(document.path)) }
        var value = document.data.map { DocumentValue.map($0) }
        for name in field.components {
            guard case .map(let data)? = value else { return nil }
            value = Array(data).first { Array($0.name.utf8) == Array(name.utf8) }?.value
        }
        return value
    }

    private func position(of document: DocumentSnapshot) -> [(value: DocumentValue, isDescending: Bool)] {
        orders.map { (value(of: $0.field, in: document) ?? .null, $0.isDescending) }
    }

    /// Below zero before the cursor, zero where it is the same in as many fields as the cursor has.
    private func place(of document: DocumentSnapshot, from cursor: Query.Cursor) -> Int {
        let own = position(of: document).prefix(cursor.values.count)
        let wanted = zip(cursor.values, orders).map { (value: $0, isDescending: $1.isDescending) }
        return PlainOrder.lists(Array(own), wanted, PlainOrder.directed)
    }

    private func passes(_ document: DocumentSnapshot, _ filter: Filter) -> Bool {
        switch filter {
        case .all(let filters): return filters.allSatisfy { passes(document, $0) }
        case .any(let filters): return filters.contains { passes(document, $0) }
        case .test(let field, let test):
            guard let value = value(of: field, in: document) else { return false }
            return switch test {
            case .isNull: PlainOrder.isNull(value)
            case .isNotNull: !PlainOrder.isNull(value)
            case .isNaN: PlainOrder.isNaN(value)
            case .isNotNaN: !PlainOrder.isNaN(value) && !PlainOrder.isNull(value)
            }
        case .comparison(let field, let operation, let operand):
            guard let value = value(of: field, in: document) else { return false }
            return passes(value, operation, operand)
        }
    }

    private func passes(_ value: DocumentValue, _ operation: Filter.Operator, _ operand: DocumentValue) -> Bool {
        let order = PlainOrder.values(value, operand)
        let isOneKind =
            PlainOrder.rank(value) == PlainOrder.rank(operand) && !PlainOrder.isNaN(value) && !PlainOrder.isNaN(operand)
        /// Null and NaN are equal to nothing.
        func isEqual(_ left: DocumentValue, _ right: DocumentValue) -> Bool {
            !PlainOrder.isNull(left) && !PlainOrder.isNaN(left) && PlainOrder.values(left, right) == 0
        }
        let elements = if case .array(let elements) = value { elements } else { [DocumentValue]() }
        let list = if case .array(let list) = operand { list } else { [DocumentValue]() }
        switch operation {
        case .equal: return isEqual(value, operand)
        case .notEqual:
            return !PlainOrder.isNull(value) && !PlainOrder.isNull(operand) && !isEqual(value, operand)
        case .lessThan: return isOneKind && order < 0
        case .lessThanOrEqual: return isOneKind && order <= 0
        case .greaterThan: return isOneKind && order > 0
        case .greaterThanOrEqual: return isOneKind && order >= 0
        case .arrayContains: return elements.contains { isEqual($0, operand) }
        case .arrayContainsAny: return elements.contains { element in list.contains { isEqual(element, $0) } }
        case .in: return list.contains { isEqual(value, $0) }
        case .notIn:
            if PlainOrder.isNull(value) || list.contains(where: PlainOrder.isNull) { return false }
            return !list.contains { isEqual(value, $0) }
        }
    }
}
