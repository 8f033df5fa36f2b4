import Switchyard

/// Views of targets whose results the server decides.
///
/// Their contents are all results, and the local matches with writes that the server has not read back, in the local order.
/// Listeners see them in the server's order and up to the limit.
extension View {
    /// The target has the reverse order of a query for the last results.
    private var isReversed: Bool { if case .last = evaluator.limit { true } else { false } }

    /// Takes what the server said about the results, before the documents that it sent with it are applied.
    mutating func adopt(_ change: TargetChange, at version: Timestamp, in draft: inout ViewDraft) {
        guard draft.word != nil || change.results != nil else { return }
        confirmed.formUnion(change.added)
        confirmed.subtract(change.removed)
        guard let results = change.results else {
            for path in change.removed { drop(path, from: &draft) }
            draft.unfiled = change.added.filter { draft.contents[$0] == nil }
            return
        }
        let last = draft.word
        var word = ServerWord(results, asOf: version)
        for document in draft.contents.documents where !word.covers(document) {
            if last?.isPlaced(document.path) != true { word.displace(document.path) }
        }
        draft.word = word
        draft.hasNewWord = true
        draft.isNewlyDecided = last == nil
        for path in draft.contents.documents.paths { drop(path, from: &draft) }
        draft.unfiled = results.filter { draft.contents[$0] == nil }
    }

    private func drop(_ path: StoragePath, from draft: inout ViewDraft) {
        guard let document = draft.contents[path], !isResult(document, in: draft) else { return }
        draft.put(nil, at: path, evaluator)
    }

    private func isResult(_ document: DocumentSnapshot, in draft: ViewDraft) -> Bool {
        guard let word = draft.word else { return evaluator.matches(document) }
        guard document.exists else { return false }
        if document.metadata.hasPendingWrites { return evaluator.matches(document) }
        guard word.precedes(document) else { return confirmed.contains(document.path) }
        // It stays what it was while its write was pending.
        return draft.isOpening ? evaluator.matches(document) : draft.contents[document.path] != nil
    }

    /// As ``draft(_:in:overdue:returned:)``.
    func draftDecided(
        _ changes: LocalStore.Documents, in draft: inout ViewDraft, _ returned: Set<StoragePath>
    ) {
        var changes = changes
        if !draft.awaited.isEmpty {
            changes.merge(draft.awaited) { new, _ in new }
            draft.awaited = [:]
        }
        if draft.contents.documents.isEmpty {
            let state = draft
            if draft.fill(changes, evaluator, where: { isResult($0, in: state) }) {
                for path in draft.contents.pending { draft.word?.displace(path) }
                return
            }
        }
        for (path, document) in changes {
            let old = draft.contents[path]
            var new = isResult(document, in: draft) ? document : nil
            if let old, !document.exists, document.metadata.localState == .committed, !returned.contains(path) {
                // The write took effect, and what the document is now is not known.
                new = old.with(SnapshotMetadata(isFromCache: false, localState: .committed))
            }
            guard old != new else { continue }
            if let new {
                let isMoved = old.map { evaluator.ordering($0, new) != .same } ?? true
                draft.word?.note(new, isMoved: isMoved)
            }
            draft.put(new, at: path, evaluator)
        }
    }

    /// Whether the local order is the server's, too.
    ///
    /// - Parameter wasAgreed: Whether it was before this draft.
    func isOrderAgreed(_ word: ServerWord, in draft: ViewDraft, wasAgreed: Bool) -> Bool {
        if draft.hasNewWord || draft.beganEmpty {
            return word.agrees(with: contents.documents, isReversed: isReversed)
        }
        guard wasAgreed else { return false }
        return draft.touched.keys.allSatisfy { path in
            guard let document = contents[path] else { return true }
            let place = contents.documents.position(of: document, by: evaluator.evaluator)
            return word.agrees(at: place, in: contents.documents, isReversed: isReversed)
        }
    }

    func ordered(by word: ServerWord) -> DocumentList {
        DocumentList(inOrder: word.arranged(contents.documents, by: evaluator.evaluator, isReversed: isReversed))
    }

    /// Cuts off what is beyond the limit.
    ///
    /// - Returns: Whether there was nothing.
    func cut(_ documents: inout DocumentList) -> Bool {
        switch evaluator.limit {
        case .first(let count)? where documents.count > count:
            documents = DocumentList(inOrder: Array(documents.prefix(count)))
            return false
        case .last(let count)? where documents.count > count:
            documents = DocumentList(inOrder: Array(documents.suffix(count)))
            return false
        default: return true
        }
    }
}
