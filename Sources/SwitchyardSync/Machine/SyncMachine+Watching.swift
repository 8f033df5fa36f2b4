import Switchyard

extension SyncMachine: TargetLookup {
    func isWatched(_ id: Int) -> Bool { listening[id] != nil }

    func watched(_ id: Int) -> TargetRequest? { listening[id] }

    func confirmedKeys(of id: Int) -> Set<StoragePath> {
        if let keys = limbo.confirmed(for: id) { return keys }
        let queries = queriesByTarget[id] ?? []
        guard queries.count != 1 else { return views[queries[0]]?.view.confirmed ?? [] }
        return queries.reduce(into: []) { $0.formUnion(views[$1]?.view.confirmed ?? []) }
    }

    func hasLearnt(of path: StoragePath, since id: Int) -> Bool {
        guard let version = try? local.foundVersion(of: path) else { return false }
        return version != askedVersions[id]
    }

    var canUseNetwork: Bool { isNetworkEnabled && !isStoreFailing }

    // MARK: Targets

    func startWatching(_ target: Int) {
        guard let record = local.active[target] else { return }
        startWatching(
            TargetRequest(
                id: target, target: record.target, resumeToken: record.resumeToken,
                readTime: record.version == .never ? nil : record.version))
    }

    func startWatching(_ target: TargetRequest) {
        guard listening[target.id] == nil else { return }
        listening[target.id] = target
        if watch == .open { add(target) } else { startWatch() }
    }

    func stopWatching(_ target: Int) {
        guard listening.removeValue(forKey: target) != nil else { return }
        askedVersions[target] = nil
        if watch == .open {
            aggregator.noteRequest(for: target)
            emit(.sendWatch(.remove(target)))
        }
        guard listening.isEmpty else { return }
        if watch == .open {
            emit(.schedule(.watchIdle, .seconds(60)))
        } else if canUseNetwork {
            setOnline(.unknown)
        }
    }

    private func add(_ target: TargetRequest, as purpose: TargetRequest.Purpose? = nil) {
        var request = target
        if let purpose { request.purpose = purpose }
        if !request.resumeToken.isEmpty || request.readTime != nil {
            request.expectedCount = confirmedKeys(of: target.id).count
        }
        if !request.resumeToken.isEmpty { request.readTime = nil }
        // Otherwise everything is requested again because the cached results are wrong.
        if usesTags, request.purpose == .listen {
            request.knownTags = (try? local.knownTags(at: confirmedKeys(of: target.id))) ?? [:]
        }
        if case .document(let path) = target.target { askedVersions[target.id] = try? local.foundVersion(of: path) }
        aggregator.noteRequest(for: target.id)
        emit(.cancel(.watchIdle))
        emit(.sendWatch(.add(request)))
    }

    // MARK: The stream

    func startWatch() {
        guard canUseNetwork, !watch.isStarted, !listening.isEmpty else { return }
        aggregator = WatchAggregator()
        if watchFailures == 0 {
            openWatch()
        } else {
            watch = .waiting
            emit(.schedule(.watchBackoff, .backoff(attempt: watchFailures, isOverloaded: isWatchOverloaded)))
        }
        apply(online.streamStarts())
        onlineStateChanged()
    }

    func openWatch() {
        watch = .opening
        emit(.openWatch)
    }

    /// Ends the stream on purpose.
    func closeWatch() {
        let wasStarted = watch.isStarted
        stopWatch()
        if wasStarted, listening.isEmpty { setOnline(.unknown) }
    }

    func stopWatch() {
        if watch == .open || watch == .opening { emit(.closeWatch) }
        watch = .stopped
        watchFailures = 0
        isWatchOverloaded = false
        aggregator = WatchAggregator()
        emit(.cancel(.watchBackoff))
        emit(.cancel(.watchIdle))
    }

    func watchOpened() {
        guard watch == .opening else { return }
        watch = .open
        for id in listening.keys.sorted() { add(listening[id]!) }
    }

