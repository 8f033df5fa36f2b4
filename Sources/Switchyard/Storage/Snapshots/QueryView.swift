/// The live result of one query: an ordered set of documents, its limit, and the difference between two states.
///
/// A pure value. Its owner feeds it changed documents and takes the difference; the mock, the offline engine and the local
/// servers all use it. The cost grows with the change, not with the result:
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
    /// How many documents beyond a limit are kept to fill gaps; `nil` keeps all.
    private let reserve: Int?
    /// The documents that match: all of them, or those nearest to the limit's side of the order.
    private var held = PersistentSequence<DocumentSnapshot>()
    /// The order is by value, so a document's position can be found only with the snapshot that is stored there.
    private var filed: [StoragePath: DocumentSnapshot] = [:]
    /// Whether there may be matches that are not held. They lie beyond those that are.
    private var isCut = false

    /// The window as it was when changes were last taken.
    private var reported = PersistentSequence<DocumentSnapshot>()
    /// The documents that changed since, and their stored snapshots at that time.
    private var touched = TouchedDocuments()
    /// Whether everything was replaced since, so that changes of single documents are unknown.
    private var wasReset = false

    /// - Parameter reserve: With a limit, holds at most about this many documents beyond it, and needs a refill when more
    ///   than these are lost. Without it, every match is held and a refill is never needed.
    package init(_ query: Query, reserve: Int? = nil) {
        evaluator = QueryEvaluator(query)
        self.reserve = query.limit == nil ? nil : reserve.map { max($0, 1) }
    }

    package var query: Query { evaluator.query }

    /// The number of documents held: all that match, unless there is a limit with a reserve.
    package var matchingCount: Int { held.count }

    /// The documents within offset and limit, in order.
    package var documents: DocumentList {
        DocumentList(isReported ? reported : held.slice(window(of: held.count)))
    }

    /// Whether nothing has changed since changes were last taken.
    private var isReported: Bool { !wasReset && touched.isEmpty }

    /// The matching document at `path`, if it is held.
    package func document(at path: StoragePath) -> DocumentSnapshot? { filed[path] }

    /// Whether the window has a gap that only documents not held could fill. Then call ``reset(to:)`` before reading it.
    package var needsRefill: Bool { isCut && held.count < needed }

    private var needed: Int { query.offset + (query.limit?.count ?? 0) }

    /// The range of `count` held documents that is within offset and limit.
    private func window(of count: Int) -> Range<Int> {
        let first = min(query.offset, count)
        return switch query.limit {
        case nil: first..<count
        case .first(let limit): first..<min(first + limit, count)
        case .last(let limit): max(0, count - limit)..<count
        }
    }

    package mutating func reset(to documents: some Sequence<DocumentSnapshot>) { reset(to: Array(documents)) }

    /// Replaces everything; linear in the number of documents.
    package mutating func reset(to documents: [DocumentSnapshot]) {
        let matching: [DocumentSnapshot]
        if let reserve {
            (matching, isCut) = evaluator.nearest(needed + reserve, of: documents)
        } else {
            matching = evaluator.sorted(documents)
        }
        held = PersistentSequence(inOrder: matching)
        filed = Dictionary(matching.map { ($0.path, $0) }, uniquingKeysWith: { _, last in last })
        touched = TouchedDocuments()
        wasReset = true
    }

    /// Updates one document, whether it matches, no longer matches, or is gone.
    ///
    /// - Returns: Whether the documents held changed.
    @discardableResult
    package mutating func update(_ document: DocumentSnapshot) -> Bool {
        update(document, isMatch: evaluator.matches(document))
    }

    /// - Parameter isMatch: The evaluator's result, for callers that already have it.
    package mutating func update(_ document: DocumentSnapshot, isMatch: Bool) -> Bool {
        let old = filed[document.path]
        let new = isMatch && !isBeyondCut(document) ? document : nil
        guard old != new else { return false }
        let oldPlace = old.map { position(of: $0) }
        var newPlace: Int?
        if let old, let new, let oldPlace, evaluator.ordering(old, new) == .same {
            held.replace(at: oldPlace, with: new)
            newPlace = oldPlace
        } else {
            if let oldPlace { held.remove(at: oldPlace) }
            if let new {
                let place = position(of: new)
                held.insert(new, at: place)
                newPlace = place
            }
        }
        if !wasReset { touched.note(document.path, before: old, at: oldPlace, now: newPlace) }
        filed[document.path] = new
        cut()
        return true
    }

    /// How the window differs from the last call, as changes to apply in order.
    package mutating func takeChanges() -> [DocumentChange] {
        if isReported { return [] }
        let window = held.slice(window(of: held.count))
        defer {
            reported = window
            touched = TouchedDocuments()
            wasReset = false
        }
        if let one = touched.single, !wasReset { return changes(after: one) }
        // Comparing a short window as a whole is faster than checking its edges.
        guard !wasReset, window.count > 64, 4 * touched.count < window.count else {
            return ListDifference.changes(from: DocumentList(reported), to: DocumentList(window), by: evaluator)
        }
        var candidates: [StoragePath: ListDifference.Touched] = [:]
        func add(_ path: StoragePath, _ old: DocumentSnapshot?, _ new: DocumentSnapshot?) {
            candidates[path] = (path, old.flatMap { listed($0, in: reported) }, new.flatMap { listed($0, in: window) })
        }
        touched.forEach { path, before in add(path, before, filed[path]) }
        // An unchanged document can only have crossed an edge, and only as far as the others pushed it.
        for list in query.limit == nil && query.offset == 0 ? [] : [reported, window] {
            let reach = min(touched.count, list.count)
            for edge in [list.slice(0..<reach), list.slice(list.count - reach..<list.count)] {
                for document in edge where candidates[document.path] == nil { add(document.path, document, document) }
            }
        }
        return ListDifference.changes(touched: Array(candidates.values), from: reported, by: evaluator)
    }

    /// The changes, and the window to which they lead.
    package mutating func takeResult() -> (changes: [DocumentChange], documents: DocumentList) {
        let changes = takeChanges()
        return (changes, DocumentList(reported))
    }

    /// The changes of the window after one document changed whose positions are known.
    ///
    /// Needs no search: all other documents keep their order, and at most one of them crosses each edge.
    private func changes(after one: TouchedDocuments.Single) -> [DocumentChange] {
        let new = filed[one.path]
        let othersCount = held.count - (one.newPlace == nil ? 0 : 1)
        let oldWindow = window(of: othersCount + (one.oldPlace == nil ? 0 : 1))
        let newWindow = window(of: held.count)
        let isOld = one.oldPlace.map(oldWindow.contains) ?? false
        let isNew = one.newPlace.map(newWindow.contains) ?? false
        var touched: [ListDifference.Touched] = []
        if isOld || isNew { touched.append((one.path, isOld ? one.before : nil, isNew ? new : nil)) }
        // The windows without the changed document.
        func others(_ window: Range<Int>, _ place: Int?) -> Range<Int> {
            guard let place else { return window }
            return window.lowerBound - (place < window.lowerBound ? 1 : 0)..<window.upperBound
                - (place < window.upperBound ? 1 : 0)
        }
        let before = others(oldWindow, one.oldPlace)
        let after = others(newWindow, one.newPlace)
        guard before != after else {
            return ListDifference.changes(touched: touched, from: reported, by: evaluator)
        }
        func document(_ index: Int) -> DocumentSnapshot {
            held[one.newPlace.map { index >= $0 ? index + 1 : index } ?? index]
        }
        for index in before.outside(of: after).joined() {
            let leaving = document(index)
            touched.append((leaving.path, leaving, nil))
        }
        for index in after.outside(of: before).joined() {
            let entering = document(index)
            touched.append((entering.path, nil, entering))
        }
        return ListDifference.changes(touched: touched, from: reported, by: evaluator)
    }

    /// The document if it is in `list`.
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

    /// Drops documents too far beyond the limit.
    private mutating func cut() {
        guard let reserve, held.count > needed + 2 * reserve else { return }
        let excess = held.count - needed - reserve
        let kept = keepsEnd ? excess..<held.count : 0..<(held.count - excess)
        for document in held.slice(keepsEnd ? 0..<excess : kept.upperBound..<held.count) {
            filed[document.path] = nil
            if !wasReset { touched.note(document.path, before: document) }
        }
        held = held.slice(kept)
        isCut = true
    }
}

extension Range<Int> {
    /// The parts of this range before and after `other`.
    fileprivate func outside(of other: Range<Int>) -> [Range<Int>] {
        let end = Swift.max(lowerBound, Swift.min(upperBound, other.lowerBound))
        let start = Swift.max(end, Swift.min(upperBound, other.upperBound))
        return [lowerBound..<end, start..<upperBound]
    }
}
