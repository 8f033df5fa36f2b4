/// The one meaning of a query: which documents match, and in which order. Used by the mock, the offline engine and the
/// local servers alike. Over all documents at once it is ``results(among:)``; as they change, a ``QueryView`` keeps them.
package struct QueryEvaluator: Sendable {
    package let query: Query
    package let orders: [Query.Order]
    private let start: Query.Cursor?
    private let end: Query.Cursor?

    package init(_ query: Query) {
        self.query = query
        orders = query.effectiveOrders
        start = query.start
        end = query.end
    }

    /// Whether the document is a result, limits aside.
    package func matches(_ path: StoragePath, _ data: DocumentData) -> Bool {
        guard isInSource(path) else { return false }
        for order in orders where !order.field.isDocumentID && data[order.field] == nil { return false }
        if let filter = query.filter, !filter.matches(path, data) { return false }
        if let start {
            let position = ordering(of: path, data, to: start)
            guard position == .after || (position == .same && start.isInclusive) else { return false }
        }
        if let end {
            let position = ordering(of: path, data, to: end)
            guard position == .before || (position == .same && end.isInclusive) else { return false }
        }
        return true
    }

    package func matches(_ document: DocumentSnapshot) -> Bool {
        guard let data = document.data else { return false }
        return matches(document.path, data)
    }

    /// Whether the document's place alone lets it be a result.
    package func isInSource(_ path: StoragePath) -> Bool {
        switch query.source {
        case .collection(let collection):
            return path.isDirectly(in: collection)
        case .group(let id, let ancestor):
            if let ancestor, !path.isBelow(ancestor) { return false }
            return path.isInCollection(called: id)
        }
    }

    /// The query's order, in which no two documents are the same.
    package func ordering(_ left: DocumentSnapshot, _ right: DocumentSnapshot) -> Ordering {
        for order in orders {
            let result: Ordering
            if order.field.isDocumentID {
                result = left.path.ordering(to: right.path)
            } else {
                // Both have the field, or they would not match; a missing one sorts first to keep the order total.
                switch (left.data?[order.field], right.data?[order.field]) {
                case (let left?, let right?): result = left.ordering(to: right)
                case (nil, nil): result = .same
                case (nil, _): result = .before
                case (_, nil): result = .after
                }
            }
            if result != .same { return order.direction == .ascending ? result : result.reversed }
        }
        return .same
    }

    private func ordering(of path: StoragePath, _ data: DocumentData, to cursor: Query.Cursor) -> Ordering {
        for (value, order) in zip(cursor.values, orders) {
            let result: Ordering
            if order.field.isDocumentID {
                guard case .reference(let reference) = value else { return .same }
                result = path.ordering(to: reference.path)
            } else {
                guard let own = data[order.field] else { return .before }
                result = own.ordering(to: value)
            }
            if result != .same { return order.direction == .ascending ? result : result.reversed }
        }
        return .same
    }
}

extension Filter {
    package func matches(_ path: StoragePath, _ data: DocumentData) -> Bool {
        switch self {
        case .all(let filters): return filters.allSatisfy { $0.matches(path, data) }
        case .any(let filters): return filters.contains { $0.matches(path, data) }
        case .test(let field, let test):
            guard let value = data[field] else { return false }
            let isNaN = if case .double(let number) = value { number.isNaN } else { false }
            return switch test {
            case .isNull: value.isNull
            case .isNotNull: !value.isNull
            case .isNaN: isNaN
            case .isNotNaN: !isNaN && !value.isNull
            }
        case .comparison(let field, let operation, let operand):
            guard let value = field.isDocumentID ? path.documentValue : data[field] else { return false }
            return operation.matches(value, operand)
        }
    }
}

extension Filter.Operator {
    fileprivate func matches(_ value: DocumentValue, _ operand: DocumentValue) -> Bool {
        switch self {
        case .equal: return !operand.isNeverEqual && value.isSame(as: operand)
        case .notEqual: return !value.isNull && !operand.isNull && !value.isSame(as: operand)
        case .lessThan: return value.isComparable(to: operand) && value.ordering(to: operand) == .before
        case .lessThanOrEqual: return value.isComparable(to: operand) && value.ordering(to: operand) != .after
        case .greaterThan: return value.isComparable(to: operand) && value.ordering(to: operand) == .after
        case .greaterThanOrEqual: return value.isComparable(to: operand) && value.ordering(to: operand) != .before
        case .arrayContains:
            guard case .array(let elements) = value else { return false }
            return elements.contains { !operand.isNeverEqual && $0.isSame(as: operand) }
        case .arrayContainsAny:
            guard case .array(let elements) = value, case .array(let wanted) = operand else { return false }
            return wanted.contains { one in !one.isNeverEqual && elements.contains { $0.isSame(as: one) } }
        case .in:
            guard case .array(let wanted) = operand else { return false }
            return wanted.contains { !$0.isNeverEqual && value.isSame(as: $0) }
        case .notIn:
            guard case .array(let unwanted) = operand, !unwanted.contains(where: \.isNull) else { return false }
            return !value.isNull && !unwanted.contains { value.isSame(as: $0) && !$0.isNeverEqual }
        }
    }
}

extension DocumentValue {
    private var isNaN: Bool { if case .double(let number) = self { number.isNaN } else { false } }

    /// Null and NaN are equal to nothing; there are tests for them.
    fileprivate var isNeverEqual: Bool { isNull || isNaN }

    /// Range conditions match only within one kind, and never NaN.
    fileprivate func isComparable(to operand: DocumentValue) -> Bool {
        typeOrder == operand.typeOrder && !isNaN && !operand.isNaN
    }
}
