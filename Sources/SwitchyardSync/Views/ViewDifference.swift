import Switchyard

/// The difference between two lists that listeners see, where changed documents alone do not tell it.
enum ViewDifference {
    /// - Parameters:
    ///   - old: The list before.
    ///   - new: The list now.
    ///   - evaluator: The order of both lists; `nil` if one of them has another.
    static func changes(
        from old: DocumentList, to new: DocumentList, inOrderOf evaluator: QueryEvaluator?
    ) -> [DocumentChange] {
        if old.isEmpty { return new.additions }
        let changes =
            evaluator.map { ListDifference.changes(from: old, to: new, by: $0) }
            ?? ListDifference.changesByPosition(from: old, to: new)
        guard !changes.isEmpty else { return [] }
        var before: [StoragePath: DocumentSnapshot] = [:]
        for document in old { before[document.path] = document }
        return changes.compactMap { change in
            guard change.kind == .modified || change.kind == .metadata, let old = before[change.document.path] else {
                return change
            }
            // There is no version while a write is pending, so it says nothing about the contents.
            let isMoved = change.oldIndex != change.newIndex
            let isModified = isMoved || old.data != change.document.data
            let isHidden = old.metadata.hasPendingWrites == change.document.metadata.hasPendingWrites
            if !isModified, isHidden { return nil }
            return DocumentChange(
                kind: isModified ? .modified : .metadata, document: change.document, oldIndex: change.oldIndex,
                newIndex: change.newIndex)
        }
    }
}
