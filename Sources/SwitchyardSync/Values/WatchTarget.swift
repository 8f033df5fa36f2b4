public import Switchyard

/// A target for a backend to watch: one document, or the results of a query.
///
/// The query is in canonical form: the whole order written out, a limit only from the front, no offset and no projection. Two
/// queries with the same target share one watch; an engine identifies a target by equality.
public enum WatchTarget: Sendable, Hashable {
    case document(StoragePath)
    case query(Query)
}

/// A listener's query; several of these can share one ``WatchTarget``.
package enum LiveQuery: Sendable, Hashable {
    case document(StoragePath)
    case query(Query)

    /// A limit to the last results becomes a limit to the first of the reversed order.
    package var target: WatchTarget {
        switch self {
        case .document(let path): .document(path)
        case .query(let query): .query(query.asTarget)
        }
    }

    package var hasLimit: Bool {
        if case .query(let query) = self { query.limit != nil } else { false }
    }
}

extension Query {
    fileprivate var asTarget: Query {
        var target = self
        target.orders = effectiveOrders
        target.projection = nil
        target.offset = 0
        switch limit {
        case nil: break
        case .first(let count): target.limit = .first(count + offset)
        case .last(let count):
            target.limit = .first(count)
            target.orders = target.orders.map { Order($0.field, $0.direction.reversed) }
            (target.start, target.end) = (end, start)
        }
        return target
    }
}

extension Timestamp {
    /// The version of something without one: older than any that a server sends.
    package static let never = Timestamp(microseconds: 0)
}
