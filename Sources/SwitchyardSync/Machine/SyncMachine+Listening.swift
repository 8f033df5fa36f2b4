import Switchyard

extension SyncMachine {
    func listen(_ id: Int, _ query: LiveQuery, _ options: ViewOptions) {
        let hadServerListeners: Bool
        var query = query
        do throws(StorageError) {
            try checkOwner()
            query = try local.named(query)
            hadServerListeners = hasServerListeners(query)
            if views[query] == nil {
                try open(query)
            }
        } catch {
            emit(.listenFailed(id, error))
            return
        }
        let open = views[query]!
        listeners[id] = Listener(query, options)
        listenerIDs[query, default: []].append(id)
        if !options.readsCacheOnly, !hadServerListeners { startWatching(open.target) }
        if let snapshot = listeners[id]!.take(open.view.snapshot(), online.state, trouble) {
            emit(.snapshot(id, snapshot))
            emitInSync()
        }
    }

    func unlisten(_ id: Int) {
        guard let listener = listeners.removeValue(forKey: id) else { return }
        let query = listener.query
        listenerIDs[query]?.removeAll { $0 == id }
        guard let target = views[query]?.target else { return }
        if listenerIDs[query]?.isEmpty ?? true {
            listenerIDs[query] = nil
            views[query] = nil
            queriesByTarget[target]?.removeAll { $0 == query }
        }
        let rest = queriesByTarget[target] ?? []
        guard rest.isEmpty else {
            if !rest.contains(where: hasServerListeners), listening[target] != nil {
                stopWatching(target)
                // What the stream was about to show.
                raise([:], toldUpTo: local.globals.lastSnapshotVersion)
            }
            return
        }
        local.forceRelease(target)
        stopWatching(target)
        forget(target)
    }

    /// The actions for listeners after the store has been emptied. Handle no event afterwards.
    func emptySnapshots() -> [SyncAction] {
        listeners.sorted { $0.key < $1.key }.compactMap { id, listener in
            listener.emptySnapshot.map { .snapshot(id, $0) }
        }
    }

    func hasServerListeners(_ query: LiveQuery) -> Bool {
        (listenerIDs[query] ?? []).contains { listeners[$0]?.options.readsCacheOnly == false }
    }

    func open(_ query: LiveQuery) throws(StorageError) {
        let record = try local.allocate(query.target)
        let result: LocalStore.QueryResult
        do throws(StorageError) { result = try local.run(query) } catch {
            if queriesByTarget[record.id]?.isEmpty ?? true { local.forceRelease(record.id) }
            throw error
        }
        // Another query on the same target may have been confirmed already.
        let mirror = queriesByTarget[record.id]?.first.flatMap { views[$0]?.view }
        let word = mirror?.word ?? (record.isDecided ? ServerWord(asOf: record.version) : nil)
        var view = View(query, confirmed: result.confirmed, word: word)
        let isCurrent = (mirror?.isSynced ?? false) && online.state != .offline
        var draft = view.beginDraft()
        view.draft(result.documents, in: &draft)
        let outcome = view.apply(draft, TargetChange(resumeToken: record.resumeToken, isCurrent: isCurrent))
        views[query] = OpenView(view: view, target: record.id)
        queriesByTarget[record.id, default: []].append(query)
        let shown = view.documents.paths
        if !shown.isEmpty {
            // As below: if this fails, it only costs time later.
            try? local.noteView(of: record.id, added: shown, removed: [], isSynced: false)
        }
        trackLimbo(outcome, of: record.id)
    }

    /// Removes a target that has no listeners left or that the server refused.
    func forget(_ target: Int, because error: StorageError? = nil) {
        for query in queriesByTarget.removeValue(forKey: target) ?? [] {
            views[query] = nil
            for id in listenerIDs.removeValue(forKey: query) ?? [] {
                listeners[id] = nil
                if let error { emit(.listenFailed(id, error)) }
            }
        }
        for path in limbo.removeReferences(by: target) { endLookUp(of: path) }
    }

    /// Updates all views with changed documents, notifies listeners, and records what views show.
    ///
    /// - Parameters:
    ///   - changes: The documents.
    ///   - event: What the server sent.
    ///   - version: The version up to which the stream is complete, if there is no event.
    ///   - returned: Documents whose contents the server returned with its answer to a write: there is nothing to wait for.
    ///   - name: The new name of a document, under which it takes its former place.
    func raise(
        _ changes: LocalStore.Documents, _ event: RemoteEvent? = nil, toldUpTo version: Timestamp? = nil,
        returned: Set<StoragePath> = [], renaming name: NewName? = nil
    ) {
        var snapshots: [ViewSnapshot] = []
        // Limited results with a gap that the store could not fill.
        var short: [LiveQuery] = []
        for target in queriesByTarget.keys.sorted() {
            for query in queriesByTarget[target] ?? [] {
                guard let snapshot = update(query, changes, event, toldUpTo: version, returned, name, short: &short)
                else { continue }
                snapshots.append(snapshot)
            }
        }
        show(snapshots)
        if !short.isEmpty {
            waitForStore(toDo: { [unowned self, short] () throws(StorageError) in try refill(short) })
        }
    }

