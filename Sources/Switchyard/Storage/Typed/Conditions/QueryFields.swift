/// The fields of a query's documents, by property: what a condition's closure gets.
///
/// ```swift
/// let urgent = todos.where { $0.done == false && ($0.priority >= 2 || $0.tags.contains("now")) }
/// ```
/// A document without the field matches neither a condition on it nor the condition's negation.
@dynamicMemberLookup
public struct QueryFields<Value: Sendable> {
    init() {}

    public subscript<Field>(dynamicMember property: KeyPath<Value, Field>) -> QueryField<Value, Field> {
        QueryField(property: property)
    }
}

/// One field in a condition: `$0.priority`, or `$0.address.city` inside a nested value.
@dynamicMemberLookup
public struct QueryField<Value: Sendable, Field> {
    let property: KeyPath<Value, Field>

    public subscript<Inner>(dynamicMember inner: KeyPath<Field, Inner>) -> QueryField<Value, Inner> {
        QueryField<Value, Inner>(property: property.appending(path: inner))
    }
}

extension QueryField where Field: Encodable {
    public static func == (field: Self, value: Field) -> QueryCondition<Value> { field.compares(.equal, value) }
    /// The field has another value, and is not null.
    public static func != (field: Self, value: Field) -> QueryCondition<Value> { field.compares(.notEqual, value) }
    public static func < (field: Self, value: Field) -> QueryCondition<Value> { field.compares(.lessThan, value) }
    public static func <= (field: Self, value: Field) -> QueryCondition<Value> {
        field.compares(.lessThanOrEqual, value)
    }
    public static func > (field: Self, value: Field) -> QueryCondition<Value> { field.compares(.greaterThan, value) }
    public static func >= (field: Self, value: Field) -> QueryCondition<Value> {
        field.compares(.greaterThanOrEqual, value)
    }

    /// The field is one of `values`: `$0.state.in([.open, .late])`.
    public func `in`(_ values: [Field]) -> QueryCondition<Value> { compares(.in, values) }
    /// The field is none of `values`, and is not null.
    public func notIn(_ values: [Field]) -> QueryCondition<Value> { compares(.notIn, values) }
}

extension QueryField {
    /// The list has `element`.
    public func contains<Element: Encodable>(_ element: Element) -> QueryCondition<Value> where Field == [Element] {
        compares(.arrayContains, element)
    }

    /// The list has at least one of `elements`.
    public func contains<Element: Encodable>(anyOf elements: [Element]) -> QueryCondition<Value>
    where Field == [Element] {
        compares(.arrayContainsAny, elements)
    }

    fileprivate func compares(_ operation: Filter.Operator, _ operand: any Encodable) -> QueryCondition<Value> {
        QueryCondition(.comparison(property, operation, operand))
    }
}
