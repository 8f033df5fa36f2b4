import Switchyard

extension SyncMachine {
    func setOnline(_ state: OnlineState) {
        apply(online.set(state))
        onlineStateChanged()
    }

    func apply(_ change: OnlineStateTracker.TimerChange) {
        switch change {
        case .none: break
        case .start: emit(.schedule(.onlineState, .seconds(10)))
        case .cancel: emit(.cancel(.onlineState))
        }
    }

    /// Notifies views and listeners if the state has changed.
    func onlineStateChanged() {
        guard online.state != announcedOnlineState else { return }
        announcedOnlineState = online.state
        var snapshots: [ViewSnapshot] = []
        if online.state == .offline {
            for target in queriesByTarget.keys.sorted() {
                for query in queriesByTarget[target] ?? [] {
                    if let snapshot = views[query]?.view.goOffline() { snapshots.append(snapshot) }
                }
            }
        }
        var hasRaised = false
        for id in listeners.keys.sorted() {
            guard let snapshot = listeners[id]?.onlineStateChanged(online.state, trouble) else { continue }
            emit(.snapshot(id, snapshot))
            hasRaised = true
        }
        if hasRaised { emitInSync() }
        deliver(snapshots)
    }

    /// The error of the stream of changes, until it is open again.
    var trouble: StorageError? { watchFailures > 0 ? lastWatchError : nil }

    /// Tells listeners that show cached results why they do.
    func announceTrouble() {
        guard let trouble else { return }
        for id in listeners.keys.sorted() {
            if let snapshot = listeners[id]?.failed(trouble) { emit(.snapshot(id, snapshot)) }
        }
    }

    func setNetwork(_ isEnabled: Bool) {
        isNetworkEnabled = isEnabled
        if isEnabled {
            enableNetwork()
        } else {
            stopStreams()
            setOnline(.offline)
        }
    }

    func stopStreams() {
        stopWriter()
        stopWatch()
    }

    func enableNetwork() {
        guard canUseNetwork else { return }
        if listening.isEmpty { setOnline(.unknown) } else { startWatch() }
        fillPipeline()
    }

    /// Whether the store uses the queue of the current user.
    var isOwnerPresent: Bool { wantedOwner == local.owner }

    /// Users see only their own queue, and no one else's writes are added to it.
    func checkOwner() throws(StorageError) {
        guard !isOwnerPresent else { return }
        throw StorageError(
            .localStore,
            "The queue of the user who signed in cannot be opened: what is kept on this device cannot be written at the "
                + "moment. Try again later.", isRetryable: true)
    }

    func setUser(_ owner: QueueOwner) {
        wantedOwner = owner
        // At once, even if the rest has to wait for the store: the streams still act for the previous user.
        restartStreams()
        attempt { [unowned self] () throws(StorageError) in
            restartStreams()
            guard owner != local.owner else { return }
            let changes = try local.changeOwner(to: owner)
            let error = StorageError(.cancelled, "Another user signed in while the call was waiting.")
            for wait in waiting.queue { emit(.waitFinished(wait.token, .failure(error))) }
            waiting.queue = []
            emit(.queueChanged(.replaced))
            emit(.refusedChanged())
            raise(changes)
        }
        enableNetwork()
    }

    /// Ends both streams; ``enableNetwork()`` opens them again.
    private func restartStreams() {
        stopStreams()
        if canUseNetwork { setOnline(.unknown) }
    }

    // MARK: A store that fails

    /// Runs an operation on which communication with the server depends. While the store fails, the network is not used, and
    /// pending operations are retried in order; nothing is sent before all of them are done.
    func attempt(_ operation: @escaping () throws(StorageError) -> Void) {
        guard undone.isEmpty else {
            undone.append(operation)
            return
        }
        do throws(StorageError) {
            try operation()
        } catch {
            waitForStore(toDo: operation)
        }
    }

    /// No network until the store works, since what the server sends could not be saved.
    func waitForStore() {
        waitForStore { [local] () throws(StorageError) in try local.probe() }
    }

    func waitForStore(toDo operation: @escaping () throws(StorageError) -> Void) {
        undone.append(operation)
        isStoreFailing = true
        stopStreams()
        setOnline(.offline)
        emit(.schedule(.recovery, .backoff(attempt: 1, isOverloaded: false)))
    }

    /// One at a time, because each may be undone by the next.
    func recover() {
        guard let operation = undone.first else { return }
        do throws(StorageError) {
            try operation()
            undone.removeFirst()
            recoveries = 0
            isStoreFailing = false
        } catch {
            recoveries += 1
            emit(.schedule(.recovery, .backoff(attempt: recoveries, isOverloaded: false)))
            return
        }
        if !undone.isEmpty { emit(.schedule(.recovery, .seconds(0))) }
        enableNetwork()
    }
}
