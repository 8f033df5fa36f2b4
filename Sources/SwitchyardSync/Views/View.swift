import Switchyard

/// The live result of one query as its listeners see it: local matches, cut at the limit, and what the server confirmed.
///
/// The cost grows with the number of changed documents, not with the total. Where the server decides the results and orders
/// them differently than this device would, a change costs as much as going through them; see `View+Deciding.swift`.
struct View {
    let evaluator: LiveEvaluator
    /// In the local order, and cut at the limit unless the server decides.
    private(set) var contents = ViewContents()
    /// What listeners see.
    private(set) var documents = DocumentList()
    /// The documents that the server has confirmed as results.
    var confirmed: Set<StoragePath>
    /// What the server said about the results; `nil` as long as the local evaluator decides.
    private(set) var word: ServerWord?
    /// Whether ``documents`` are in the local order, and are all ``contents``.
    private var (isInOrder, isWhole) = (true, true)
    private var isOpening = true
    private var limbo: Set<StoragePath> = []
    /// Whether `limbo` must be recomputed from all documents, because changes were ignored while it did not matter.
    private var isLimboStale = true
    private(set) var isCurrent = false
    private(set) var isSynced = false
    private(set) var hasCachedResults = false
    /// Acknowledged documents whose pending state the view still shows, until the stream shows the write.
    private(set) var awaited: [StoragePath: DocumentSnapshot] = [:]

    init(_ query: LiveQuery, confirmed: Set<StoragePath>, word: ServerWord? = nil) {
        evaluator = LiveEvaluator(query)
        self.confirmed = confirmed
        self.word = word
    }

    var isDecided: Bool { word != nil }

    var query: LiveQuery { evaluator.query }

    /// Begins a change. The contents move into the draft, and come back with ``apply(_:_:resolvesLimbo:awaitsRequery:)``:
    /// while both had them, the first change would copy everything.
    mutating func beginDraft() -> ViewDraft {
        var draft = ViewDraft(before: contents.documents)
        swap(&draft.contents, &contents)
        swap(&draft.awaited, &awaited)
        swap(&draft.word, &word)
        draft.isOpening = isOpening
        return draft
    }

    /// Applies `changes` to a draft.
    ///
    /// - Parameters:
    ///   - changes: The documents.
    ///   - draft: The next state.
    ///   - overdue: Acknowledged documents that the stream should have shown.
    ///   - returned: Acknowledged documents that are shown at once, since the server returned their contents.
    func draft(
        _ changes: LocalStore.Documents, in draft: inout ViewDraft, overdue: Set<StoragePath> = [],
        returned: Set<StoragePath> = []
    ) {
        draft.needsRefill = draft.mayHaveGap && evaluator.limit != nil
        draft.mayHaveGap = false
        if draft.word != nil { return draftDecided(changes, in: &draft, returned) }
        let limit = evaluator.limit
        let isFull = limit.map { draft.contents.documents.count == $0.count } ?? false
        let edge: DocumentSnapshot? =
            switch limit {
            case .first? where isFull: draft.contents.documents.last
            case .last? where isFull: draft.contents.documents.first
            default: nil
            }
        let isFilled = draft.fill(changes, evaluator, where: evaluator.matches)
        for (path, document) in isFilled ? [:] : changes {
            let old = draft.contents[path]
            let new = evaluator.matches(document) ? document : nil
            guard old != nil || new != nil else { continue }
            let wasPending = old != nil && draft.wasPending(path)
            let isPending = new?.metadata.hasPendingWrites ?? false
            switch (old, new) {
            case (let old?, let new?):
                // Acknowledged: the stream is about to show it, which saves one step.
                if old.metadata.localState == .pending, new.metadata.localState == .committed,
                    !overdue.contains(path)
                {
                    draft.awaited[path] = new
                    guard returned.contains(path) else { continue }
                } else {
                    draft.awaited[path] = nil
                }
                let isMoved = draft.moved.contains(path)
                if old.data == new.data, !isMoved {
                    guard wasPending != isPending || overdue.contains(path) else { continue }
                } else {
                    if let edge, let limit {
                        let position = evaluator.ordering(new, edge)
                        let isBeyond = if case .first = limit { position == .after } else { position == .before }
                        if isBeyond { draft.needsRefill = true }
                    }
                }
            case (_?, nil): if edge != nil { draft.needsRefill = true }
            case (nil, _): break
            }
            draft.put(new, at: path, evaluator)
        }
        if let limit {
            while draft.contents.documents.count > limit.count {
                let surplus =
                    if case .first = limit { draft.contents.documents.last! } else { draft.contents.documents.first! }
                draft.put(nil, at: surplus.path, evaluator)
            }
        }
    }

