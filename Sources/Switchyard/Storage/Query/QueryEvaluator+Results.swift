/// A query over documents that are all at hand.
extension QueryEvaluator {
    /// The query's whole result: what matches, in order, within offset and limit. Fields are not projected.
    package func results(among documents: some Sequence<DocumentSnapshot>) -> [DocumentSnapshot] {
        guard let limit = query.limit else { return Array(sorted(documents).dropFirst(query.offset)) }
        return Array(nearest(query.offset + limit.count, of: documents).documents.dropFirst(query.offset))
    }

    /// What matches, in order, limits aside.
    package func sorted(_ documents: some Sequence<DocumentSnapshot>) -> [DocumentSnapshot] {
        documents.filter { matches($0) }.sorted { ordering($0, $1) == .before }
    }

    /// The `count` matches nearest to the limit's end of the order, in order, and whether there are more.
    ///
    /// Most documents cost one comparison, with the last that still counts: sorting all of them would cost many.
    package func nearest(
        _ count: Int, of documents: some Sequence<DocumentSnapshot>
    ) -> (documents: [DocumentSnapshot], areThereMore: Bool) {
        let keepsEnd = if case .last = query.limit { true } else { false }
        func isNearer(_ left: DocumentSnapshot, _ right: DocumentSnapshot) -> Bool {
            ordering(left, right) == (keepsEnd ? .after : .before)
        }
        var nearest: [DocumentSnapshot] = []
        var edge: DocumentSnapshot?
        var areThereMore = false
        func trim() {
            nearest.sort(by: isNearer)
            guard nearest.count > count else { return }
            nearest.removeLast(nearest.count - count)
            areThereMore = true
            edge = nearest.last
        }
        let capacity = max(2 * count, 64)
        for document in documents where matches(document) {
            if let edge, !isNearer(document, edge) {
                areThereMore = true
                continue
            }
            nearest.append(document)
            if nearest.count >= capacity { trim() }
        }
        trim()
        if keepsEnd { nearest.reverse() }
        return (nearest, areThereMore)
    }
}
