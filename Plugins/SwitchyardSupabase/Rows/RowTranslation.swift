import Switchyard
import SwitchyardBytes

/// Translates the conditions of queries into the data service's syntax.
struct RowTranslation {
    enum Outcome {
        case condition(RowCondition)
        case always
        case never
        /// The service cannot express it.
        case unknown
    }

    private let shape: RowShape
    /// Whether rows of several parents are read.
    var isGroup = false

    init(_ shape: RowShape) { self.shape = shape }

    /// The columns that a document's name stands for.
    var nameColumns: [String] { (isGroup ? shape.table.parentColumns : []) + [shape.mapping.idColumn] }

    /// The column of a field, or a part of a JSON column; `nil` if there is none.
    func column(of field: FieldPath) -> (name: String, kind: ColumnKind)? {
        guard let (column, kind) = shape.column(of: field.components[0]) else { return nil }
        guard field.components.count > 1 else { return (column, kind) }
        let isPlain = field.components.dropFirst().allSatisfy { part in
            part.utf8.contains { !(48...57).contains($0) }
                && part.utf8.allSatisfy {
                    (97...122).contains($0) || (65...90).contains($0) || (48...57).contains($0) || $0 == 95
                }
        }
        guard case .json = kind, isPlain else { return (column, .unknown) }
        return (([column] + field.components.dropFirst()).joined(separator: "->"), kind)
    }

    func outcome(of filter: Filter) -> Outcome {
        switch filter {
        case .all(let filters): return all(filters.map { outcome(of: $0) })
        case .any(let filters): return any(filters.map { outcome(of: $0) })
        case .test(let field, let test): return outcome(of: field, test)
        case .comparison(let field, let operation, let operand):
            return field.isDocumentID ? outcome(ofName: operation, operand) : outcome(of: field, operation, operand)
        }
    }

    private func all(_ outcomes: [Outcome]) -> Outcome {
        var conditions: [RowCondition] = []
        var isUnknown = false
        for outcome in outcomes {
            switch outcome {
            case .never: return .never
            case .always: break
            case .unknown: isUnknown = true
            case .condition(let condition): conditions.append(condition)
            }
        }
        // The known part would serve as a prefilter, but the caller has to know that it is only one.
        if isUnknown { return .unknown }
        return conditions.isEmpty ? .always : .condition(conditions.count == 1 ? conditions[0] : .all(conditions))
    }

    private func any(_ outcomes: [Outcome]) -> Outcome {
        var conditions: [RowCondition] = []
        for outcome in outcomes {
            switch outcome {
            case .always: return .always
            case .never: break
            case .unknown: return .unknown
            case .condition(let condition): conditions.append(condition)
            }
        }
        return conditions.isEmpty ? .never : .condition(conditions.count == 1 ? conditions[0] : .any(conditions))
    }

    // MARK: Fields

    /// A null and a missing field are the same, so nothing is ever null.
    private func outcome(of field: FieldPath, _ test: Filter.Test) -> Outcome {
        guard let (column, kind) = column(of: field) else { return .never }
        let hasNaN: Bool? =
            switch kind {
            case .float, .numeric: true
            case .unknown, .json: nil
            default: false
            }
        switch test {
        case .isNull:
            // In a JSON column, a null may be a value.
            return if case .json = kind, field.components.count > 1 { .unknown } else { .never }
        case .isNotNull: return field.components.count > 1 ? .unknown : .condition(.isNotNull(column))
        case .isNaN:
            guard let hasNaN else { return .unknown }
            return hasNaN ? .condition(.test(column, "eq", .value("NaN"))) : .never
        case .isNotNaN:
            guard let hasNaN else { return .unknown }
            return .condition(
                hasNaN
                    ? .all([.isNotNull(column), .test(column, "neq", .value("NaN"))]) : .isNotNull(column))
        }
    }

    private func outcome(of field: FieldPath, _ operation: Filter.Operator, _ value: DocumentValue) -> Outcome {
        guard let (column, kind) = column(of: field) else { return .never }
        if case .unknown = kind, field.components.count > 1 { return .unknown }
        switch operation {
        case .equal: return value.isNaN ? .never : equal(column, kind, value)
        case .notEqual:
            if value.isNull { return .never }
            // A null within JSON is a value to the database.
            if case .json = kind { return .unknown }
            guard let operand = kind.operand(value) else {
                return kind.isOpen ? .unknown : .condition(.isNotNull(column))
            }
            return .condition(.test(column, "neq", .value(operand)))
        case .lessThan: return range(column, kind, "lt", value)
        case .lessThanOrEqual: return range(column, kind, "lte", value)
        case .greaterThan: return range(column, kind, "gt", value)
        case .greaterThanOrEqual: return range(column, kind, "gte", value)
        case .in:
            let values = (value.arrayValue ?? []).filter { !$0.isNull && !$0.isNaN }
            let operands = values.compactMap { kind.operand($0) }
            if kind.isOpen, operands.count < values.count { return .unknown }
            return oneOf(column, kind, operands)
        case .notIn:
            let values = value.arrayValue ?? []
            if values.contains(where: \.isNull) { return .never }
            if case .json = kind { return .unknown }
            let operands = values.filter { !$0.isNaN }.compactMap { kind.operand($0) }
            if kind.isOpen, operands.count < values.count { return .unknown }
            return noneOf(column, kind, operands)
        case .arrayContains: return contains(column, kind, "cs", [value])
        case .arrayContainsAny: return contains(column, kind, "ov", value.arrayValue ?? [])
        }
    }

    private func oneOf(_ column: String, _ kind: ColumnKind, _ operands: [String]) -> Outcome {
        guard case .array = kind else {
            return operands.isEmpty ? .never : .condition(.test(column, "in", .list(operands)))
        }
        // The database has no lists of arrays.
        return any(operands.map { .condition(.test(column, "eq", .value($0))) })
    }

