/// A condition on documents by the properties of their type, or a property that is one by itself: `$0.done`.
public protocol QueryPredicate<Value> {
    associatedtype Value: Sendable
    var condition: QueryCondition<Value> { get }
}

/// A condition on documents by the properties of their type; see ``QueryFields``.
public struct QueryCondition<Value: Sendable>: QueryPredicate {
    indirect enum Kind {
        case comparison(PartialKeyPath<Value>, Filter.Operator, any Encodable)
        case all([QueryCondition])
        case any([QueryCondition])
        case impossible(StorageError)
    }

    let kind: Kind

    init(_ kind: Kind) { self.kind = kind }

    public var condition: QueryCondition<Value> { self }

    /// The same in terms of fields.
    func filter(by converter: DocumentConverter<Value>) throws(StorageError) -> Filter {
        switch kind {
        case .comparison(let property, let operation, let operand):
            return try converter.comparison(property, operation, operand)
        case .all(let parts): return .all(try converter.filters(parts))
        case .any(let parts): return .any(try converter.filters(parts))
        case .impossible(let error): throw error
        }
    }

    /// The condition that is met where this one is not, among the documents that have its fields.
    var negated: QueryCondition<Value> {
        switch kind {
        case .comparison(let property, let operation, let operand):
            // Not an inequality, by which servers would have to sort.
            if let value = operand as? Bool, operation == .equal || operation == .notEqual {
                return QueryCondition(.comparison(property, .equal, operation == .equal ? !value : value))
            }
            guard let opposite = operation.opposite else {
                return QueryCondition(
                    .impossible(
                        .invalid(
                            "No query finds lists without an element: remove the negation of “\(operation)”.")))
            }
            return QueryCondition(.comparison(property, opposite, operand))
        case .all(let parts): return QueryCondition(.any(parts.map(\.negated)))
        case .any(let parts): return QueryCondition(.all(parts.map(\.negated)))
        case .impossible: return self
        }
    }
}

extension QueryField: QueryPredicate where Field == Bool {
    /// The property is true.
    public var condition: QueryCondition<Value> { self == true }
}

extension QueryPredicate {
    /// Both conditions hold.
    public static func && <Other: QueryPredicate<Value>>(left: Self, right: Other) -> QueryCondition<Value> {
        if case .all(let parts) = left.condition.kind { return QueryCondition(.all(parts + [right.condition])) }
        return QueryCondition(.all([left.condition, right.condition]))
    }

    /// At least one of the conditions holds.
    public static func || <Other: QueryPredicate<Value>>(left: Self, right: Other) -> QueryCondition<Value> {
        if case .any(let parts) = left.condition.kind { return QueryCondition(.any(parts + [right.condition])) }
        return QueryCondition(.any([left.condition, right.condition]))
    }

    /// The opposite of every comparison: `!=` for `==`, `>=` for `<`, and `== false` for `== true`. There is none for
    /// `contains`, so a query with its negation has a mistake. As with any condition, documents without the field do not match.
    public static prefix func ! (predicate: Self) -> QueryCondition<Value> { predicate.condition.negated }
}

extension Filter.Operator {
    fileprivate var opposite: Filter.Operator? {
        switch self {
        case .equal: .notEqual
        case .notEqual: .equal
        case .lessThan: .greaterThanOrEqual
        case .lessThanOrEqual: .greaterThan
        case .greaterThan: .lessThanOrEqual
        case .greaterThanOrEqual: .lessThan
        case .in: .notIn
        case .notIn: .in
        case .arrayContains, .arrayContainsAny: nil
        }
    }
}
