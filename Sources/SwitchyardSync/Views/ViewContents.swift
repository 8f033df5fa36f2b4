import Switchyard

/// The documents of a view in order, and those with pending writes.
struct ViewContents {
    private(set) var documents = DocumentList()
    private var filed: [StoragePath: DocumentSnapshot] = [:]
    private(set) var pending: Set<StoragePath> = []

    subscript(path: StoragePath) -> DocumentSnapshot? { filed[path] }

    /// - Returns: The document's position, if it has kept it.
    @discardableResult
    mutating func put(_ document: DocumentSnapshot?, at path: StoragePath, _ evaluator: LiveEvaluator) -> Int? {
        let old = filed[path]
        var kept: Int?
        if let old, let document, evaluator.ordering(old, document) == .same {
            kept = documents.replace(with: document, by: evaluator.evaluator)
        } else {
            if let old { documents.remove(at: documents.position(of: old, by: evaluator.evaluator)) }
            if let document {
                documents.insert(document, at: documents.position(of: document, by: evaluator.evaluator))
            }
        }
        filed[path] = document
        if document?.metadata.hasPendingWrites == true { pending.insert(path) } else { pending.remove(path) }
        return kept
    }

    /// Adds many documents to empty contents, sorting once instead of inserting one by one.
    fileprivate mutating func fill(_ found: [DocumentSnapshot], pending: Set<StoragePath>, _ evaluator: LiveEvaluator) {
        documents = DocumentList(inOrder: evaluator.inOrder(found))
        filed.reserveCapacity(found.count)
        for document in found { filed[document.path] = document }
        self.pending = pending
    }
}

/// The next state of a view while it is computed.
struct ViewDraft {
    var contents = ViewContents()
    /// The documents in order, before.
    private let before: DocumentList
    /// The previous state of each changed document, and whether it was pending. Stays empty if the view was empty.
    private(set) var touched: [StoragePath: (old: DocumentSnapshot?, wasPending: Bool)] = [:]
    /// Where the first touched document was before, if it has kept that position: then it need not be searched for again.
    private var firstPosition: Int?
    /// Whether the limit removed, or may have removed, documents that now belong to the result.
    var needsRefill = false

    var awaited: [StoragePath: DocumentSnapshot] = [:]

    /// What the server said about the results, if it decides them.
    var word: ServerWord?
    /// Whether it has just said it, and for the first time.
    var hasNewWord = false
    var isNewlyDecided = false
    /// The documents that have got another name.
    var moved: Set<StoragePath> = []
    /// Whether one of them may have left a gap: it was here under both names, or its name puts it behind others.
    var mayHaveGap = false
    /// Whether this is the first state of the view.
    var isOpening = false
    /// Results that are not among the documents.
    var unfiled: [StoragePath] = []

    init(before: DocumentList) { self.before = before }

    /// Whether the view was empty before this draft, so that everything in it now is new.
    var beganEmpty: Bool { before.isEmpty }

    /// Whether the view showed a pending write on the document before this draft.
    func wasPending(_ path: StoragePath) -> Bool {
        if beganEmpty { false } else { touched[path]?.wasPending ?? contents.pending.contains(path) }
    }

    mutating func put(_ document: DocumentSnapshot?, at path: StoragePath, _ evaluator: LiveEvaluator) {
        let isFirst = touched.isEmpty
        if !beganEmpty, touched[path] == nil { touched[path] = (contents[path], contents.pending.contains(path)) }
        if document == nil { awaited[path] = nil }
        let kept = contents.put(document, at: path, evaluator)
        if isFirst { firstPosition = kept }
    }

    /// As ``put(_:at:_:)`` for each of the documents that are results, if nothing has been here yet.
    ///
    /// - Returns: Whether this was possible.
    mutating func fill(
        _ documents: LocalStore.Documents, _ evaluator: LiveEvaluator, where isResult: (DocumentSnapshot) -> Bool
    ) -> Bool {
        guard documents.count > 32, beganEmpty, contents.documents.isEmpty, awaited.isEmpty else { return false }
        var found: [DocumentSnapshot] = []
        var pending: Set<StoragePath> = []
        found.reserveCapacity(documents.count)
        for (path, document) in documents where isResult(document) {
            found.append(document)
            if document.metadata.hasPendingWrites { pending.insert(path) }
        }
        contents.fill(found, pending: pending, evaluator)
        return true
    }

    /// The changes, in the order in which listeners apply them.
    func changes(_ evaluator: LiveEvaluator) -> [DocumentChange] {
        if beganEmpty { return contents.documents.additions }
        guard !touched.isEmpty else { return [] }
        var known: [(path: StoragePath, old: DocumentSnapshot?, new: DocumentSnapshot?)] = []
        known.reserveCapacity(touched.count)
        for (path, before) in touched where before.old != nil || contents[path] != nil {
            known.append((path, before.old, contents[path]))
        }
        return ListDifference.changes(
            touched: known, from: before.elements, by: evaluator.evaluator,
            oldIndex: touched.count == 1 ? firstPosition : nil
        ).compactMap { change in
            // There is no version while a write is pending, so it says nothing about the contents.
            guard change.kind == .modified, let before = touched[change.document.path]?.old,
                before.data == change.document.data
            else { return change.kind == .metadata && isHidden(change) ? nil : change }
            guard !isHidden(change) else { return nil }
            return DocumentChange(
                kind: .metadata, document: change.document, oldIndex: change.oldIndex, newIndex: change.newIndex)
        }
    }

    /// Whether neither the contents nor the pending state of a document have changed.
    private func isHidden(_ change: DocumentChange) -> Bool {
        let path = change.document.path
        return touched[path]?.wasPending == contents.pending.contains(path)
            && touched[path]?.old?.data == change.document.data
    }
}
