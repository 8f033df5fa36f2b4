/// The live result of one query: an ordered set of documents, its limit, and the difference between two states.
///
/// A pure value. Whoever holds it feeds it documents as they change and asks for the difference; the mock, the offline
/// engine and the local servers all do. Cost grows with the change, not with the result.
package struct QueryView: Sendable {
    package let evaluator: QueryEvaluator
    /// Every document that matches, beyond the limit too.
    private var matching = PersistentSequence<DocumentSnapshot>()
    /// The order is by value, so the place of a document can only be found with the snapshot that is filed there.
    private var filed: [StoragePath: DocumentSnapshot] = [:]

    package init(_ query: Query) {
        evaluator = QueryEvaluator(query)
    }

    package var query: Query { evaluator.query }

    /// The number of matching documents, limits aside.
    package var matchingCount: Int { matching.count }

    /// The documents in the window that offset and limit leave, in order.
    package var documents: DocumentList {
        let window = self.window
        guard window != 0..<matching.count else { return DocumentList(matching) }
        return DocumentList(PersistentSequence(inOrder: matching[window]))
    }

    package func document(at path: StoragePath) -> DocumentSnapshot? { filed[path] }

    private var window: Range<Int> {
        let first = min(query.offset, matching.count)
        switch query.limit {
        case nil: return first..<matching.count
        case .first(let count): return first..<min(first + count, matching.count)
        case .last(let count): return max(0, matching.count - count)..<matching.count
        }
    }

    /// Replaces everything at once; linear in the documents that match.
    package mutating func reset(to documents: some Sequence<DocumentSnapshot>) {
        let matching = documents.filter { evaluator.matches($0) }.sorted { evaluator.ordering($0, $1) == .before }
        self.matching = PersistentSequence(inOrder: matching)
        filed = Dictionary(matching.map { ($0.path, $0) }, uniquingKeysWith: { _, last in last })
    }

    /// Takes in the present state of one document, whether it matches, does no longer, or is gone.
    ///
    /// - Returns: Whether the set of matching documents, or one of them, changed.
    @discardableResult
    package mutating func update(_ document: DocumentSnapshot) -> Bool {
        let old = filed[document.path]
        let new = evaluator.matches(document) ? document : nil
        guard old != new else { return false }
        if let old, let new, evaluator.ordering(old, new) == .same {
            matching.replace(at: position(of: old), with: new)
        } else {
            if let old { matching.remove(at: position(of: old)) }
            if let new { matching.insert(new, at: position(of: new)) }
        }
        filed[document.path] = new
        return true
    }

    private func position(of document: DocumentSnapshot) -> Int {
        matching.position { evaluator.ordering($0, document) }.index
    }
}

/// The difference between two lists, as changes that can be applied one after the other.
package enum ListDifference {
    /// Compares two results of one query. Linear in the size of both: for use where the touched documents are not known.
    package static func changes(
        from old: DocumentList, to new: DocumentList, by evaluator: QueryEvaluator
    ) -> [DocumentChange] {
        let oldByPath = Dictionary(old.map { ($0.path, $0) }, uniquingKeysWith: { _, last in last })
        let newByPath = Dictionary(new.map { ($0.path, $0) }, uniquingKeysWith: { _, last in last })
        let touched =
            old.filter { newByPath[$0.path] == nil }.map(\.path)
            + new.filter { oldByPath[$0.path] != $0 }.map(\.path)
        return changes(
            touched: touched.map { ($0, oldByPath[$0], newByPath[$0]) }, from: old.elements, by: evaluator)
    }

    /// Changes for documents of which the state before and after is known; logarithmic in the size of the result for each.
    ///
    /// Removals come first, then the rest in the order of the new result, as listeners expect.
    package static func changes(
        touched: [(path: StoragePath, old: DocumentSnapshot?, new: DocumentSnapshot?)],
        from old: PersistentSequence<DocumentSnapshot>, by evaluator: QueryEvaluator
    ) -> [DocumentChange] {
        var list = old
        var changes: [DocumentChange] = []
        func place(_ document: DocumentSnapshot) -> Int {
            list.position { evaluator.ordering($0, document) }.index
        }
        for (_, old, new) in touched.filter({ $0.old != nil && $0.new == nil })
            .sorted(by: { evaluator.ordering($0.old!, $1.old!) == .before })
        {
            guard new == nil, let old else { continue }
            let index = place(old)
            list.remove(at: index)
            changes.append(DocumentChange(kind: .removed, document: old, oldIndex: index, newIndex: nil))
        }
        for (_, old, new) in touched.filter({ $0.new != nil })
            .sorted(by: { evaluator.ordering($0.new!, $1.new!) == .before })
        {
            guard let new else { continue }
            var oldIndex: Int?
            if let old {
                guard old != new else { continue }
                let index = place(old)
                list.remove(at: index)
                oldIndex = index
            }
            let newIndex = place(new)
            list.insert(new, at: newIndex)
            let kind: DocumentChange.Kind =
                switch old {
                case nil: .added
                case let old? where old.data == new.data && old.updateTime == new.updateTime: .metadata
                default: .modified
                }
            changes.append(DocumentChange(kind: kind, document: new, oldIndex: oldIndex, newIndex: newIndex))
        }
        return changes
    }
}
