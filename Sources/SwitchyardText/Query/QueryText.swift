package import Switchyard

/// A query as people write it:
///
/// ```
/// where age > 17 and (city = "Ulm" or tags includes "new") order by name desc limit 20
/// ```
/// It has every part of a ``Query`` but the collection. What it means is decided by `Query` alone.
package struct QueryText: Sendable {
    struct Placed<Value: Sendable>: Sendable {
        let value: Value
        /// Where it stands in the text.
        let range: Range<Int>
    }

    enum Edge: Sendable { case startAt, startAfter, endAt, endBefore }

    let text: String
    var filter: Placed<Filter>?
    /// The parts of the filter's outermost “and”, to find the one that is wrong.
    var conditions: [Placed<Filter>] = []
    var orders: [Placed<Query.Order>] = []
    var limit: Placed<Query.Limit>?
    var offset: Placed<Int>?
    var start: Placed<(edge: Edge, values: [DocumentValue])>?
    var end: Placed<(edge: Edge, values: [DocumentValue])>?
    var fields: Placed<[FieldPath]>?

    init(text: String) { self.text = text }

    /// - Throws: The first mistake, with its place.
    package init(parsing text: String) throws(TextMistake) {
        var parser = try QueryParser(text)
        self = try parser.query()
    }

    /// The query on a collection, or on whatever else `query` reads, in addition to what it says already.
    ///
    /// - Throws: What no backend accepts, with its place.
    package func applied(to query: Query) throws(TextMistake) -> Query {
        var query = query
        if let filter {
            let whole = query.where(filter.value)
            guard let mistake = whole.mistake else {
                query = whole
                return try withOrder(query)
            }
            for condition in conditions { query = try checked(query.where(condition.value), condition.range) }
            throw TextMistake(mistake.message, at: filter.range, in: text)
        }
        return try withOrder(query)
    }

    private func withOrder(_ query: Query) throws(TextMistake) -> Query {
        var query = query
        for order in orders {
            query = try checked(query.ordered(by: order.value.field, order.value.direction), order.range)
        }
        if let limit {
            let limited =
                switch limit.value {
                case .first(let count): query.limited(to: count)
                case .last(let count): query.limited(toLast: count)
                }
            query = try checked(limited, limit.range)
        }
        if let offset { query = try checked(query.skipping(offset.value), offset.range) }
        for cursor in [start, end].compactMap({ $0 }) {
            let (edge, values) = cursor.value
            let next =
                switch edge {
                case .startAt: query.withStart(values, isInclusive: true)
                case .startAfter: query.withStart(values, isInclusive: false)
                case .endAt: query.withEnd(values, isInclusive: true)
                case .endBefore: query.withEnd(values, isInclusive: false)
                }
            query = try checked(next, cursor.range)
        }
        if let fields { query = try checked(query.selecting(fields.value), fields.range) }
        return query
    }

    private func checked(_ query: Query, _ range: Range<Int>) throws(TextMistake) -> Query {
        guard let mistake = query.mistake else { return query }
        throw TextMistake(mistake.message, at: range, in: text)
    }
}
