/// Runs a query over documents that are all in memory.
///
/// Takes arrays, not sequences: generic code called from other modules would be several times slower per document.
extension QueryEvaluator {
    /// The query's whole result: matches, in order, within offset and limit. Fields are not projected.
    package func results(among documents: [DocumentSnapshot]) -> [DocumentSnapshot] {
        if isResult(documents) { return documents }
        guard let limit = query.limit else { return Array(sorted(documents).dropFirst(query.offset)) }
        let count = query.offset + limit.count
        // Of so many, sorting all of them by rank costs less than choosing.
        if case .first = limit, count > documents.count / 8, count > 1000 {
            return Array(sorted(documents).prefix(count).dropFirst(query.offset))
        }
        return Array(nearest(count, of: documents).documents.dropFirst(query.offset))
    }

    package func results(among documents: some Sequence<DocumentSnapshot>) -> [DocumentSnapshot] {
        results(among: Array(documents))
    }

    /// Whether these are the result already, as a server's answer usually is: then nothing needs to be copied.
    private func isResult(_ documents: [DocumentSnapshot]) -> Bool {
        guard query.offset == 0, documents.count <= query.limit?.count ?? .max else { return false }
        return documents.withUnsafeBufferPointer { documents in
            for index in documents.indices {
                guard index == 0 || ordering(documents[index - 1], documents[index]) == .before,
                    matches(documents[index])
                else { return false }
            }
            return true
        }
    }

    /// Matches, in order, ignoring limits.
    package func sorted(_ documents: [DocumentSnapshot]) -> [DocumentSnapshot] {
        var found: [DocumentSnapshot] = []
        // By index, because iterating copies each document and updates its reference counts.
        documents.withUnsafeBufferPointer { documents in
            for index in documents.indices where matches(documents[index]) { found.append(documents[index]) }
        }
        return inOrder(found)
    }

    /// Matches, in order. Sorts indexes instead of documents, because moving a document updates its reference counts.
    package func inOrder(_ documents: [DocumentSnapshot]) -> [DocumentSnapshot] {
        documents.withUnsafeBufferPointer { documents in
            let places = documents.map(sortRank).placesInOrder { ordering(documents[$0], documents[$1]) == .before }
            return places.map { documents[$0] }
        }
    }

    /// See ``DocumentValue/sortRank``: of the value that decides first.
    private func sortRank(of document: DocumentSnapshot) -> UInt64 {
        guard let order = orders.first else { return 0 }
        let rank: UInt64
        if !order.field.isDocumentID {
            rank = document.data?[order.field]?.sortRank ?? 0
        } else if case .collection(let collection) = query.source {
            rank = document.path.sortRank(in: collection)
        } else {
            rank = 0
        }
        return order.direction == .ascending ? rank : ~rank
    }

    /// The `count` matches nearest to the limit's end of the order, in order, and whether there are more.
    ///
    /// Most documents cost one comparison with the last candidate; sorting them all would cost many.
    package func nearest(
        _ count: Int, of documents: [DocumentSnapshot]
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
        documents.withUnsafeBufferPointer { documents in
            for index in documents.indices where matches(documents[index]) {
                if let edge, !isNearer(documents[index], edge) {
                    areThereMore = true
                    continue
                }
                nearest.append(documents[index])
                if nearest.count >= capacity { trim() }
            }
        }
        trim()
        if keepsEnd { nearest.reverse() }
        return (nearest, areThereMore)
    }
}
