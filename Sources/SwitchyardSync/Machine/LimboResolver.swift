import Switchyard

/// The documents that are being looked up because only the cache shows them, and those waiting for a look-up.
struct LimboResolver {
    /// The references from views to documents in limbo.
    private var references = ReferenceSet()
    private(set) var active: [StoragePath: Int] = [:]
    private(set) var paths: [Int: StoragePath] = [:]
    private(set) var waiting: [StoragePath] = []
    /// The look-ups for which the server has sent the document.
    private var received: Set<Int> = []
    private var lastID = -1

    mutating func add(_ path: StoragePath, by target: Int) {
        references.add([path], by: target)
        if active[path] == nil, !waiting.contains(path) { waiting.append(path) }
    }

    /// - Returns: Whether no view needs the document any more.
    mutating func remove(_ path: StoragePath, by target: Int) -> Bool {
        references.remove(path, by: target)
        return !references.contains(path)
    }

    mutating func removeReferences(by target: Int) -> [StoragePath] {
        references.removeAll(by: target).filter { !references.contains($0) }.sorted()
    }

    mutating func next(limit: Int) -> (id: Int, path: StoragePath)? {
        guard active.count < limit, !waiting.isEmpty else { return nil }
        let path = waiting.removeFirst()
        lastID += 2
        active[path] = lastID
        paths[lastID] = path
        return (lastID, path)
    }

    /// - Returns: The look-up that was in progress.
    mutating func end(_ path: StoragePath) -> Int? {
        waiting.removeAll { $0 == path }
        guard let id = active.removeValue(forKey: path) else { return nil }
        paths[id] = nil
        received.remove(id)
        return id
    }

    mutating func note(_ change: TargetChange, for id: Int) {
        guard paths[id] != nil else { return }
        if !change.added.isEmpty { received.insert(id) } else if !change.removed.isEmpty { received.remove(id) }
    }

    /// The document that the server confirmed for a look-up, or none. `nil` if there is no such look-up.
    func confirmed(for id: Int) -> Set<StoragePath>? {
        paths[id].map { received.contains(id) ? [$0] : [] }
    }
}