    private func show(_ snapshots: [ViewSnapshot]) {
        deliver(snapshots)
        for snapshot in snapshots {
            guard let target = views[snapshot.query]?.target else { continue }
            let added = snapshot.changes.compactMap { $0.kind == .added ? $0.document.path : nil }
            let removed = snapshot.changes.compactMap { $0.kind == .removed ? $0.document.path : nil }
            guard !added.isEmpty || !removed.isEmpty || !snapshot.isFromCache else { continue }
            // If this fails, the collector and the next run of the query do a little more work than necessary.
            try? local.noteView(of: target, added: added, removed: removed, isSynced: !snapshot.isFromCache)
        }
    }

    /// Fills the gaps of limited results.
    private func refill(_ queries: [LiveQuery]) throws(StorageError) {
        for query in queries where views[query] != nil {
            let whole = try local.run(query, usesConfirmed: views[query]?.view.isDecided == true)
            guard var open = views.removeValue(forKey: query) else { continue }
            var draft = open.view.beginDraft()
            open.view.draft(whole.documents, in: &draft)
            let outcome = open.view.apply(draft)
            views[query] = open
            trackLimbo(outcome, of: open.target)
            if let snapshot = outcome.snapshot { show([snapshot]) }
        }
    }

    private func update(
        _ query: LiveQuery, _ changes: LocalStore.Documents, _ event: RemoteEvent?, toldUpTo version: Timestamp?,
        _ returned: Set<StoragePath>, _ name: NewName?, short: inout [LiveQuery]
    ) -> ViewSnapshot? {
        guard var open = views.removeValue(forKey: query) else { return nil }
        var changes = changes
        // Where no stream is going to show what is acknowledged, it is shown with the timer.
        let isWatched = listening[open.target] != nil
        let overdue =
            isWatched
            ? (event?.version ?? version).map { open.view.overdue(at: $0) } ?? [:]
            : version == nil ? [:] : open.view.awaited
        changes.merge(overdue) { new, _ in new }
        var draft = open.view.beginDraft()
        if let name { open.view.rename(name, in: &draft) }
        let change = event?.targetChanges[open.target]
        if let change, let event { open.view.adopt(change, at: event.version, in: &draft) }
        let unfiled = draft.unfiled.filter { changes[$0] == nil }
        if !unfiled.isEmpty || draft.isNewlyDecided && query.hasLimit {
            do throws(StorageError) {
                let known = draft.isNewlyDecided ? try local.run(query).documents : try local.documents(at: unfiled)
                changes.merge(known) { new, _ in new }
            } catch {
                short.append(query)
            }
        }
        open.view.draft(changes, in: &draft, overdue: Set(overdue.keys), returned: returned)
        if draft.needsRefill {
            do throws(StorageError) {
                let whole = try local.run(query, usesConfirmed: false)
                open.view.draft(whole.documents, in: &draft)
            } catch {
                short.append(query)
            }
        }
        let outcome = open.view.apply(
            draft, change, awaitsRequery: event?.mismatches[open.target] != nil)
        let target = open.target
        let isLate =
            isWatched
            ? !open.view.overdue(at: local.globals.lastSnapshotVersion).isEmpty : !open.view.awaited.isEmpty
        if isLate, !hasOverdueTimer {
            hasOverdueTimer = true
            emit(.schedule(.overdue, isWatched ? .seconds(2) : .seconds(0)))
        }
        views[query] = open
        trackLimbo(outcome, of: target)
        return outcome.snapshot
    }

    func deliver(_ snapshots: [ViewSnapshot]) {
        var hasRaised = false
        for snapshot in snapshots {
            for id in listenerIDs[snapshot.query] ?? [] {
                guard let shown = listeners[id]?.take(snapshot, online.state, trouble) else { continue }
                emit(.snapshot(id, shown))
                hasRaised = true
            }
        }
        if hasRaised { emitInSync() }
    }

    func emitInSync() {
        for id in inSyncListeners { emit(.inSync(id)) }
    }

    func load(_ bundle: DocumentBundle) {
        attempt { [unowned self] () throws(StorageError) in
            if let changes = try local.apply(bundle) { raise(changes) }
        }
    }

    /// - Returns: The documents that look different locally than in the answer, and some that may not, with pending writes
    ///   applied.
    ///
    /// - Throws: `.localStore` if it is unknown which writes are pending. If only storing the answer fails, nothing is stored.
    func take(_ fetched: FetchedDocuments) throws(StorageError) -> [StoragePath: DocumentSnapshot] {
        let changes: LocalStore.Documents
        do throws(StorageError) { changes = try local.apply(fetched, isWatched: hasListeners) } catch {
            try checkOwner()
            return try local.shown(fetched)
        }
        raise(changes)
        try checkOwner()
        return changes
    }
}
