/// The difference between two lists, as changes that can be applied one after the other.
package enum ListDifference {
    /// A document with its state before and after; `nil` where it is not in the list.
    package typealias Touched = (path: StoragePath, old: DocumentSnapshot?, new: DocumentSnapshot?)

    /// Compares two results of one query. Linear in the size of both: for use where the touched documents are not known.
    package static func changes(
        from old: DocumentList, to new: DocumentList, by evaluator: QueryEvaluator
    ) -> [DocumentChange] {
        if old.elements.isIdentical(to: new.elements) { return [] }
        var touched: [StoragePath: Touched] = [:]
        touched.reserveCapacity(old.count)
        for document in old { touched[document.path] = (document.path, document, nil) }
        for document in new {
            let before = touched[document.path]?.old
            touched[document.path] = before == document ? nil : (document.path, before, document)
        }
        return changes(touched: Array(touched.values), from: old.elements, by: evaluator)
    }

    /// Changes for documents of which the state before and after is known; logarithmic in the size of the result for each.
    ///
    /// Removals come first, then the rest in the order of the new result, as listeners expect.
    package static func changes(
        touched: [Touched], from old: PersistentSequence<DocumentSnapshot>, by evaluator: QueryEvaluator
    ) -> [DocumentChange] {
        var list = old
        var changes: [DocumentChange] = []
        func place(_ document: DocumentSnapshot) -> Int {
            list.position { evaluator.ordering($0, document) }.index
        }
        var removed: [DocumentSnapshot] = []
        var kept: [(old: DocumentSnapshot?, new: DocumentSnapshot)] = []
        for one in touched {
            switch (one.old, one.new) {
            case (let old?, nil): removed.append(old)
            case (let old, let new?) where old != new: kept.append((old, new))
            default: break
            }
        }
        removed.sort { evaluator.ordering($0, $1) == .before }
        for document in removed {
            let index = place(document)
            list.remove(at: index)
            changes.append(DocumentChange(kind: .removed, document: document, oldIndex: index, newIndex: nil))
        }
        // All old places are given up in the end, but one by one: until its turn a document stands where it stood.
        kept.sort { evaluator.ordering($0.new, $1.new) == .before }
        for (old, new) in kept {
            var oldIndex: Int?
            if let old {
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
