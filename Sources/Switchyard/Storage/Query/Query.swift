/// What to read from a collection, or from all collections of one name: conditions, order, limits, cursors.
///
/// ```swift
/// let adults = Query(in: "users")
///     .where("age", .greaterThanOrEqual, 18)
///     .ordered(by: "age", .descending)
///     .limited(to: 20)
/// ```
///
/// A query checks itself while it is built, so no backend ever sees one that it must refuse for its shape. The first
/// ``mistake`` is kept, and whatever is done with the query then fails with it, saying what to change. Without an order, results
/// come by document name.
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

    /// What is wrong, for people.
    private(set) var problem: String?

    /// All documents of `collection`.
    public init(in collection: CollectionPath) { self.init(source: .collection(collection)) }

    /// All documents of all collections whose last segment is `id`, everywhere or below `ancestor`.
    public init(group id: String, under ancestor: StoragePath? = nil) {
        self.init(source: .group(id: id, under: ancestor))
    }

    package init(source: Source) {
        self.source = source
        problem =
            switch source {
            case .collection(let path): path.mistake?.message
            case .group(let id, let ancestor):
                PathSegment.problem(with: id).map { InvalidPath.message(id, isNo: "collection's name", $0) }
                    ?? ancestor?.mistake?.message
            }
    }

    /// The first mistake that was made in building the query, with what to change; `nil` if there is none.
    public var mistake: StorageError? { problem.map { .invalid($0) } }

    /// Throws if the query has a ``mistake``. A provider calls this first in every operation: a query with a mistake has only
    /// part of its conditions.
    ///
    /// - Throws: ``mistake``.
    @discardableResult
    public func checked() throws(StorageError) -> Query {
        if let mistake { throw mistake }
        return self
    }

    /// The query after `step`, or with the reason why that cannot be taken. Behind a mistake nothing is looked at any more.
    func taking(_ step: (inout Query) throws(StorageError) -> Void) -> Query {
        guard problem == nil else { return self }
        var copy = self
        do throws(StorageError) {
            try step(&copy)
        } catch {
            copy = self
            copy.problem = error.message
        }
        return copy
    }

    /// The same query with `problem` as its mistake, unless it has one.
    func failing(_ problem: StorageError) -> Query { taking { _ throws(StorageError) in throw problem } }

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
