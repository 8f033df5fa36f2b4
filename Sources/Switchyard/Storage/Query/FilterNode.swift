/// A filter prepared for checking many documents.
///
/// It is a tree of objects, because taking a field or an operand out of ``Filter`` copies it each time.
final class FilterNode: Sendable {
    private enum Kind {
        case all, any
        case test(Filter.Test)
        case comparison(Filter.Operator)
    }

    private let kind: Kind
    private let parts: [FilterNode]
    private let field: FieldPath
    private let operand: DocumentValue
    /// Whether it compares the document's name.
    let readsPath: Bool

    init(_ filter: Filter) {
        switch filter {
        case .all(let filters): (kind, parts, field, operand) = (.all, filters.map(FilterNode.init), .documentID, .null)
        case .any(let filters): (kind, parts, field, operand) = (.any, filters.map(FilterNode.init), .documentID, .null)
        case .test(let field, let test): (kind, parts, self.field, operand) = (.test(test), [], field, .null)
        case .comparison(let field, let operation, let operand):
            (kind, parts, self.field, self.operand) = (.comparison(operation), [], field, operand)
        }
        readsPath = if case .comparison = kind { self.field.isDocumentID } else { parts.contains(where: \.readsPath) }
    }

    func matches(_ path: StoragePath, _ data: DocumentData) -> Bool {
        switch kind {
        case .all:
            for part in parts where !part.matches(path, data) { return false }
            return true
        case .any:
            for part in parts where part.matches(path, data) { return true }
            return false
        case .test(let test):
            guard let value = data[field] else { return false }
            let isNaN = if case .double(let number) = value { number.isNaN } else { false }
            return switch test {
            case .isNull: value.isNull
            case .isNotNull: !value.isNull
            case .isNaN: isNaN
            case .isNotNaN: !isNaN && !value.isNull
            }
        case .comparison(let operation):
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
