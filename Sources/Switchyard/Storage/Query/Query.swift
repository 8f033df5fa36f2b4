/// Selects documents from a collection or a collection group: conditions, order, limits, cursors.
///
/// ```swift
/// let adults = Query(in: "users")
///     .where("age", .greaterThanOrEqual, 18)
///     .ordered(by: "age", .descending)
///     .limited(to: 20)
/// ```
///
/// A query is validated while it is built, so backends never see a malformed one. It keeps the first ``mistake``, and running
/// it fails with an error that says what to change. Without an order, results are sorted by document name.
public struct Query: Sendable, Hashable {
    public enum Source: Sendable {
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

    /// A position in the order: values for its first fields, and whether documents equal to them are included.
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
    /// The explicit orders; ``effectiveOrders`` adds the implied ones.
    public package(set) var orders: [Order] = []
    public package(set) var limit: Limit?
    public package(set) var offset = 0
    public package(set) var start: Cursor?
    public package(set) var end: Cursor?
    /// The fields to read; `nil` for all.
    public package(set) var projection: [FieldPath]?

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

    /// The first mistake made in building the query, with what to change; `nil` if there is none.
    public var mistake: StorageError? { problem.map { .invalid($0) } }

    /// Throws if the query has a ``mistake``. A provider calls this first in every operation: a query with a mistake has only
    /// some of its conditions.
    ///
    /// - Throws: ``mistake``.
    @discardableResult
    public func checked() throws(StorageError) -> Query {
        if let mistake { throw mistake }
        return self
    }

    /// The query after `step`, or with the reason why the step is not possible. After a mistake, further steps are ignored.
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

    /// The name of the collections that are searched.
    package var collectionID: String {
        switch source {
        case .collection(let path): path.id
        case .group(let id, _): id
        }
    }

    /// The whole order: the explicit one, then fields with inequalities by name, then the document's name.
    ///
    /// Added orders take the direction of the last explicit one. No two documents are equal in this order.
    public var effectiveOrders: [Order] {
        var result = orders
        guard !orders.contains(where: { $0.field.isDocumentID }) else { return result }
        let direction = orders.last?.direction ?? .ascending
        let implied = (filter?.inequalityFields ?? []).sorted { $0.ordering(to: $1) == .before }
        // A condition on the name adds nothing: the name comes last anyway, whatever its alphabetical position.
        for field in implied where !field.isDocumentID && !result.contains(where: { $0.field == field }) {
            result.append(Order(field, direction))
        }
        return result + [Order(.documentID, direction)]
    }

    /// Whether the result is exactly all documents of the collection.
    package var isWholeCollection: Bool {
        filter == nil && orders.allSatisfy { $0.field.isDocumentID } && limit == nil && offset == 0 && start == nil
            && end == nil
    }
}

extension Query.Source: Hashable {
    /// Names compare by their bytes, as paths do.
    public static func == (left: Query.Source, right: Query.Source) -> Bool {
        switch (left, right) {
        case (.collection(let left), .collection(let right)): left == right
        case (.group(let left, let ancestor), .group(let right, let otherAncestor)):
            left.utf8Equals(right) && ancestor == otherAncestor
        default: false
        }
    }

    public func hash(into hasher: inout Hasher) {
        switch self {
        case .collection(let path): hasher.combine(path)
        case .group(let id, let ancestor):
            id.hashUTF8(into: &hasher)
            hasher.combine(ancestor)
        }
    }
}
