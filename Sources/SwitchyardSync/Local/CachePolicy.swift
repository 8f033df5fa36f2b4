import Switchyard

/// What stays in the cache once nothing refers to it.
package enum CachePolicy: Sendable, Hashable {
    /// Nothing: a document goes with its last reference, at the end of the transaction.
    case eager
    /// Everything, until a pass of the collector removes what was not used for longest.
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

    mutating func add(_ path: StoragePath, by owner: Int) {
        if pathsByOwner[owner, default: []].insert(path).inserted { counts[path, default: 0] += 1 }
    }

    mutating func remove(_ path: StoragePath, by owner: Int) {
        guard pathsByOwner[owner]?.remove(path) != nil else { return }
        let left = (counts[path] ?? 1) - 1
        counts[path] = left > 0 ? left : nil
    }

    /// - Returns: What the owner referred to.
    mutating func removeAll(by owner: Int) -> Set<StoragePath> {
        let paths = pathsByOwner[owner] ?? []
        for path in paths { remove(path, by: owner) }
        pathsByOwner[owner] = nil
        return paths
    }
}