    private func noneOf(_ column: String, _ kind: ColumnKind, _ operands: [String]) -> Outcome {
        if operands.isEmpty { return .condition(.isNotNull(column)) }
        guard case .array = kind else { return .condition(.test(column, "not.in", .list(operands))) }
        return all(operands.map { .condition(.test(column, "neq", .value($0))) })
    }

    private func equal(_ column: String, _ kind: ColumnKind, _ value: DocumentValue) -> Outcome {
        if value.isNull { return .never }
        guard let operand = kind.operand(value) else { return kind.isOpen ? .unknown : .never }
        return .condition(.test(column, "eq", .value(operand)))
    }

    private func range(_ column: String, _ kind: ColumnKind, _ operation: String, _ value: DocumentValue) -> Outcome {
        guard kind.isOrdered, let sample = kind.sample else { return .unknown }
        if value.isNaN || value.typeOrder != sample.typeOrder { return .never }
        if case .integer(let limit) = kind, let outcome = wholeRange(column, limit, operation, value) { return outcome }
        guard let operand = kind.operand(value) else { return .unknown }
        let test = RowCondition.test(column, operation, .value(operand))
        // The database considers NaN the largest number; in queries it is in no range.
        switch kind {
        case .float, .numeric: return .condition(.all([test, .test(column, "neq", .value("NaN"))]))
        default: return .condition(test)
        }
    }

    /// Ranges of whole numbers whose bound is a fraction, or does not fit the column.
    private func wholeRange(_ column: String, _ limit: Int64, _ operation: String, _ value: DocumentValue) -> Outcome? {
        let isUpper = operation.hasPrefix("l")
        let number: Double
        switch value {
        case .integer(let whole):
            if whole > limit { return isUpper ? .condition(.isNotNull(column)) : .never }
            if whole < -limit - 1 { return isUpper ? .never : .condition(.isNotNull(column)) }
            return nil
        case .double(let double): number = double
        default: return nil
        }
        if number > Double(limit) { return isUpper ? .condition(.isNotNull(column)) : .never }
        if number < -Double(limit) - 1 { return isUpper ? .never : .condition(.isNotNull(column)) }
        if Int64(exactly: number) != nil { return nil }
        let bound = isUpper ? number.rounded(.down) : number.rounded(.up)
        guard let whole = Int64(exactly: bound) else { return .unknown }
        return .condition(.test(column, isUpper ? "lte" : "gte", .value(String(whole))))
    }

    private func contains(
        _ column: String, _ kind: ColumnKind, _ operation: String, _ values: [DocumentValue]
    ) -> Outcome {
        switch kind {
        case .array(let element):
            if case .unknown = element { return .unknown }
            let wanted = values.filter { !$0.isNull && !$0.isNaN }.compactMap { element.operand($0) }
            guard !wanted.isEmpty, let list = ColumnKind.list(wanted) else { return .never }
            return .condition(.test(column, operation, .value(list)))
        case .json, .unknown: return .unknown
        default: return .never
        }
    }

    // MARK: Names

    private func outcome(ofName operation: Filter.Operator, _ operand: DocumentValue) -> Outcome {
        func paths(_ value: DocumentValue) -> [StoragePath] {
            (value.arrayValue ?? [value]).compactMap {
                if case .reference(let reference) = $0 { reference.path } else { nil }
            }
        }
        switch operation {
        case .equal, .in: return any(paths(operand).map { isAt($0) })
        default: return .unknown
        }
    }

    private func isAt(_ path: StoragePath) -> Outcome {
        guard let parents = shape.table.parents(of: path.collection) else { return .never }
        let names = Array(zip(shape.table.parentColumns, parents)) + [(shape.mapping.idColumn, path.id)]
        var conditions: [RowCondition] = []
        for (column, name) in names {
            guard let condition = shape.condition(column, named: name) else { return .never }
            conditions.append(condition)
        }
        return .condition(conditions.count == 1 ? conditions[0] : .all(conditions))
    }

    // MARK: Cursors

    func outcome(of cursor: Query.Cursor, isStart: Bool, along orders: [Query.Order]) -> Outcome {
        var position: [(column: String, value: String, isAscending: Bool)] = []
        for (value, order) in zip(cursor.values, orders) {
            let isAscending = order.direction == .ascending
            if order.field.isDocumentID {
                guard case .reference(let reference) = value,
                    let parents = shape.table.parents(of: reference.path.collection)
                else { return .unknown }
                let names = (isGroup ? parents : []) + [reference.path.id]
                for (column, name) in zip(nameColumns, names) {
                    guard let operand = shape.kind(of: column).operand(named: name) else { return .unknown }
                    position.append((column, operand, isAscending))
                }
            } else {
                guard let (column, kind) = column(of: order.field), kind.isOrdered, !value.isNaN,
                    let sample = kind.sample, sample.typeOrder == value.typeOrder, let operand = kind.operand(value)
                else { return .unknown }
                // A cursor over whole numbers may lie between two of them.
                position.append((column, operand, isAscending))
            }
        }
        guard !position.isEmpty else { return .always }
        return .condition(.beyond(position, isBehind: isStart, isInclusive: cursor.isInclusive))
    }
}

extension ColumnKind {
    /// Whether a value that has no operand may still be equal to one of the column's.
    fileprivate var isOpen: Bool {
        switch self {
        case .json, .unknown: true
        case .array(let element): element.isOpen
        default: false
        }
    }
}

extension DocumentValue {
    fileprivate var isNaN: Bool { if case .double(let number) = self { number.isNaN } else { false } }
}
