import Switchyard

/// Documents that get their names from the server.
extension SyncMachine {
    func acknowledge(
        addition batch: QueuedBatch, _ result: CommitResult, under name: NewName
    ) throws(StorageError) {
        let named = try local.acknowledge(addition: batch, result, under: name)
        // They were read before the document had its name.
        ahead = []
        finish(batch, .success(result))
        emit(.queueChanged(.left(batch)))
        for batch in named.batches { emit(.queueChanged(.renamed(batch))) }
        moveListeners(to: name)
        let isReturned = if case .returned = result.outcome(ofWrite: 0) { true } else { false }
        raise(named.changes, returned: isReturned ? [name.new] : [], renaming: name)
    }

    /// Makes the listeners whose queries name the document go on with its new name.
    private func moveListeners(to name: NewName) {
        for target in queriesByTarget.keys.sorted() {
            for query in queriesByTarget[target] ?? [] {
                let named = query.mappingPaths { name($0) }
                guard named != query else { continue }
                let move = { [unowned self] () throws(StorageError) in try moveListeners(of: query, to: named) }
                do throws(StorageError) { try move() } catch { waitForStore(toDo: move) }
            }
        }
    }

    private func moveListeners(of old: LiveQuery, to new: LiveQuery) throws(StorageError) {
        guard let target = views[old]?.target else { return }
        let hadServerListeners = hasServerListeners(new)
        if views[new] == nil { try open(new) }
        let ids = listenerIDs.removeValue(forKey: old) ?? []
        views[old] = nil
        queriesByTarget[target]?.removeAll { $0 == old }
        if queriesByTarget[target]?.isEmpty ?? true {
            local.forceRelease(target)
            stopWatching(target)
            forget(target)
        }
        listenerIDs[new, default: []] += ids
        guard let open = views[new] else { return }
        var hasRaised = false
        for id in ids {
            guard let shown = listeners[id]?.move(to: open.view.snapshot(), online.state, trouble) else { continue }
            emit(.snapshot(id, shown))
            hasRaised = true
        }
        if !hadServerListeners, hasServerListeners(new) { startWatching(open.target) }
        if hasRaised { emitInSync() }
    }

    // MARK: Asked by the runner of the machine

    /// The current names of those of the documents that have got one.
    func names(of paths: [StoragePath]) throws(StorageError) -> [StoragePath: StoragePath] {
        try checkOwner()
        return try local.names(of: paths)
    }

    /// The query with the current names of documents.
    func named(_ query: Query) throws(StorageError) -> Query {
        try checkOwner()
        guard case .query(let query) = try local.named(.query(query)) else { return query }
        return query
    }

    func named(_ writes: [DocumentWrite]) throws(StorageError) -> [DocumentWrite] {
        try checkOwner()
        return try local.named(writes)
    }

    /// Writes with the current names of documents, and the documents that still wait for theirs.
    ///
    /// - Throws: If they mention a document that no one has added, and do not add it.
    func prepareAddition(
        _ writes: [DocumentWrite]
    ) throws(StorageError) -> (writes: [DocumentWrite], awaited: Set<StoragePath>) {
        try checkOwner()
        return try local.prepareAddition(writes)
    }
}
