/// What to read from a collection, or from all collections of one name: conditions, order, limits, cursors.
///
/// ```swift
/// let adults = try Query(in: "users")
///     .where("age", .greaterThanOrEqual, 18)
///     .ordered(by: "age", .descending)
///     .limited(to: 20)
/// ```
///
/// A query checks itself while it is built and says what to change, so no backend ever sees one that it must refuse for
/// its shape. Without an order, results come by document name.
public struct Query: Sendable, Hashable {
    public enum Source: Sendable, Hashable {
        case collection(CollectionPath)
        /// All collections called `id`: everywhere, or only below a document.
        case group(id: String, under: StoragePath?)
    }

    public enum Direction: Sendable, Hashable {
        case ascending, descending
        package var reversed: Direction { self == .ascending ? .descending : .ascending }
    }

    public struct Order: Sendable, Hashable {
        public let field: FieldPath
        public let direction: Direction

        package init(_ field: FieldPath, _ direction: Direction) {
            self.field = field
            self.direction = direction
        }
    }

    /// At most `count` documents, from the front of the order or from its end.
    public enum Limit: Sendable, Hashable {
        case first(Int)
        case last(Int)

        public var count: Int {
            switch self {
            case .first(let count), .last(let count): count
            }
        }
    }

    /// A position in the order: values for its first fields; the documents equal to them lie in or out.
    public struct Cursor: Sendable, Hashable {
        public let values: [DocumentValue]
        public let isInclusive: Bool

        package init(values: [DocumentValue], isInclusive: Bool) {
            self.values = values
            self.isInclusive = isInclusive
        }
    }

    public let source: Source
    public package(set) var filter: Filter?
    /// The orders that were asked for; ``effectiveOrders`` adds those that follow from the rest.
    public package(set) var orders: [Order] = []
    public package(set) var limit: Limit?
    public package(set) var offset = 0
    public package(set) var start: Cursor?
    public package(set) var end: Cursor?
    /// The fields to read, all when `nil`.
    public package(set) var projection: [FieldPath]?

    /// All documents of `collection`.
    public init(in collection: CollectionPath) {
        source = .collection(collection)
    }

    /// All documents of all collections whose last segment is `id`, everywhere or below `ancestor`.
    ///
    /// - Throws: `.invalidArgument` if `id` is no legal segment.
    public init(group id: String, under ancestor: StoragePath? = nil) throws(StorageError) {
        try PathSegment.check(id, in: "collection name")
        source = .group(id: id, under: ancestor)
    }

    package init(source: Source) { self.source = source }

    /// The name of the collections that are looked at.
    package var collectionID: String {
        switch source {
        case .collection(let path): path.id
        case .group(let id, _): id
        }
    }

    /// The whole order: the explicit one, then fields with inequalities by name, then the document's name.
    ///
    /// What is added takes the direction of the last explicit order. No two documents are equal in it.
    public var effectiveOrders: [Order] {
        var result = orders
        guard !orders.contains(where: { $0.field.isDocumentID }) else { return result }
        let direction = orders.last?.direction ?? .ascending
        let implied = (filter?.inequalityFields ?? []).sorted { $0.ordering(to: $1) == .before }
        // A condition on the name implies nothing more: the name is the last anyway, whatever its place by spelling.
        for field in implied where !field.isDocumentID && !result.contains(where: { $0.field == field }) {
            result.append(Order(field, direction))
        }
        return result + [Order(.documentID, direction)]
    }

    /// Whether every document of the collection, and only they, are the result.
    package var isWholeCollection: Bool {
        filter == nil && orders.allSatisfy { $0.field.isDocumentID } && limit == nil && offset == 0 && start == nil
            && end == nil
    }
}
