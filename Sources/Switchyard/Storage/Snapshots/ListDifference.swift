/// The difference between two lists, as changes to apply in order.
package enum ListDifference {
    /// A document with its state before and after; `nil` where it is not in the list.
    package typealias Touched = (path: StoragePath, old: DocumentSnapshot?, new: DocumentSnapshot?)

    /// Compares two results of one query, if the changed documents are not known. Linear in the size of both.
    package static func changes(
        from old: DocumentList, to new: DocumentList, by evaluator: QueryEvaluator
    ) -> [DocumentChange] {
        if old.elements.isIdentical(to: new.elements) { return [] }
        // Without all its fields, a document's position in the order is unknown.
        if evaluator.query.projection != nil { return changesByPosition(from: old, to: new) }
        // Both have the same order, so one pass over the two finds what only one of them has; the rest is not hashed.
        var gone: [DocumentSnapshot] = []
        var come: [DocumentSnapshot] = []
        var (before, after) = (old.elements.makeIterator(), new.elements.makeIterator())
        var (left, right) = (before.next(), after.next())
        while let first = left, let second = right {
            if first == second {
                (left, right) = (before.next(), after.next())
                continue
            }
            let order = evaluator.ordering(first, second)
            if order != .after {
                gone.append(first)
                left = before.next()
            }
            if order != .before {
                come.append(second)
                right = after.next()
            }
        }
        while let first = left {
            gone.append(first)
            left = before.next()
        }
        while let second = right {
            come.append(second)
            right = after.next()
        }
        if gone.isEmpty { return changes(touched: come.map { ($0.path, nil, $0) }, from: old.elements, by: evaluator) }
        var touched: [StoragePath: Touched] = [:]
        for document in gone { touched[document.path] = (document.path, document, nil) }
        for document in come { touched[document.path] = (document.path, touched[document.path]?.old, document) }
        return changes(touched: Array(touched.values), from: old.elements, by: evaluator)
    }

    /// The same for lists whose order cannot be derived from their documents; quadratic in the number of moves.
    package static func changesByPosition(from old: DocumentList, to new: DocumentList) -> [DocumentChange] {
        let kept = Set(new.map(\.path))
        var list = Array(old)
        var changes: [DocumentChange] = []
        for index in list.indices.reversed() where !kept.contains(list[index].path) {
            changes.append(
                DocumentChange(kind: .removed, document: list.remove(at: index), oldIndex: index, newIndex: nil))
        }
        for (index, document) in new.enumerated() {
            let oldIndex = list[index...].firstIndex { $0.path == document.path }
            let before = oldIndex.map { list.remove(at: $0) }
            list.insert(document, at: index)
            if oldIndex == index, before == document { continue }
            changes.append(
                DocumentChange(kind: kind(before, document), document: document, oldIndex: oldIndex, newIndex: index))
        }
        return changes
    }

    private static func kind(_ old: DocumentSnapshot?, _ new: DocumentSnapshot) -> DocumentChange.Kind {
        switch old {
        case nil: .added
        case let old? where old.data == new.data && old.updateTime == new.updateTime: .metadata
        default: .modified
        }
    }

    /// Changes for documents whose old and new states are known; logarithmic in the size of the result for each.
    ///
    /// Removals come first, then additions, then changes, each in the order of the result, as listeners expect.
    ///
    /// - Parameter oldIndex: The old position of a single touched document, if known.
    package static func changes(
        touched: [Touched], from old: PersistentSequence<DocumentSnapshot>, by evaluator: QueryEvaluator,
        oldIndex: Int? = nil
    ) -> [DocumentChange] {
        if touched.count == 1 { return change(touched[0], at: oldIndex, in: old, by: evaluator).map { [$0] } ?? [] }
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
        // Documents leave their old positions one by one: until its turn, a document stays where it was.
        kept.sort { left, right in
            (left.old == nil) == (right.old == nil)
                ? evaluator.ordering(left.new, right.new) == .before : left.old == nil
        }
        for (old, new) in kept {
            var oldIndex: Int?
            if let old {
                let index = place(old)
                list.remove(at: index)
                oldIndex = index
            }
            let newIndex = place(new)
            list.insert(new, at: newIndex)
            changes.append(
                DocumentChange(kind: kind(old, new), document: new, oldIndex: oldIndex, newIndex: newIndex))
        }
        return changes
    }

    /// A single change; needs no edit of a list.
    private static func change(
        _ touched: Touched, at known: Int?, in list: PersistentSequence<DocumentSnapshot>,
        by evaluator: QueryEvaluator
    ) -> DocumentChange? {
        guard touched.old != touched.new, let document = touched.new ?? touched.old else { return nil }
        func place(_ document: DocumentSnapshot) -> Int { list.position { evaluator.ordering($0, document) }.index }
        let oldIndex = touched.old.map { known ?? place($0) }
        guard let new = touched.new else {
            return DocumentChange(kind: .removed, document: document, oldIndex: oldIndex, newIndex: nil)
        }
        var newIndex = oldIndex
        if let old = touched.old, let oldIndex, evaluator.ordering(old, new) != .same {
            let place = place(new)
            newIndex = place > oldIndex ? place - 1 : place
        } else if oldIndex == nil {
            newIndex = place(new)
        }
        return DocumentChange(kind: kind(touched.old, new), document: new, oldIndex: oldIndex, newIndex: newIndex)
    }
}
