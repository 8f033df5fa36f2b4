/// The rules for queries that every backend can run. They are in one place, so that all backends refuse the same queries.
enum QueryRules {
    static let maximumDisjunctions = 30
    static let maximumListValues = 30
    static let maximumNotInValues = 10
    static let maximumDepth = 20
    static let maximumInequalityFields = 10
    /// Of conditions, orders and ancestors together.
    static let maximumParts = 100

    /// `filter` with null and NaN turned into tests, names into references and single-element groups unwrapped.
    static func normalized(
        _ filter: Filter, in source: Query.Source, depth: Int = 0
    ) throws(StorageError) -> Filter {
        guard depth <= maximumDepth else { throw .invalid("A filter nests at most \(maximumDepth) levels.") }
        switch filter {
        case .comparison(let field, let operation, let value):
            return try condition(field, operation, value, in: source)
        case .test(let field, _):
            if field.isDocumentID { throw .invalid("A document's name is never null; remove the test on it.") }
            return filter
        case .all(let filters):
            return try group(filters, in: source, depth: depth, Filter.all)
        case .any(let filters):
            return try group(filters, in: source, depth: depth, Filter.any)
        }
    }

    private static func group(
        _ filters: [Filter], in source: Query.Source, depth: Int, _ make: ([Filter]) -> Filter
    ) throws(StorageError) -> Filter {
        guard !filters.isEmpty else { throw .invalid("A group of conditions needs at least one.") }
        var checked: [Filter] = []
        for filter in filters { checked.append(try normalized(filter, in: source, depth: depth + 1)) }
        return checked.count == 1 ? checked[0] : make(checked)
    }

    private static func condition(
        _ field: FieldPath, _ operation: Filter.Operator, _ value: DocumentValue, in source: Query.Source
    ) throws(StorageError) -> Filter {
        try value.checkPaths()
        let isNaN = if case .double(let number) = value { number.isNaN } else { false }
        switch operation {
        case .equal where value.isNull && !field.isDocumentID: return .test(field, .isNull)
        case .notEqual where value.isNull && !field.isDocumentID: return .test(field, .isNotNull)
        case .equal where isNaN: return .test(field, .isNaN)
        case .notEqual where isNaN: return .test(field, .isNotNaN)
        case .in, .notIn, .arrayContainsAny:
            guard case .array(let values) = value else {
                throw .invalid("“\(operation.rawValue)” on “\(field)” needs an array of values.")
            }
            let most = operation == .notIn ? maximumNotInValues : maximumListValues
            guard (1...most).contains(values.count) else {
                throw .invalid(
                    "“\(operation.rawValue)” on “\(field)” takes 1 to \(most) values; it was given \(values.count).")
            }
        case .arrayContains: break
        case _ where value.isNull || isNaN:
            throw .invalid(
                "Null and NaN can only be tested for equality; “\(operation.rawValue)” on “\(field)” cannot.")
        default: break
        }
        guard field.isDocumentID else { return .comparison(field, operation, value) }
        switch operation {
        case .arrayContains, .arrayContainsAny:
            throw .invalid("A document's name is not an array. Use `.equal` or `.in`.")
        case .in, .notIn:
            var references: [DocumentValue] = []
            for element in value.arrayValue ?? [] { references.append(try reference(element, in: source)) }
            return .comparison(field, operation, .array(references))
        default:
            return .comparison(field, operation, try reference(value, in: source))
        }
    }

    /// A document's name given as a reference, or as text relative to the collection.
    static func reference(_ value: DocumentValue, in source: Query.Source) throws(StorageError) -> DocumentValue {
        switch (value, source) {
        case (.reference(let reference), _):
            try reference.path.checked()
            return value
        case (.string(let id), .collection(let collection)): return try collection.document(id).checked().documentValue
        case (.string(let path), .group(_, let ancestor)):
            let whole = ancestor.map { $0.rawValue + "/" + path } ?? path
            return try StoragePath(validating: whole).documentValue
        default: throw .invalid("A document's name compares to a path or a name, not to \(value.kindName).")
        }
    }

    /// The rules that concern several conditions and orders at once.
    static func check(_ query: Query) throws(StorageError) {
        try checkOrders(query)
        guard let filter = query.filter else { return }
        let operations = filter.conditions.compactMap { condition -> Filter.Operator? in
            if case .comparison(_, let operation, _) = condition { operation } else { nil }
        }
        guard filter.conditions.count(where: \.isExclusion) <= 1 else {
            throw .invalid(
                "A query has at most one condition of “!=”, “not-in”, “is not null” and “is not NaN”; filter the results by the others."
            )
        }
        if operations.contains(.notIn) {
            if operations.contains(.in) || operations.contains(.arrayContainsAny) || filter.hasAlternatives {
                throw .invalid("“not-in” cannot be combined with “in”, “array-contains-any” or alternatives.")
            }
        }
        let disjunctions = filter.disjunctions(limit: maximumDisjunctions)
        guard disjunctions <= maximumDisjunctions else {
            throw .invalid(
                "The filter has more than \(maximumDisjunctions) alternatives once it is multiplied out; split the query."
            )
        }
        guard filter.arrayConditions <= 1 else {
            throw .invalid(
                "A query has at most one condition of “array-contains” and “array-contains-any”, or one in each alternative; "
                    + "filter the results by the others.")
        }
        try checkInequalities(filter)
    }

