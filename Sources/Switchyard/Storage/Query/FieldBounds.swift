/// A top-level field that every result of a query has, and the ranks (see `sortRank`) between which its value lies: a document
/// can be ruled out by a number, without reading the value.
package struct FieldBounds: Sendable, Equatable {
    package let name: String
    /// What lies between them may still not match.
    package private(set) var ranks: ClosedRange<UInt64>

    fileprivate init(_ name: String, _ ranks: ClosedRange<UInt64>) {
        self.name = name
        self.ranks = ranks
    }

    fileprivate mutating func narrow(to other: ClosedRange<UInt64>) {
        // Conditions that exclude each other are left to the full check.
        if ranks.overlaps(other) { ranks = ranks.clamped(to: other) }
    }
}

extension QueryEvaluator {
    /// What the query's order and conditions say about single top-level fields.
    package var fieldBounds: [FieldBounds] {
        var bounds: [FieldBounds] = []
        func add(_ field: FieldPath, _ ranks: ClosedRange<UInt64>) {
            guard !field.isDocumentID, field.components.count == 1 else { return }
            let name = field.components[0]
            if let index = bounds.firstIndex(where: { $0.name.utf8Equals(name) }) {
                bounds[index].narrow(to: ranks)
            } else {
                bounds.append(FieldBounds(name, ranks))
            }
        }
        func add(_ filter: Filter) {
            switch filter {
            case .all(let filters): for filter in filters { add(filter) }
            case .any: break
            case .test(let field, _): add(field, .any)
            case .comparison(let field, let operation, let operand): add(field, operation.ranks(for: operand))
            }
        }
        for order in orders { add(order.field, .any) }
        if let filter = query.filter { add(filter) }
        return bounds
    }

    /// Narrows bounds to documents that do not come after `edge` in the query's order or, if `isReversed`, not before it.
    package func narrow(_ bounds: inout [FieldBounds], to edge: DocumentData, isReversed: Bool) {
        guard let order = orders.first, let rank = edge[order.field]?.sortRank,
            let index = bounds.firstIndex(where: { order.field.components == [$0.name] })
        else { return }
        let isUpper = (order.direction == .ascending) != isReversed
        bounds[index].narrow(to: isUpper ? 0...rank : rank...UInt64.max)
    }
}

extension ClosedRange<UInt64> {
    fileprivate static var any: Self { 0...UInt64.max }
}

extension Filter.Operator {
    /// The ranks of the values that may match.
    fileprivate func ranks(for operand: DocumentValue) -> ClosedRange<UInt64> {
        let rank = operand.sortRank
        let (first, last) = ((rank >> 60) << 60, rank | (UInt64.max >> 4))
        switch self {
        case .equal: return rank...rank
        case .lessThan, .lessThanOrEqual: return first...rank
        case .greaterThan, .greaterThanOrEqual: return rank...last
        case .in:
            guard case .array(let wanted) = operand, let low = wanted.map(\.sortRank).min(),
                let high = wanted.map(\.sortRank).max()
            else { return .any }
            return low...high
        case .arrayContains, .arrayContainsAny:
            let rank = DocumentValue.array([]).sortRank
            return rank...rank
        case .notEqual, .notIn: return .any
        }
    }
}