    struct Outcome {
        var snapshot: ViewSnapshot?
        var limboAdded: [StoragePath] = []
        var limboRemoved: [StoragePath] = []
    }

    /// Makes a draft the state of the view.
    ///
    /// - Parameters:
    ///   - change: The server's changes to the target.
    ///   - awaitsRequery: Whether all confirmed results were discarded and requested again.
    mutating func apply(
        _ draft: ViewDraft, _ change: TargetChange? = nil, resolvesLimbo: Bool = true, awaitsRequery: Bool = false
    ) -> Outcome {
        let (wasInOrder, before) = (isInOrder, documents)
        contents = draft.contents
        awaited = draft.awaited
        word = draft.word
        isOpening = false
        let changes = arrange(draft, after: before)
        if let change {
            if confirmed.isEmpty { confirmed = change.added } else { confirmed.formUnion(change.added) }
            confirmed.subtract(change.removed)
            isCurrent = change.isCurrent
            hasCachedResults = !change.resumeToken.isEmpty
        }
        var outcome = Outcome()
        if isDecided {
            outcome.limboRemoved = limbo.sorted()
            limbo = []
        } else if resolvesLimbo && !awaitsRequery && isCurrent {
            (outcome.limboAdded, outcome.limboRemoved) = updateLimbo(draft, change)
        } else {
            isLimboStale = true
        }
        let wasSynced = isSynced
        isSynced = isCurrent && limbo.isEmpty && !awaitsRequery
        if !changes.isEmpty || isSynced != wasSynced {
            outcome.snapshot = snapshot(changes, syncStateChanged: isSynced != wasSynced)
            outcome.snapshot?.isReordered = !(isInOrder && wasInOrder)
        }
        return outcome
    }

    /// Acknowledged documents that a snapshot of `version` should have shown. On the server they have changed since, or are
    /// not in this result; from now on they are treated like any other document.
    func overdue(at version: Timestamp) -> LocalStore.Documents {
        guard isCurrent, !awaited.isEmpty else { return [:] }
        return awaited.filter { $0.value.updateTime ?? .never <= version }
    }

    /// - Returns: A snapshot, if the view was current and no longer is.
    mutating func goOffline() -> ViewSnapshot? {
        guard isCurrent else { return nil }
        isCurrent = false
        return apply(beginDraft(), resolvesLimbo: false).snapshot
    }

    func snapshot(_ changes: [DocumentChange] = [], syncStateChanged: Bool = false) -> ViewSnapshot {
        let isPending = !contents.pending.isEmpty && (isWhole || documents.contains { $0.metadata.hasPendingWrites })
        return ViewSnapshot(
            query: query, documents: documents, changes: changes, isFromCache: !isSynced,
            hasPendingWrites: isPending, syncStateChanged: syncStateChanged, hasCachedResults: hasCachedResults,
            isReordered: !isInOrder)
    }

    /// Makes the contents what listeners see: in the server's order, if it has one, and cut at the limit.
    private mutating func arrange(_ draft: ViewDraft, after before: DocumentList) -> [DocumentChange] {
        guard let word else {
            documents = contents.documents
            return draft.changes(evaluator)
        }
        let (wasInOrder, wasWhole) = (isInOrder, isWhole)
        isInOrder = isOrderAgreed(word, in: draft, wasAgreed: isInOrder)
        documents = isInOrder ? contents.documents : ordered(by: word)
        isWhole = cut(&documents)
        if wasInOrder, wasWhole, isInOrder, isWhole { return draft.changes(evaluator) }
        return ViewDifference.changes(
            from: before, to: documents, inOrderOf: wasInOrder && isInOrder ? evaluator.evaluator : nil)
    }

    private mutating func updateLimbo(
        _ draft: ViewDraft, _ change: TargetChange?
    ) -> (added: [StoragePath], removed: [StoragePath]) {
        var added: [StoragePath] = []
        var removed: [StoragePath] = []
        func consider(_ path: StoragePath) {
            let isInLimbo =
                !confirmed.contains(path)
                && contents[path].map { $0.metadata.localState != .pending } ?? false
                // The stream is about to show it.
                && awaited[path] == nil
            if isInLimbo {
                if limbo.insert(path).inserted { added.append(path) }
            } else if !limbo.isEmpty, limbo.remove(path) != nil {
                removed.append(path)
            }
        }
        if isLimboStale || draft.beganEmpty {
            isLimboStale = false
            for path in limbo { consider(path) }
            for path in contents.documents.paths { consider(path) }
        } else {
            for path in draft.touched.keys { consider(path) }
            for path in change?.added ?? [] { consider(path) }
            for path in change?.removed ?? [] { consider(path) }
        }
        return (added.sorted(), removed.sorted())
    }
}
