import Switchyard
import SwitchyardBytes

/// A query over a table in two parts: the request to the data service, and what remains to be done here.
///
/// Every result meets the service's part. If ``isExact`` is `false`, the rest is evaluated here, over the returned rows.
struct TableQuery: Sendable {
    let shape: RowShape
    let query: Query
    /// The conditions on rows; `nil` if no row can meet them.
    private(set) var conditions: [RowCondition]?
    /// Whether these conditions express the whole filter.
    private(set) var isExact = true
    /// Whether the service sorts the rows in the query's order.
    private(set) var isSorted = true
    /// The columns to sort by, the key last, in the query's order or its reverse.
    private(set) var orders: [(column: String, isAscending: Bool)] = []
    /// Whether the rows are read from the end, because of a limit to the last results.
    let isReversed: Bool

    init(_ query: Query, in place: TableMappings.Place, _ shape: RowShape) {
        self.shape = shape
        self.query = query
        isReversed = if case .last? = query.limit { true } else { false }
        var translation = RowTranslation(shape)
        var conditions: [RowCondition] = []
        var isEmpty = false

        func add(_ outcome: RowTranslation.Outcome) {
            switch outcome {
            case .condition(let condition): conditions.append(condition)
            case .always: break
            case .never: isEmpty = true
            case .unknown: isExact = false
            }
        }

        if let parents = place.parents {
            for (column, name) in zip(shape.table.parentColumns, parents) {
                add(shape.condition(column, named: name).map { .condition($0) } ?? .never)
            }
        } else if case .group(_, let ancestor?) = query.source {
            guard let parents = shape.table.parents(below: ancestor) else {
                (self.conditions, orders) = (nil, [])
                return
            }
            for (column, name) in parents {
                add(shape.condition(column, named: name).map { .condition($0) } ?? .never)
            }
        }
        translation.isGroup = place.parents == nil
        for part in query.filter?.conjuncts ?? [] { add(translation.outcome(of: part)) }

        let wanted = query.effectiveOrders
        for order in wanted where !order.field.isDocumentID {
            add(translation.outcome(of: .test(order.field, .isNotNull)))
        }
        for order in wanted {
            let isAscending = (order.direction == .ascending) != isReversed
            if order.field.isDocumentID {
                orders += translation.nameColumns.map { ($0, isAscending) }
            } else if let (column, kind) = translation.column(of: order.field), kind.isOrdered {
                if !orders.contains(where: { $0.column == column }) { orders.append((column, isAscending)) }
            } else {
                isSorted = false
            }
        }
        if !isSorted { orders = translation.nameColumns.map { ($0, true) } }
        if let start = query.start { add(translation.outcome(of: start, isStart: true, along: wanted)) }
        if let end = query.end { add(translation.outcome(of: end, isStart: false, along: wanted)) }
        self.conditions = isEmpty ? nil : conditions
    }

    /// Whether the service does everything, so that it can also count and limit.
    var isWhole: Bool { isExact && isSorted }

    /// The parameter for an order.
    static func order(_ orders: [(column: String, isAscending: Bool)]) -> String {
        orders.map { "\(ColumnName.text($0.column)).\($0.isAscending ? "asc" : "desc")" }.joined(separator: ",")
    }

    /// The condition for rows after a returned one; `nil` if the row does not show its position.
    static func behind(_ row: AnswerRow, _ orders: [(column: String, isAscending: Bool)]) -> RowCondition? {
        var position: [(column: String, value: String, isAscending: Bool)] = []
        for (column, isAscending) in orders {
            switch row[column] {
            case .string(let text)?: position.append((column, text, isAscending))
            case .null?, nil: return nil
            case let json?: position.append((column, json.text(), isAscending))
            }
        }
        return .beyond(position, isBehind: true, isInclusive: false)
    }
}

extension Filter {
    /// The parts of a conjunction, so that one that the service cannot express does not hold back the others.
    fileprivate var conjuncts: [Filter] {
        if case .all(let filters) = self { filters.flatMap(\.conjuncts) } else { [self] }
    }
}
