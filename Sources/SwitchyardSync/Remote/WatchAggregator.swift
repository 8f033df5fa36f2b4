import Switchyard

/// Information about targets that the aggregator does not store itself.
protocol TargetLookup {
    func isWatched(_ id: Int) -> Bool
    /// The target with that ID, if it is watched.
    func watched(_ id: Int) -> TargetRequest?
    /// The documents that the server had confirmed for a target as of the last snapshot.
    func confirmedKeys(of id: Int) -> Set<StoragePath>
    /// Whether this device has learned of the document in another way since the target was requested: through an acknowledged
    /// local write, or a look-up.
    func hasLearnt(of path: StoragePath, since id: Int) -> Bool
}

/// Collects the events of one stream until a snapshot makes them visible.
///
/// There is a new one for each stream. Events for a target with an unanswered request belong to an earlier incarnation of
/// that target and are ignored.
struct WatchAggregator {
    private var states: [Int: TargetState] = [:]
    private var received = ReceivedDocuments()
    private var mismatches: [Int: TargetRequest.Purpose] = [:]

    /// A request to add or remove a target was sent.
    mutating func noteRequest(for id: Int) { state(of: id).pendingResponses += 1 }

    mutating func forget(_ id: Int) { states[id] = nil }

    mutating func handle(_ event: WatchEvent, _ targets: some TargetLookup) {
        switch event {
        case .added(let ids, let token):
            for state in scope(ids, targets).map({ state(of: $0) }) {
                state.noteResponse()
                if state.pendingResponses == 0 { state.restart() }
                state.update(token)
            }
        case .removed(let ids, _):
            for id in scope(ids, targets) {
                state(of: id).noteResponse()
                if state(of: id).pendingResponses == 0 { states[id] = nil }
            }
        case .current(let ids, let token):
            for state in scope(ids, targets).compactMap({ active($0, targets) }) {
                state.markCurrent()
                state.update(token)
            }
        case .reset(let ids, let token):
            for id in scope(ids, targets) where active(id, targets) != nil { reset(id, targets).update(token) }
        case .token(let ids, let token):
            for id in scope(ids, targets) { active(id, targets)?.update(token) }
        case .snapshot(_, let token):
            for id in scope([], targets) { states[id]?.update(token) }
        case .changed(let snapshot, let added, let removed, let tag):
            let document = CachedDocument(
                snapshot, missingSince: snapshot.updateTime ?? .never, readTime: .never, tag: tag)
            for id in added {
                if document.state == .found {
                    add(document, to: id, targets)
                } else {
                    remove(document.path, from: id, document, targets)
                }
            }
            for id in removed { remove(document.path, from: id, document, targets) }
        case .deleted(let path, let version, let removed):
            for id in removed { remove(path, from: id, .missing(path, version: version), targets) }
        case .left(let path, let removed):
            for id in removed { remove(path, from: id, nil, targets) }
        case .filter(let id, let count, let unchanged):
            compare(id, count: count, unchanged, targets)
        case .results(let id, let paths): active(id, targets)?.note(results: paths)
        }
    }

    /// Everything since the last snapshot, as an event at `version`.
    mutating func remoteEvent(at version: Timestamp, _ targets: some TargetLookup) -> RemoteEvent {
        var event = RemoteEvent(version: version)
        for id in states.keys.sorted() {
            guard var state = active(id, targets) else { continue }
            // The server does not mention a document that never existed; a complete target without it means that it is
            // missing.
            if case .document(let path)? = targets.watched(id)?.target, state.isCurrent,
                received[path]?.targets.contains(id) != true, !state.confirmed(targets).contains(path)
            {
                let isLookUp = targets.watched(id)?.purpose == .limboResolution
                let isFound = received[path]?.document.state == .found
                if !isLookUp, isFound || state.isNewlyCurrent && targets.hasLearnt(of: path, since: id) {
                    // It exists, as learned in another way: this target's answer is older than that, so it is requested
                    // again.
                    state = reset(id, targets)
                    mismatches[id] = .existenceFilterMismatch
                } else if isLookUp || state.isNewlyCurrent {
                    remove(path, from: id, .missing(path, version: version), targets)
                }
            }
            state.settleResults(targets)
            if state.hasChanges { event.targetChanges[id] = state.takeChanges() }
        }
        event.documents = received.takeAll(readAt: version)
        event.mismatches = mismatches.filter { active($0.key, targets) != nil }
        for state in states.values { state.endWindow() }
        mismatches = [:]
        return event
    }

