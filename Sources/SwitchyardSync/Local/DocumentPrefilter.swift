package import Switchyard

/// Decides by some fields of a stored document whether to read all of it: most documents that a query checks are not results,
/// and a few bytes show that.
package struct DocumentPrefilter {
    /// The top-level fields to check.
    package let fields: [String]
    /// What can be said by numbers, as known when it is called. A store may skip this check, and the next.
    package let bounds: () -> [FieldBounds]
    /// Whether no document with these ``fields`` can be wanted, whatever its path.
    package let rejects: (DocumentData) -> Bool
    /// Called once for each remaining document, with at least its ``fields``.
    package let admits: (CachedDocument) -> Bool

    package init(
        fields: [String], bounds: @escaping () -> [FieldBounds] = { [] },
        rejects: @escaping (DocumentData) -> Bool = { _ in false },
        admits: @escaping (CachedDocument) -> Bool
    ) {
        self.fields = fields
        self.bounds = bounds
        self.rejects = rejects
        self.admits = admits
    }
}

extension QueryEvaluator {
    /// The top-level fields that determine whether a document matches, and its position.
    var decidingFields: [String] {
        var fields = orders.map(\.field)
        for condition in query.filter?.conditions ?? [] {
            switch condition {
            case .comparison(let field, _, _), .test(let field, _): fields.append(field)
            case .all, .any: break
            }
        }
        var names: [String] = []
        for field in fields where !field.isDocumentID {
            let name = field.components[0]
            if !names.contains(where: { $0.utf8Equals(name) }) { names.append(name) }
        }
        return names
    }
}

/// Collects, from documents arriving one by one, those nearest to the limit's end of the order.
final class NearestDocuments {
    private let evaluator: QueryEvaluator
    private let count: Int
    private let keepsEnd: Bool
    private var nearest: [DocumentSnapshot] = []
    /// The last candidate so far. Most documents cost one comparison with it.
    private var edge: DocumentSnapshot?
    /// The query's, narrowed to what can be nearer than the ``edge``.
    private(set) var bounds: [FieldBounds]

    /// `nil` for a query without limit.
    init?(_ evaluator: QueryEvaluator) {
        guard let limit = evaluator.query.limit else { return nil }
        self.evaluator = evaluator
        count = limit.count + evaluator.query.offset
        bounds = evaluator.fieldBounds
        keepsEnd = if case .last = limit { true } else { false }
    }

    func take(_ document: DocumentSnapshot) {
        if let edge, !isNearer(document, edge) { return }
        nearest.append(document)
        if nearest.count >= max(2 * count, 64) { trim() }
    }

    /// Whether no document with this data can be one of the nearest.
    func excludes(_ data: DocumentData) -> Bool {
        guard let edge = edge?.data else { return false }
        return evaluator.firstOrdering(data, edge) == (keepsEnd ? .before : .after)
    }

    /// Their paths, in no particular order.
    var paths: [StoragePath] {
        trim()
        return nearest.map(\.path)
    }

    private func isNearer(_ left: DocumentSnapshot, _ right: DocumentSnapshot) -> Bool {
        evaluator.ordering(left, right) == (keepsEnd ? .after : .before)
    }

    private func trim() {
        guard nearest.count > count else { return }
        nearest.sort(by: isNearer)
        nearest.removeLast(nearest.count - count)
        edge = nearest.last
        if let data = edge?.data { evaluator.narrow(&bounds, to: data, isReversed: keepsEnd) }
    }
}
