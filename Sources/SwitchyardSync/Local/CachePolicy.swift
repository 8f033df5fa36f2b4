import Switchyard

/// Which unreferenced documents stay in the cache.
package enum CachePolicy: Sendable, Hashable {
    /// None: a document is removed with its last reference, at the end of the transaction.
    case eager
    /// Keeps everything until the collector removes the least recently used.
    case leastRecentlyUsed(CacheLimits)

    package static let standard = CachePolicy.leastRecentlyUsed(CacheLimits())
}

/// When the collector removes documents, and how many.
package struct CacheLimits: Sendable, Hashable {
    /// Below this size nothing is removed.
    package var threshold: Int64 = 100 << 20
    /// The percentage of sequence numbers that one pass removes, and their maximum number.
    package var percentile = 10
    package var maximumSequenceNumbers = 1000

    package init() {}
}

/// Counted references from owners to documents.
struct ReferenceSet {
    private var pathsByOwner: [Int: Set<StoragePath>] = [:]
    private var counts: [StoragePath: Int] = [:]

    func contains(_ path: StoragePath) -> Bool { counts[path] != nil }

    /// - Returns: The new ones.
    @discardableResult
    mutating func add(_ paths: [StoragePath], by owner: Int) -> [StoragePath] {
        guard !paths.isEmpty else { return [] }
        // Taken out and put back, so that the owner is looked up once.
        var own = pathsByOwner.removeValue(forKey: owner) ?? []
        own.reserveCapacity(own.count + paths.count)
        counts.reserveCapacity(counts.count + paths.count)
        let new = paths.filter { own.insert($0).inserted }
        for path in new { counts[path, default: 0] += 1 }
        pathsByOwner[owner] = own
        return new
    }

    func owners(of path: StoragePath) -> [Int] {
        contains(path) ? pathsByOwner.filter { $0.value.contains(path) }.map(\.key) : []
    }

    /// - Returns: Whether there was such a reference.
    @discardableResult
    mutating func remove(_ path: StoragePath, by owner: Int) -> Bool {
        guard pathsByOwner[owner]?.remove(path) != nil else { return false }
        let left = (counts[path] ?? 1) - 1
        counts[path] = left > 0 ? left : nil
        return true
    }

    /// - Returns: The documents that the owner referred to.
    mutating func removeAll(by owner: Int) -> Set<StoragePath> {
        let paths = pathsByOwner[owner] ?? []
        for path in paths { remove(path, by: owner) }
        pathsByOwner[owner] = nil
        return paths
    }
}

/// The documents that open views show, with an undo log for failed transactions: copying everything at the beginning of each
/// would cost too much.
final class PinnedDocuments {
    private var references = ReferenceSet()
    private var journal: [(path: StoragePath, owner: Int, wasAdded: Bool)] = []

    func contains(_ path: StoragePath) -> Bool { references.contains(path) }

    func add(_ paths: [StoragePath], by owner: Int) {
        for path in references.add(paths, by: owner) { journal.append((path, owner, true)) }
    }

    func remove(_ path: StoragePath, by owner: Int) {
        if references.remove(path, by: owner) { journal.append((path, owner, false)) }
    }

    /// Those who show a document show it under its new name.
    func move(_ path: StoragePath, to new: StoragePath) {
        for owner in references.owners(of: path) {
            remove(path, by: owner)
            add([new], by: owner)
        }
    }

    /// - Returns: The documents that the owner referred to.
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
                references.add([change.path], by: change.owner)
            }
        }
        journal = []
    }
}