    // MARK: One target

    private func scope(_ ids: [Int], _ targets: some TargetLookup) -> [Int] {
        ids.isEmpty ? states.keys.filter { active($0, targets) != nil }.sorted() : ids
    }

    private mutating func state(of id: Int) -> TargetState {
        if let state = states[id] { return state }
        let state = TargetState(id)
        states[id] = state
        return state
    }

    /// The state of a target, if it is watched and has no unanswered request.
    private func active(_ id: Int, _ targets: some TargetLookup) -> TargetState? {
        guard let state = states[id], state.pendingResponses == 0, targets.isWatched(id) else { return nil }
        return state
    }

    private mutating func add(_ document: CachedDocument, to id: Int, _ targets: some TargetLookup) {
        guard let state = active(id, targets) else { return }
        state.note(document.path, state.confirmed(targets).contains(document.path) ? .modified : .added)
        received.take(document, for: id)
    }

    /// - Parameter document: Its current state, if known.
    private mutating func remove(
        _ path: StoragePath, from id: Int, _ document: CachedDocument?, _ targets: some TargetLookup
    ) {
        guard let state = active(id, targets) else { return }
        // A document that came and went between two snapshots does not appear at all.
        state.note(path, state.confirmed(targets).contains(path) ? .removed : nil)
        if let document { received.take(document, for: id) }
    }

    /// - Returns: The state with which the target starts over.
    @discardableResult
    private mutating func reset(_ id: Int, _ targets: some TargetLookup) -> TargetState {
        let state = TargetState(id)
        states[id] = state
        for path in state.confirmed(targets) { remove(path, from: id, nil, targets) }
        return state
    }

    // MARK: Existence filters

    private mutating func compare(_ id: Int, count: Int, _ unchanged: BloomFilter?, _ targets: some TargetLookup) {
        guard let state = active(id, targets) else { return }
        if case .document(let path)? = targets.watched(id)?.target {
            if count == 0 { remove(path, from: id, .missing(path, version: .never), targets) }
            return
        }
        let confirmed = state.confirmed(targets)
        let own = confirmed.count + state.balance
        guard own != count else { return }
        guard let unchanged, !unchanged.isEmpty else {
            reset(id, targets)
            mismatches[id] = .existenceFilterMismatch
            return
        }
        let gone = confirmed.filter { !unchanged.mightContain($0) }
        for path in gone { remove(path, from: id, nil, targets) }
        if own - gone.count != count {
            reset(id, targets)
            mismatches[id] = .existenceFilterMismatchBloom
        }
    }
}

/// All changes from the server between two snapshots, for all targets.
struct RemoteEvent {
    /// `.never` for a local event that is not a snapshot.
    var version: Timestamp
    var targetChanges: [Int: TargetChange] = [:]
    /// Targets whose confirmed documents are no longer valid, and the purpose with which they are requested again.
    var mismatches: [Int: TargetRequest.Purpose] = [:]
    /// Each once.
    var documents: [CachedDocument] = []
}

/// What changed for one target.
struct TargetChange {
    var resumeToken: [UInt8] = []
    var isCurrent = false
    var added: Set<StoragePath> = []
    var modified: Set<StoragePath> = []
    var removed: Set<StoragePath> = []
    /// All results in the target's order, if the server said them.
    var results: [StoragePath]?
}

/// The state of the connection.
package enum OnlineState: Sendable, Hashable {
    /// Connecting, or no connection is needed.
    case unknown
    case online
    /// An attempt failed or took too long, or the network is switched off: listeners are served from the cache.
    case offline
}

/// Decides when the connection counts as lost: after one failure, or 10 s without an answer.
struct OnlineStateTracker {
    private(set) var state = OnlineState.unknown
    private var failures = 0

    enum TimerChange { case none, start, cancel }

    /// The stream of changes is about to be opened.
    mutating func streamStarts() -> TimerChange {
        guard failures == 0 else { return .none }
        state = .unknown
        return .start
    }

    /// The stream broke while it was needed.
    mutating func streamFailed() -> TimerChange {
        guard state != .online else {
            state = .unknown
            return .none
        }
        failures += 1
        state = .offline
        return .cancel
    }

    /// A message may have arrived at the same moment.
    mutating func timedOut() {
        if state == .unknown { state = .offline }
    }

    /// Sets a state that is certain, or resets it.
    mutating func set(_ new: OnlineState) -> TimerChange {
        failures = 0
        state = new
        return .cancel
    }
}
