/// Selects the documents of a query: one condition on a field, or a tree of conditions.
///
/// ```swift
/// let filter: Filter = .any([.field("state", .equal, "open"), .all([.field("age", .greaterThan, 17), .field("note", .isNotNull)])])
/// ```
///
/// A document without the field matches no condition on it. Comparisons match only values of the operand's own kind (all
/// numbers are one kind); `notEqual` and `notIn` match any kind except null.
public indirect enum Filter: Sendable, Hashable {
    case comparison(FieldPath, Operator, DocumentValue)
    case test(FieldPath, Test)
    /// Every one of these.
    case all([Filter])
    /// At least one of these.
    case any([Filter])

    public enum Operator: String, Sendable, Hashable, CaseIterable {
        case equal = "=="
        case notEqual = "!="
        case lessThan = "<"
        case lessThanOrEqual = "<="
        case greaterThan = ">"
        case greaterThanOrEqual = ">="
        /// The field is an array with this element.
        case arrayContains = "array-contains"
        /// The field is an array with at least one of these elements (1 … 30).
        case arrayContainsAny = "array-contains-any"
        /// The field is one of these values (1 … 30).
        case `in`
        /// The field is none of these values (1 … 10), and is not null.
        case notIn = "not-in"

        /// Whether results of this operator are sorted by its field.
        var isInequality: Bool {
            switch self {
            case .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual, .notEqual, .notIn: true
            case .equal, .arrayContains, .arrayContainsAny, .in: false
            }
        }
    }

    public enum Test: String, Sendable, Hashable, CaseIterable {
        case isNull = "is-null"
        case isNotNull = "is-not-null"
        case isNaN = "is-nan"
        case isNotNaN = "is-not-nan"

        var isInequality: Bool { self == .isNotNull || self == .isNotNaN }
    }

    public static func field(
        _ field: FieldPath, _ operation: Operator, _ value: some DocumentValueConvertible
    ) -> Filter {
        .comparison(field, operation, value.documentValue)
    }

    public static func field(_ field: FieldPath, _ operation: Operator, _ value: DocumentValue) -> Filter {
        .comparison(field, operation, value)
    }

    public static func field(_ field: FieldPath, _ test: Test) -> Filter { .test(field, test) }

    /// Every condition in the tree, from left to right.
    package var conditions: [Filter] {
        switch self {
        case .comparison, .test: [self]
        case .all(let filters), .any(let filters): filters.flatMap(\.conditions)
        }
    }

    /// The fields by which this filter sorts, each once.
    package var inequalityFields: [FieldPath] {
        var fields: [FieldPath] = []
        for condition in conditions {
            switch condition {
            case .comparison(let field, let operation, _) where operation.isInequality && !fields.contains(field):
                fields.append(field)
            case .test(let field, let test) where test.isInequality && !fields.contains(field): fields.append(field)
            default: break
            }
        }
        return fields
    }
}
