package import Switchyard
package import SwitchyardBytes

/// A query in Firestore's format: the parent of its collections, and a `StructuredQuery`.
package struct FirestoreQuery: Sendable, Hashable {
    /// The purpose of a query, which determines the parts to send.
    package enum Purpose: Sendable {
        /// A one-time read: everything, including projection and offset.
        case read
        /// A target of the stream of changes: complete documents, and enough of them to apply the offset here.
        case target
        /// An aggregation: only the requested orders, so that fewer indexes are needed.
        case aggregation
    }

    /// The resource name of a document or of the root.
    package let parent: String
    package let structuredQuery: JSON
    /// Whether the server returns the results in reverse: a limit to the last results becomes one to the first of the reversed
    /// query.
    package let isReversed: Bool

    package init(_ query: Query, in database: FirestoreDatabase, for purpose: Purpose = .read) {
        var query = query
        isReversed = query.limit?.isLast ?? false
        var orders = query.effectiveOrders
        if purpose == .aggregation {
            // A cursor must not have more values than there are orders in the request.
            let needed = max(query.orders.count, query.start?.values.count ?? 0, query.end?.values.count ?? 0)
            // A limit or offset needs the complete order.
            if query.limit == nil && query.offset == 0 { orders = Array(orders.prefix(needed)) }
        }
        if isReversed {
            orders = orders.map { Query.Order($0.field, $0.direction.reversed) }
            (query.start, query.end) = (query.end, query.start)
        }
        var object = JSONObject()
        if purpose == .read, let fields = query.projection {
            object["select"] = .object("fields", .array(fields.map(\.firestoreReference)))
        }
        switch query.source {
        case .collection(let path):
            parent = database.resourceName(ofParent: path.parent)
            object["from"] = [.object("collectionId", .string(path.id))]
        case .group(let id, _):
            // Servers support groups only at the root; an ancestor becomes a range of names.
            parent = database.root
            object["from"] = [["collectionId": .string(id), "allDescendants": true]]
        }
        object["where"] = FirestoreQuery.filter(query, in: database)
        if !orders.isEmpty {
            object["orderBy"] = .array(
                orders.map { order in
                    [
                        "field": order.field.firestoreReference,
                        "direction": order.direction == .ascending ? "ASCENDING" : "DESCENDING",
                    ]
                })
        }
        object["startAt"] = query.start?.firestore(isBefore: query.start!.isInclusive, in: database)
        object["endAt"] = query.end?.firestore(isBefore: !query.end!.isInclusive, in: database)
        if purpose == .target {
            if let limit = query.limit { object["limit"] = .integer(Int64(limit.count) + Int64(query.offset)) }
        } else {
            if query.offset > 0 { object["offset"] = .integer(Int64(query.offset)) }
            if let limit = query.limit { object["limit"] = .integer(Int64(limit.count)) }
        }
        structuredQuery = .object(object)
    }

    private static func filter(_ query: Query, in database: FirestoreDatabase) -> JSON? {
        guard case .group(_, let ancestor?) = query.source else { return query.filter?.firestore(in: database) }
        // All documents below an ancestor directly follow it.
        var filters: [Filter] = [
            .field(.documentID, .greaterThan, DocumentReference(ancestor)),
            .field(.documentID, .lessThan, DocumentReference(ancestor.successor)),
        ]
        switch query.filter {
        case .all(let conditions): filters += conditions
        case let condition?: filters.append(condition)
        case nil: break
        }
        return Filter.all(filters).firestore(in: database)
    }

    /// The target's `query` message. The body of a one-time query contains only ``structuredQuery``.
    package var target: JSON { ["parent": .string(parent), "structuredQuery": structuredQuery] }

    /// The body of a request for `aggregations`, whose results are named ``alias(_:)``.
    package func aggregationBody(_ aggregations: [Aggregation]) -> JSON {
        let list: [JSON] = aggregations.enumerated().map { index, aggregation in
            let alias = JSON.string(FirestoreQuery.alias(index))
            return switch aggregation {
            case .count: ["alias": alias, "count": [:]]
            case .sum(let field): ["alias": alias, "sum": .object("field", field.firestoreReference)]
            case .average(let field): ["alias": alias, "avg": .object("field", field.firestoreReference)]
            }
        }
        return .object(
            "structuredAggregationQuery", ["structuredQuery": structuredQuery, "aggregations": .array(list)])
    }

    package static func alias(_ index: Int) -> String { "aggregate_\(index)" }
}

extension StoragePath {
    /// The first name after all names below this one.
    fileprivate var successor: StoragePath {
        if let number = PathSegment.numericID(id), number < .max {
            return StoragePath(unchecked: rawValue.dropLast(id.count) + "__id\(number + 1)__")
        }
        return StoragePath(unchecked: rawValue + "\0")
    }
}

extension Query.Limit {
    fileprivate var isLast: Bool { if case .last = self { true } else { false } }
}

extension FieldPath {
    /// A `FieldReference`.
    fileprivate var firestoreReference: JSON { .object("fieldPath", .string(description)) }
}

extension Query.Cursor {
    fileprivate func firestore(isBefore: Bool, in database: FirestoreDatabase) -> JSON {
        var object: JSONObject = ["values": .array(values.map { $0.firestore(in: database) })]
        if isBefore { object["before"] = true }
        return .object(object)
    }
}

extension Filter {
    package func firestore(in database: FirestoreDatabase) -> JSON {
        switch self {
        case .comparison(let field, let operation, let value):
            .object(
                "fieldFilter",
                [
                    "field": field.firestoreReference, "op": .string(operation.firestoreName),
                    "value": value.firestore(in: database),
                ])
        case .test(let field, let test):
            .object("unaryFilter", ["op": .string(test.firestoreName), "field": field.firestoreReference])
        case .all(let filters): Filter.composite("AND", filters, in: database)
        case .any(let filters): Filter.composite("OR", filters, in: database)
        }
    }

    private static func composite(_ operation: JSON, _ filters: [Filter], in database: FirestoreDatabase) -> JSON {
        .object(
            "compositeFilter", ["op": operation, "filters": .array(filters.map { $0.firestore(in: database) })])
    }
}

extension Filter.Operator {
    package var firestoreName: String {
        switch self {
        case .equal: "EQUAL"
        case .notEqual: "NOT_EQUAL"
        case .lessThan: "LESS_THAN"
        case .lessThanOrEqual: "LESS_THAN_OR_EQUAL"
        case .greaterThan: "GREATER_THAN"
        case .greaterThanOrEqual: "GREATER_THAN_OR_EQUAL"
        case .arrayContains: "ARRAY_CONTAINS"
        case .arrayContainsAny: "ARRAY_CONTAINS_ANY"
        case .in: "IN"
        case .notIn: "NOT_IN"
        }
    }
}

extension Filter.Test {
    package var firestoreName: String {
        switch self {
        case .isNull: "IS_NULL"
        case .isNotNull: "IS_NOT_NULL"
        case .isNaN: "IS_NAN"
        case .isNotNaN: "IS_NOT_NAN"
        }
    }
}
