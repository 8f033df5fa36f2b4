import Switchyard

/// What stays in the cache once nothing refers to it.
package enum CachePolicy: Sendable, Hashable {
    /// Nothing: a document goes with its last reference, at the end of the transaction.
    case eager
    /// Keeps everything until the collector removes the least recently used.
    case leastRecentlyUsed(CacheLimits)

    package static let standard = CachePolicy.leastRecentlyUsed(CacheLimits())
}

/// When a pass of the collector removes something, and how much.
package struct CacheLimits: Sendable, Hashable {
    /// Below this size nothing is removed.
    package var threshold: Int64 = 100 << 20
    /// The share of sequence numbers that one pass removes, in percent, and the most of them.
    package var percentile = 10
    package var maximumSequenceNumbers = 1000

    package init() {}
}

/// Counted references from owners to documents.
struct ReferenceSet {
    private var pathsByOwner: [Int: Set<StoragePath>] = [:]
    private var counts: [StoragePath: Int] = [:]

    func contains(_ path: StoragePath) -> Bool { counts[path] != nil }

    /// - Returns: Whether that is news.
    @discardableResult
    mutating func add(_ path: StoragePath, by owner: Int) -> Bool {
        guard pathsByOwner[owner, default: []].insert(path).inserted else { return false }
        counts[path, default: 0] += 1
        return true
    }

    /// - Returns: Whether there was such a reference.
    @discardableResult
    mutating func remove(_ path: StoragePath, by owner: Int) -> Bool {
        guard pathsByOwner[owner]?.remove(path) != nil else { return false }
        let left = (counts[path] ?? 1) - 1
        counts[path] = left > 0 ? left : nil
        return true
    }

    /// - Returns: What the owner referred to.
    mutating func removeAll(by owner: Int) -> Set<StoragePath> {
        let paths = pathsByOwner[owner] ?? []
        for path in paths { remove(path, by: owner) }
        pathsByOwner[owner] = nil
        return paths
    }
}

/// The documents that open views show, with what undoes the changes of a transaction that fails: a copy of everything at
/// the beginning of each would cost as much as there is.
final class PinnedDocuments {
    private var references = ReferenceSet()
    private var journal: [(path: StoragePath, owner: Int, wasAdded: Bool)] = []

    func contains(_ path: StoragePath) -> Bool { references.contains(path) }

    func add(_ path: StoragePath, by owner: Int) {
        if references.add(path, by: owner) { journal.append((path, owner, true)) }
    }

    func remove(_ path: StoragePath, by owner: Int) {
        if references.remove(path, by: owner) { journal.append((path, owner, false)) }
    }

    /// - Returns: What the owner referred to.
    func removeAll(by owner: Int) -> Set<StoragePath> {
        let paths = references.removeAll(by: owner)
        for path in paths { journal.append((path, owner, false)) }
        return paths
    }

    func commit() { journal.removeAll(keepingCapacity: journal.count < 64) }

    func rollBack() {
        for change in journal.reversed() {
            if change.wasAdded {
                references.remove(change.path, by: change.owner)
            } else {
                references.add(change.path, by: change.owner)
            }
        }
        journal = []
    }
}
