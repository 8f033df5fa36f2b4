package import Switchyard
import SwitchyardBytes

extension QueryText {
    /// The text of a query, without its collection. Parsed and applied to the same collection, it is the same query.
    package static func text(of query: Query) -> String {
        var parts: [String] = []
        if let filter = query.filter { parts.append("where \(text(of: filter, isOutermost: true))") }
        if !query.orders.isEmpty {
            let orders = query.orders.map { "\(name($0.field))\($0.direction == .descending ? " desc" : "")" }
            parts.append("order by \(orders.joined(separator: ", "))")
        }
        if let start = query.start { parts.append("start \(start.isInclusive ? "at" : "after") \(list(start.values))") }
        if let end = query.end { parts.append("end \(end.isInclusive ? "at" : "before") \(list(end.values))") }
        switch query.limit {
        case .first(let count)?: parts.append("limit \(count)")
        case .last(let count)?: parts.append("limit last \(count)")
        case nil: break
        }
        if query.offset > 0 { parts.append("offset \(query.offset)") }
        if let fields = query.projection { parts.append("select \(fields.map(name).joined(separator: ", "))") }
        return parts.joined(separator: " ")
    }

    private static func list(_ values: [DocumentValue]) -> String {
        values.map(ValueText.text).joined(separator: ", ")
    }

    /// A number or a keyword would be read as that.
    private static func name(_ field: FieldPath) -> String {
        let written = field.description
        return field.components == ["not"] ? "`not`" : written
    }

    private static func text(of filter: Filter, isOutermost: Bool = false) -> String {
        switch filter {
        case .test(let field, let test):
            let words =
                switch test {
                case .isNull: "is null"
                case .isNotNull: "is not null"
                case .isNaN: "is nan"
                case .isNotNaN: "is not nan"
                }
            return "\(name(field)) \(words)"
        case .comparison(let field, let operation, let value):
            return "\(name(field)) \(symbol(operation)) \(ValueText.text(of: value))"
        case .all(let filters):
            let text = filters.map { Self.text(of: $0) }.joined(separator: " and ")
            return isOutermost ? text : "(\(text))"
        case .any(let filters):
            let text = filters.map { Self.text(of: $0) }.joined(separator: " or ")
            return isOutermost ? text : "(\(text))"
        }
    }

    private static func symbol(_ operation: Filter.Operator) -> String {
        switch operation {
        case .equal: "="
        case .notIn: "not in"
        case .arrayContains: "includes"
        case .arrayContainsAny: "includes any"
        case .notEqual, .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual, .in: operation.rawValue
        }
    }
}
