/// Decides which documents match a query, and in which order. The mock, the offline engine and the local servers all use it.
/// ``results(among:)`` runs it over all documents at once; a ``QueryView`` follows changes.
package struct QueryEvaluator: Sendable {
    package let query: Query
    package let orders: [Query.Order]
    private let filter: FilterNode?
    private let start: Query.Cursor?
    private let end: Query.Cursor?

    package init(_ query: Query) {
        self.query = query
        orders = query.effectiveOrders
        filter = query.filter.map(FilterNode.init)
        start = query.start
        end = query.end
    }

    /// Whether the document is a result, ignoring limits.
    package func matches(_ path: StoragePath, _ data: DocumentData) -> Bool {
        guard isInSource(path) else { return false }
        for order in orders where !order.field.isDocumentID && !data.hasValue(at: order.field) { return false }
        if let filter, !filter.matches(path, data) { return false }
        if let start {
            let position = ordering(of: path, data, to: start)
            guard position == .after || (position == .same && start.isInclusive) else { return false }
        }
        if let end {
            let position = ordering(of: path, data, to: end)
            guard position == .before || (position == .same && end.isInclusive) else { return false }
        }
        return true
    }

    package func matches(_ document: DocumentSnapshot) -> Bool {
        guard let data = document.data else { return false }
        return matches(document.path, data)
    }

    /// Whether no document with this data can be a result, whatever its path. `false` leaves it open.
    package func rejects(_ data: DocumentData) -> Bool {
        for order in orders where !order.field.isDocumentID && !data.hasValue(at: order.field) { return true }
        guard let filter, !filter.readsPath else { return false }
        return !filter.matches(StoragePath(unchecked: ""), data)
    }

    /// The order by the query's first field alone; `.same` if that does not decide.
    package func firstOrdering(_ left: DocumentData, _ right: DocumentData) -> Ordering {
        guard let order = orders.first, !order.field.isDocumentID, let left = left[order.field],
            let right = right[order.field]
        else { return .same }
        let result = left.ordering(to: right)
        return order.direction == .ascending ? result : result.reversed
    }

    /// Whether the document's path is in the query's source.
    package func isInSource(_ path: StoragePath) -> Bool {
        switch query.source {
        case .collection(let collection):
            return path.isDirectly(in: collection)
        case .group(let id, let ancestor):
            if let ancestor, !path.isBelow(ancestor) { return false }
            return path.isInCollection(called: id)
        }
    }

    /// The query's order, in which no two documents are the same.
    package func ordering(_ left: DocumentSnapshot, _ right: DocumentSnapshot) -> Ordering {
        for order in orders {
            let result: Ordering
            if order.field.isDocumentID {
                result = left.path.ordering(to: right.path)
            } else {
                // Both have the field, or they would not match; a missing field sorts first to keep the order total.
                switch (left.data?[order.field], right.data?[order.field]) {
                case (let left?, let right?): result = left.ordering(to: right)
                case (nil, nil): result = .same
                case (nil, _): result = .before
                case (_, nil): result = .after
                }
            }
            if result != .same { return order.direction == .ascending ? result : result.reversed }
        }
        return .same
    }

    private func ordering(of path: StoragePath, _ data: DocumentData, to cursor: Query.Cursor) -> Ordering {
        for (value, order) in zip(cursor.values, orders) {
            let result: Ordering
            if order.field.isDocumentID {
                guard case .reference(let reference) = value else { return .same }
                result = path.ordering(to: reference.path)
            } else {
                guard let own = data[order.field] else { return .before }
                result = own.ordering(to: value)
            }
            if result != .same { return order.direction == .ascending ? result : result.reversed }
        }
        return .same
    }
}
