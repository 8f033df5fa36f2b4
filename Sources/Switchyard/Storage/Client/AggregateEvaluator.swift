/// Computes aggregates locally, for backends whose server does not.
package enum AggregateEvaluator {
    package static func values(
        of aggregations: [Aggregation], over documents: some Collection<DocumentSnapshot>
    ) -> [DocumentValue] {
        aggregations.map { aggregation in
            switch aggregation {
            case .count: .integer(Int64(documents.count))
            case .sum(let field): sum(documents.compactMap { $0[field] })
            case .average(let field): average(documents.compactMap { $0[field] })
            }
        }
    }

    /// Whole as long as every number is whole and the result fits. Ignores values that are not numbers.
    private static func sum(_ values: [DocumentValue]) -> DocumentValue {
        var whole: Int64 = 0
        var fraction = 0.0
        var isWhole = true
        for value in values {
            switch value {
            case .integer(let number):
                let (result, overflow) = whole.addingReportingOverflow(number)
                if isWhole, !overflow {
                    whole = result
                } else {
                    if isWhole { (isWhole, fraction) = (false, Double(whole)) }
                    fraction += Double(number)
                }
            case .double(let number):
                if isWhole { (isWhole, fraction) = (false, Double(whole)) }
                fraction += number
            default: break
            }
        }
        return isWhole ? .integer(whole) : .double(fraction)
    }

    private static func average(_ values: [DocumentValue]) -> DocumentValue {
        let numbers = values.filter { $0.doubleValue != nil }
        guard !numbers.isEmpty, let sum = sum(numbers).doubleValue else { return .null }
        return .double(sum / Double(numbers.count))
    }
}
