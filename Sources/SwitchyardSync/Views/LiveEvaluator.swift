import Switchyard

/// Decides which documents a view shows, and in which order.
struct LiveEvaluator {
    let query: LiveQuery
    /// For a single document the order does not matter, so this uses the order of its collection.
    let evaluator: QueryEvaluator

    init(_ query: LiveQuery) {
        self.query = query
        switch query {
        case .document(let path): evaluator = QueryEvaluator(Query(in: path.collection))
        case .query(let query): evaluator = QueryEvaluator(query)
        }
    }

    var limit: Query.Limit? { evaluator.query.limit }

    func matches(_ document: DocumentSnapshot) -> Bool {
        if case .document(let path) = query { return document.exists && document.path == path }
        return evaluator.matches(document)
    }

    func inOrder(_ documents: [DocumentSnapshot]) -> [DocumentSnapshot] { evaluator.inOrder(documents) }

    func ordering(_ left: DocumentSnapshot, _ right: DocumentSnapshot) -> Ordering { evaluator.ordering(left, right) }
}
