import Synchronization

/// The changes of several snapshots, merged for a consumer that sees only the last one.
///
/// Computed on first access, so a consumer that is slow or never asks costs its producer next to nothing.
final class MergedChanges: Sendable {
    private let previous: DocumentList?
    private let query: Query
    private let batches: [[DocumentChange]]
    /// Whether the lists in between may have another order than the query's.
    let isReordered: Bool
    private let result = Mutex<[DocumentChange]?>(nil)

    /// After this many batches, merges early, to limit memory if the consumer never asks.
    private static let mostBatches = 64

    init(_ changes: [DocumentChange], since previous: DocumentList?, by query: Query, isReordered: Bool = false) {
        batches = [changes]
        self.isReordered = isReordered
        self.previous = previous
        self.query = query
    }

    private init(_ batches: [[DocumentChange]], since previous: DocumentList?, by query: Query, isReordered: Bool) {
        self.batches = batches
        self.isReordered = isReordered
        self.previous = previous
        self.query = query
    }

    func appending(_ changes: [DocumentChange], isReordered: Bool) -> MergedChanges {
        let earlier = batches.count < MergedChanges.mostBatches ? batches : [self.changes]
        return MergedChanges(
            earlier + [changes], since: previous, by: query, isReordered: isReordered || self.isReordered)
    }

    var changes: [DocumentChange] {
        result.withLock { result in
            if let result { return result }
            let changes = merged()
            result = changes
            return changes
        }
    }

    private func merged() -> [DocumentChange] {
        let all = batches.flatMap(\.self)
        // The position of documents without all their fields is unknown, so their changes stay as they are.
        guard let previous, query.projection == nil else { return all }
        var list = previous.elements
        var touched: [StoragePath: (old: DocumentSnapshot?, new: DocumentSnapshot?)] = [:]
        for change in all {
            var old: DocumentSnapshot?
            if let index = change.oldIndex {
                // Only a provider's mistake leads here; then its changes stay as they are.
                guard list.indices.contains(index) else { return all }
                old = list[index]
                list.remove(at: index)
            }
            if let index = change.newIndex {
                guard index >= 0, index <= list.count else { return all }
                list.insert(change.document, at: index)
            }
            let new = change.newIndex == nil ? nil : change.document
            touched[change.document.path, default: (old, nil)].new = new
        }
        if isReordered { return ListDifference.changesByPosition(from: previous, to: DocumentList(list)) }
        return ListDifference.changes(
            touched: touched.map { (path: $0.key, old: $0.value.old, new: $0.value.new) }, from: previous.elements,
            by: QueryEvaluator(query))
    }
}