    private static func checkInequalities(_ filter: Filter) throws(StorageError) {
        let fields = filter.inequalityFields
        guard fields.count <= maximumInequalityFields else {
            throw .invalid(
                "A query has inequalities on at most \(maximumInequalityFields) fields, this one on \(fields.count); "
                    + "filter the results by the others.")
        }
        let namesDocuments = filter.conditions.contains { condition in
            if case .comparison(.documentID, .equal, _) = condition { return true }
            if case .comparison(.documentID, .in, _) = condition { return true }
            return false
        }
        guard !namesDocuments || fields.isEmpty || fields.contains(.documentID) else {
            throw .invalid(
                "A condition that names documents cannot be combined with an inequality on “\(fields[0])”; get the documents by their "
                    + "paths, and filter them.")
        }
    }

    private static func checkOrders(_ query: Query) throws(StorageError) {
        let orders = query.effectiveOrders
        let implied = (query.filter?.inequalityFields ?? []).filter { field in !orders.contains { $0.field == field } }
        guard orders.last?.field.isDocumentID == true, implied.allSatisfy(\.isDocumentID) else {
            let field = implied.first { !$0.isDocumentID } ?? orders.last?.field ?? .documentID
            throw .invalid(
                "Nothing comes after the document's name in an order: order by “\(field)” first, or not by the name.")
        }
        let ancestors =
            switch query.source {
            case .collection(let path): path.parent == nil ? 0 : 1
            case .group(_, let ancestor): ancestor == nil ? 0 : 1
            }
        let count = (query.filter?.conditions.count ?? 0) + orders.count + ancestors
        guard count <= maximumParts else {
            throw .invalid(
                "A query has at most \(maximumParts) conditions and orders, this one has \(count) with those that it implies."
            )
        }
    }

    static func cursor(
        _ values: [DocumentValue], isInclusive: Bool, in query: Query
    ) throws(StorageError) -> Query.Cursor {
        let orders = query.effectiveOrders
        guard !values.isEmpty else { throw .invalid("A cursor needs at least one value.") }
        // Values for fields that are only implied by conditions are optional: the order includes these fields.
        guard values.count <= orders.count else {
            throw .invalid("A cursor has one value for each order: at most \(orders.count) here, not \(values.count).")
        }
        var checked: [DocumentValue] = []
        for (value, order) in zip(values, orders) {
            try value.checkPaths()
            checked.append(order.field.isDocumentID ? try reference(value, in: query.source) : value)
        }
        return Query.Cursor(values: checked, isInclusive: isInclusive)
    }
}

extension Filter {
    fileprivate var hasAlternatives: Bool {
        switch self {
        case .comparison, .test: false
        case .all(let filters): filters.contains(where: \.hasAlternatives)
        case .any: true
        }
    }

    /// Whether the condition is one of those that leave out some values.
    fileprivate var isExclusion: Bool {
        switch self {
        case .comparison(_, .notEqual, _), .comparison(_, .notIn, _), .test(_, .isNotNull), .test(_, .isNotNaN): true
        default: false
        }
    }

    /// How many conditions on elements of arrays an alternative has, at most, after expanding the tree.
    fileprivate var arrayConditions: Int {
        switch self {
        case .comparison(_, .arrayContains, _), .comparison(_, .arrayContainsAny, _): 1
        case .comparison, .test: 0
        case .all(let filters): filters.reduce(0) { $0 + $1.arrayConditions }
        case .any(let filters): filters.map(\.arrayConditions).max() ?? 0
        }
    }

    /// The number of alternatives after expanding the tree; stops counting above `limit`.
    fileprivate func disjunctions(limit: Int) -> Int {
        switch self {
        case .comparison(_, .in, .array(let values)), .comparison(_, .arrayContainsAny, .array(let values)):
            return values.count
        case .comparison, .test: return 1
        case .all(let filters):
            return filters.reduce(1) { min($0 * $1.disjunctions(limit: limit), limit + 1) }
        case .any(let filters):
            return filters.reduce(0) { min($0 + $1.disjunctions(limit: limit), limit + 1) }
        }
    }
}