    func watchClosed(_ error: StorageError?) {
        guard watch == .open || watch == .opening else { return }
        watch = .stopped
        aggregator = WatchAggregator()
        emit(.cancel(.watchIdle))
        guard canUseNetwork, !listening.isEmpty else {
            watchFailures = 0
            setOnline(.unknown)
            return
        }
        // The first refusal triggers a request for a new token; if there is none, that is final.
        if endsWithSession, let error, error.code == .unauthenticated, !error.isRetryable {
            return endListeners(because: error)
        }
        if error != nil {
            watchFailures += 1
            lastWatchError = error
            isWatchOverloaded = error?.code == .resourceExhausted
        }
        apply(online.streamFailed())
        onlineStateChanged()
        announceTrouble()
        startWatch()
    }

    func endListeners(because error: StorageError) {
        // As during a pause: look-ups in between do not open a stream.
        watch = .waiting
        for id in listeners.keys.sorted() {
            unlisten(id)
            emit(.listenFailed(id, error))
        }
        stopWatch()
        setOnline(.unknown)
    }

    // MARK: Messages from the server

    func watched(_ event: WatchEvent) {
        guard watch == .open else { return }
        watchFailures = 0
        isWatchOverloaded = false
        setOnline(.online)
        if case .removed(let ids, let cause?) = event {
            for id in ids {
                // The server never answers a request to remove a target that it has already refused.
                if listening[id] != nil { reject(id, cause) } else { aggregator.forget(id) }
            }
            return
        }
        aggregator.handle(event, self)
        guard case .snapshot(let version, _) = event, version >= local.globals.lastSnapshotVersion else { return }
        raise(at: version)
    }

    private func raise(at version: Timestamp) {
        let before = listening
        let event = aggregator.remoteEvent(at: version, self)
        for (id, change) in event.targetChanges where !change.resumeToken.isEmpty {
            listening[id]?.resumeToken = change.resumeToken
            listening[id]?.readTime = version
        }
        for id in event.mismatches.keys.sorted() {
            guard var target = listening[id] else { continue }
            target.resumeToken = []
            target.readTime = nil
            listening[id] = target
            aggregator.noteRequest(for: id)
            emit(.sendWatch(.remove(id)))
            add(target, as: event.mismatches[id])
        }
        do throws(StorageError) {
            try apply(event)
        } catch {
            // As if the event had never arrived: with the older tokens, the server sends it again.
            listening = before
            waitForStore()
        }
    }

    private func apply(_ event: RemoteEvent) throws(StorageError) {
        let changes = try local.apply(event)
        for (id, change) in event.targetChanges { limbo.note(change, for: id) }
        raise(changes, event)
    }

    /// The server refused or removed a target.
    private func reject(_ id: Int, _ error: StorageError) {
        if let path = limbo.paths[id] {
            // It cannot be looked up, so its existence cannot be confirmed.
            var event = RemoteEvent(version: .never)
            event.documents = [.missing(path, version: .never)]
            do throws(StorageError) { try apply(event) } catch { return waitForStore() }
            listening[id] = nil
            aggregator.forget(id)
            _ = limbo.end(path)
            startLookUps()
        } else {
            local.forceRelease(id)
            listening[id] = nil
            aggregator.forget(id)
            forget(id, because: error)
        }
    }

    // MARK: Limbo

    func trackLimbo(_ outcome: View.Outcome, of target: Int) {
        for path in outcome.limboRemoved where limbo.remove(path, by: target) { endLookUp(of: path) }
        for path in outcome.limboAdded { limbo.add(path, by: target) }
        startLookUps()
    }

    func endLookUp(of path: StoragePath) {
        if let id = limbo.end(path) { stopWatching(id) }
        startLookUps()
    }

    private func startLookUps() {
        while let (id, path) = limbo.next(limit: maximumLimboResolutions) {
            startWatching(TargetRequest(id: id, target: .document(path), purpose: .limboResolution))
        }
    }
}
