import SwitchyardBytes

/// A condition in the data service's syntax.
indirect enum RowCondition: Sendable, Hashable {
    enum Operand: Sendable, Hashable {
        case value(String)
        case list([String])
        /// A keyword, such as `null`.
        case word(String)
    }

    /// A column, an operator and an operand.
    case test(String, String, Operand)
    case all([RowCondition])
    case any([RowCondition])

    static func isNull(_ column: String) -> RowCondition { .test(column, "is", .word("null")) }
    static func isNotNull(_ column: String) -> RowCondition { .test(column, "not.is", .word("null")) }

    /// The parameters of a request for rows that meet all of the conditions.
    static func parameters(_ conditions: [RowCondition]) -> [(name: String, value: String)] {
        conditions.flatMap { condition -> [(name: String, value: String)] in
            switch condition {
            case .test(let column, let operation, let operand):
                [(column, "\(operation).\(operand.text(isNested: false))")]
            case .all(let parts): parameters(parts)
            case .any(let parts): [("or", "(\(parts.map(\.nested).joined(separator: ",")))")]
            }
        }
    }

    /// The approximate length of these conditions in a URL.
    static func length(_ conditions: [RowCondition]) -> Int {
        FormCoding.encode(parameters(conditions), space: .percent).utf8.count
    }

    /// The syntax inside another condition.
    private var nested: String {
        switch self {
        case .test(let column, let operation, let operand):
            "\(column).\(operation).\(operand.text(isNested: true))"
        case .all(let parts): "and(\(parts.map(\.nested).joined(separator: ",")))"
        case .any(let parts): "or(\(parts.map(\.nested).joined(separator: ",")))"
        }
    }

    /// The rows after or before a position in an order of columns.
    ///
    /// - Parameters:
    ///   - position: The values of the first columns.
    ///   - isBehind: Whether to select the rows after it; otherwise those before it.
    ///   - isInclusive: Whether to include rows with the same values.
    static func beyond(
        _ position: [(column: String, value: String, isAscending: Bool)], isBehind: Bool, isInclusive: Bool
    ) -> RowCondition {
        var options: [RowCondition] = []
        var same: [RowCondition] = []
        for (index, part) in position.enumerated() {
            let isUp = part.isAscending == isBehind
            let includesSame = isInclusive && index == position.count - 1
            let operation = (isUp ? "gt" : "lt") + (includesSame ? "e" : "")
            let step = RowCondition.test(part.column, operation, .value(part.value))
            options.append(same.isEmpty ? step : .all(same + [step]))
            same.append(.test(part.column, "eq", .value(part.value)))
        }
        return options.count == 1 ? options[0] : .any(options)
    }
}

extension RowCondition.Operand {
    fileprivate func text(isNested: Bool) -> String {
        switch self {
        case .value(let value): isNested ? TableValue.quoted(value) : value
        case .list(let values): "(\(values.map(TableValue.listed).joined(separator: ",")))"
        case .word(let word): word
        }
    }
}
