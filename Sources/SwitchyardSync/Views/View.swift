import Switchyard

/// The live result of one query as its listeners see it: local matches, cut at the limit, and what the server confirmed.
///
/// The cost grows with the number of changed documents, not with the total.
struct View {
    let evaluator: LiveEvaluator
    private(set) var contents = ViewContents()
    /// The documents that the server has confirmed as results.
    private(set) var confirmed: Set<StoragePath>
    private var limbo: Set<StoragePath> = []
    /// Whether `limbo` must be recomputed from all documents, because changes were ignored while it did not matter.
    private var isLimboStale = true
    private(set) var isCurrent = false
    private(set) var isSynced = false
    private(set) var hasCachedResults = false
    /// Acknowledged documents whose pending state the view still shows, until the stream shows the write.
    private(set) var awaited: [StoragePath: DocumentSnapshot] = [:]

    init(_ query: LiveQuery, confirmed: Set<StoragePath>) {
        evaluator = LiveEvaluator(query)
        self.confirmed = confirmed
    }

    var query: LiveQuery { evaluator.query }

    /// Begins a change. The contents move into the draft, and come back with ``apply(_:_:resolvesLimbo:awaitsRequery:)``:
    /// while both had them, the first change would copy everything.
    mutating func beginDraft() -> ViewDraft {
        var draft = ViewDraft(before: contents.documents)
        swap(&draft.contents, &contents)
        swap(&draft.awaited, &awaited)
        return draft
    }

    /// Applies `changes` to a draft.
    func draft(
        _ changes: LocalStore.Documents, in draft: inout ViewDraft, overdue: Set<StoragePath> = []
    ) {
        draft.needsRefill = false
        let limit = evaluator.limit
        let isFull = limit.map { draft.contents.documents.count == $0.count } ?? false
        let edge: DocumentSnapshot? =
            switch limit {
            case .first? where isFull: draft.contents.documents.last
            case .last? where isFull: draft.contents.documents.first
            default: nil
            }
        let isFilled = draft.fill(changes, evaluator)
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
                    continue
                }
                draft.awaited[path] = nil
                if old.data == new.data {
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
        let changes = draft.changes(evaluator)
        contents = draft.contents
        awaited = draft.awaited
        if let change {
            if confirmed.isEmpty { confirmed = change.added } else { confirmed.formUnion(change.added) }
            confirmed.subtract(change.removed)
            isCurrent = change.isCurrent
            hasCachedResults = !change.resumeToken.isEmpty
        }
        var outcome = Outcome()
        if resolvesLimbo && !awaitsRequery && isCurrent {
            (outcome.limboAdded, outcome.limboRemoved) = updateLimbo(draft, change)
        } else {
            isLimboStale = true
        }
        let wasSynced = isSynced
        isSynced = isCurrent && limbo.isEmpty && !awaitsRequery
        if !changes.isEmpty || isSynced != wasSynced {
            outcome.snapshot = snapshot(changes, syncStateChanged: isSynced != wasSynced)
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
        ViewSnapshot(
            query: query, documents: contents.documents, changes: changes, isFromCache: !isSynced,
            hasPendingWrites: !contents.pending.isEmpty, syncStateChanged: syncStateChanged,
            hasCachedResults: hasCachedResults)
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
