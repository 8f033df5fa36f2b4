/// The live result of one query: an ordered set of documents, its limit, and the difference between two states.
///
/// A pure value. Whoever holds it feeds it documents as they change and takes the difference; the mock, the offline
/// engine and the local servers all do. Cost grows with the change, not with the result:
///
/// ```swift
/// var view = QueryView(query, reserve: 20)
/// view.reset(to: everything)
/// for document in touched { view.update(document) }
/// if view.needsRefill { view.reset(to: everything) }
/// let changes = view.takeChanges()
/// ```
package struct QueryView: Sendable {
    package let evaluator: QueryEvaluator
    /// How many documents beyond a limit are kept to close gaps with; `nil` keeps all.
    private let reserve: Int?
    /// The documents that match: all of them, or those nearest to the limit's side of the order.
    private var held = PersistentSequence<DocumentSnapshot>()
    /// The order is by value, so the place of a document can only be found with the snapshot that is filed there.
    private var filed: [StoragePath: DocumentSnapshot] = [:]
    /// Whether documents may match that are not held. They lie beyond those that are.
    private var isCut = false

    /// The window as it was when changes were last taken.
    private var reported = PersistentSequence<DocumentSnapshot>()
    /// What was filed then, for the documents that changed since.
    private var touched: [StoragePath: Before] = [:]
    /// Whether everything was replaced since, so that nothing is known about single documents.
    private var wasReset = false

    private struct Before: Sendable { let document: DocumentSnapshot? }

    /// - Parameter reserve: With a limit, holds no more than about so many documents beyond it, and needs a refill
    ///   when more than these are lost. Without it every match is held, and a refill is never needed.
    package init(_ query: Query, reserve: Int? = nil) {
        evaluator = QueryEvaluator(query)
        self.reserve = query.limit == nil ? nil : reserve.map { max($0, 1) }
    }

    package var query: Query { evaluator.query }

    /// The number of documents held: all that match, unless there is a limit with a reserve.
    package var matchingCount: Int { held.count }

    /// The documents in the window that offset and limit leave, in order.
    package var documents: DocumentList { DocumentList(windowed) }

    /// The matching document at `path`, if it is held.
    package func document(at path: StoragePath) -> DocumentSnapshot? { filed[path] }

    /// Whether the window has a gap that only documents not held could fill: then ``reset(to:)`` before looking at it.
    package var needsRefill: Bool { isCut && held.count < needed }

    private var needed: Int { query.offset + (query.limit?.count ?? 0) }

    private var windowed: PersistentSequence<DocumentSnapshot> {
        let first = min(query.offset, held.count)
        return switch query.limit {
        case nil: held.slice(first..<held.count)
        case .first(let count): held.slice(first..<min(first + count, held.count))
        case .last(let count): held.slice(max(0, held.count - count)..<held.count)
        }
    }

    /// Replaces everything at once; linear in the documents given.
    package mutating func reset(to documents: some Sequence<DocumentSnapshot>) {
        let matching: [DocumentSnapshot]
        if let reserve {
            (matching, isCut) = evaluator.nearest(needed + reserve, of: documents)
        } else {
            matching = evaluator.sorted(documents)
        }
        held = PersistentSequence(inOrder: matching)
        filed = Dictionary(matching.map { ($0.path, $0) }, uniquingKeysWith: { _, last in last })
        touched = [:]
        wasReset = true
    }

    /// Takes in the present state of one document, whether it matches, does no longer, or is gone.
    ///
    /// - Returns: Whether the documents held changed.
    @discardableResult
    package mutating func update(_ document: DocumentSnapshot) -> Bool {
        let old = filed[document.path]
        let new = evaluator.matches(document) && !isBeyondCut(document) ? document : nil
        guard old != new else { return false }
        note(old, at: document.path)
        if let old, let new, evaluator.ordering(old, new) == .same {
            held.replace(at: position(of: old), with: new)
        } else {
            if let old { held.remove(at: position(of: old)) }
            if let new { held.insert(new, at: position(of: new)) }
        }
        filed[document.path] = new
        cut()
        return true
    }

    /// How the window differs from what it was at the last call, as changes to apply one after the other.
    package mutating func takeChanges() -> [DocumentChange] {
        let window = windowed
        defer {
            reported = window
            touched = [:]
            wasReset = false
        }
        if !wasReset, touched.isEmpty { return [] }
        // A short window is compared as a whole in less time than its edges are looked at.
        guard !wasReset, window.count > 64, 4 * touched.count < window.count else {
            return ListDifference.changes(from: DocumentList(reported), to: DocumentList(window), by: evaluator)
        }
        var candidates: [StoragePath: ListDifference.Touched] = [:]
        func add(_ path: StoragePath, _ old: DocumentSnapshot?, _ new: DocumentSnapshot?) {
            candidates[path] = (path, old.flatMap { listed($0, in: reported) }, new.flatMap { listed($0, in: window) })
        }
        for (path, before) in touched { add(path, before.document, filed[path]) }
        // A document that did not change itself can only have crossed an edge, and no further than the others pushed it.
        for list in query.limit == nil && query.offset == 0 ? [] : [reported, window] {
            let reach = min(touched.count, list.count)
            for edge in [list.slice(0..<reach), list.slice(list.count - reach..<list.count)] {
                for document in edge where candidates[document.path] == nil { add(document.path, document, document) }
            }
        }
        return ListDifference.changes(touched: Array(candidates.values), from: reported, by: evaluator)
    }

    private mutating func note(_ before: DocumentSnapshot?, at path: StoragePath) {
        if !wasReset, touched[path] == nil { touched[path] = Before(document: before) }
    }

    /// The document if it stands in `list`.
    private func listed(
        _ document: DocumentSnapshot, in list: PersistentSequence<DocumentSnapshot>
    ) -> DocumentSnapshot? {
        list.position { evaluator.ordering($0, document) }.isFound ? document : nil
    }

    private func position(of document: DocumentSnapshot) -> Int {
        held.position { evaluator.ordering($0, document) }.index
    }

    private var keepsEnd: Bool { if case .last = query.limit { true } else { false } }

    private func isBeyondCut(_ document: DocumentSnapshot) -> Bool {
        guard isCut else { return false }
        guard let edge = keepsEnd ? held.first : held.last else { return true }
        return evaluator.ordering(document, edge) == (keepsEnd ? .before : .after)
    }

    /// Lets go of what lies too far beyond the limit.
    private mutating func cut() {
        guard let reserve, held.count > needed + 2 * reserve else { return }
        let excess = held.count - needed - reserve
        let kept = keepsEnd ? excess..<held.count : 0..<(held.count - excess)
        for document in held.slice(keepsEnd ? 0..<excess : kept.upperBound..<held.count) {
            filed[document.path] = nil
            note(document, at: document.path)
        }
        held = held.slice(kept)
        isCut = true
    }
}
