package import Switchyard

/// Decides by some fields of a stored document whether the whole of it is wanted: most documents that a query looks at are
/// none of its results, and a few bytes tell.
package struct DocumentScreen {
    /// The top-level fields to look at.
    package let fields: [String]
    /// Whether a document with such data is not wanted, wherever it is. A store may leave this out.
    package let rejects: (DocumentData) -> Bool
    /// Asked once for each document that is left, of whose data only ``fields`` need be there.
    package let admits: (CachedDocument) -> Bool

    package init(
        fields: [String], rejects: @escaping (DocumentData) -> Bool = { _ in false },
        admits: @escaping (CachedDocument) -> Bool
    ) {
        self.fields = fields
        self.rejects = rejects
        self.admits = admits
    }
}

extension QueryEvaluator {
    /// The top-level fields on which it depends whether a document matches, and where it stands.
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

/// Those nearest to a limit's end of the order among documents that come one by one.
final class NearestDocuments {
    private let evaluator: QueryEvaluator
    private let count: Int
    private let keepsEnd: Bool
    private var nearest: [DocumentSnapshot] = []
    /// The last that counts so far. Most documents cost one comparison, with this one.
    private var edge: DocumentSnapshot?

    /// `nil` for a query without limit.
    init?(_ evaluator: QueryEvaluator) {
        guard let limit = evaluator.query.limit else { return nil }
        self.evaluator = evaluator
        count = limit.count + evaluator.query.offset
        keepsEnd = if case .last = limit { true } else { false }
    }

    func take(_ document: DocumentSnapshot) {
        if let edge, !isNearer(document, edge) { return }
        nearest.append(document)
        if nearest.count >= max(2 * count, 64) { trim() }
    }

    /// Whether a document with such data cannot be one of them.
    func excludes(_ data: DocumentData) -> Bool {
        guard let edge = edge?.data else { return false }
        return evaluator.firstOrdering(data, edge) == (keepsEnd ? .before : .after)
    }

    /// Where they are, in no order.
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
    }
}
