import Switchyard

/// What the aggregator must know about targets, and does not keep itself.
protocol WatchedTargets {
    func isConfirmed(_ path: StoragePath, for id: Int) -> Bool
    /// The target of that name, if it is watched.
    func watched(_ id: Int) -> WatchedTarget?
    /// The documents that the server had confirmed for a target as of the last snapshot.
    func confirmedKeys(of id: Int) -> Set<StoragePath>
}

/// Collects what one stream tells until a snapshot makes it visible.
///
/// Made anew for each stream. Events for a target with an unanswered request are about an earlier life of that target and
/// are passed over.
struct WatchAggregator {
    private var states: [Int: TargetState] = [:]
    private var documents: [StoragePath: CachedDocument] = [:]
    /// The targets for which a document, or its absence, was received.
    private var receivers: [StoragePath: TargetIDs] = [:]
    /// The targets that had anything to do with a document.
    private var concerned: [StoragePath: TargetIDs] = [:]
    private var mismatches: [Int: WatchedTarget.Purpose] = [:]

    /// A request to add or remove a target was sent.
    mutating func noteRequest(for id: Int) { states[id, default: TargetState()].pendingResponses += 1 }

    mutating func forget(_ id: Int) { states[id] = nil }

    mutating func handle(_ event: WatchEvent, _ targets: some WatchedTargets) {
        switch event {
        case .added(let ids, let token):
            for id in scope(ids, targets) {
                states[id, default: TargetState()].noteResponse()
                if states[id]!.pendingResponses == 0 { states[id]!.discardChanges() }
                states[id]!.update(token)
            }
        case .removed(let ids, _):
            for id in scope(ids, targets) {
                states[id, default: TargetState()].noteResponse()
                if states[id]!.pendingResponses == 0 { states[id] = nil }
            }
        case .current(let ids, let token):
            for id in scope(ids, targets) where isActive(id, targets) {
                states[id]!.markCurrent()
                states[id]!.update(token)
            }
        case .reset(let ids, let token):
            for id in scope(ids, targets) where isActive(id, targets) {
                reset(id, targets)
                states[id]!.update(token)
            }
        case .token(let ids, let token):
            for id in scope(ids, targets) where isActive(id, targets) { states[id]!.update(token) }
        case .snapshot(_, let token):
            for id in scope([], targets) { states[id]!.update(token) }
        case .changed(let snapshot, let added, let removed):
            let document = CachedDocument(snapshot, missingSince: snapshot.updateTime ?? .never, readTime: .never)
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
        }
    }

    /// Everything since the last snapshot, for that of `version`.
    mutating func remoteEvent(at version: Timestamp, _ targets: some WatchedTargets) -> RemoteEvent {
        var event = RemoteEvent(version: version)
        for id in states.keys.sorted() {
            guard let watched = active(id, targets) else { continue }
            // The server says nothing about a document that it never had: a complete target without it means that.
            if case .document(let path) = watched.target, states[id]!.isCurrent,
                receivers[path]?.contains(id) != true, !targets.isConfirmed(path, for: id)
            {
                remove(path, from: id, .missing(path, version: version), targets)
            }
            if states[id]!.hasChanges { event.targetChanges[id] = states[id]!.takeChanges() }
        }
        for (path, ids) in concerned
        where ids.allSatisfy({ active($0, targets).map { $0.purpose == .limboResolution } ?? true }) {
            event.resolvedLimbo.insert(path)
        }
        event.documents = documents.mapValues {
            var document = $0
            document.readTime = version
            return document
        }
        event.mismatches = mismatches
        documents = [:]
        receivers = [:]
        concerned = [:]
        mismatches = [:]
        return event
    }

    // MARK: One target

    private func scope(_ ids: [Int], _ targets: some WatchedTargets) -> [Int] {
        ids.isEmpty ? states.keys.filter { isActive($0, targets) }.sorted() : ids
    }

    private func active(_ id: Int, _ targets: some WatchedTargets) -> WatchedTarget? {
        guard let state = states[id], state.pendingResponses == 0 else { return nil }
        return targets.watched(id)
    }

    private func isActive(_ id: Int, _ targets: some WatchedTargets) -> Bool { active(id, targets) != nil }

    private mutating func add(_ document: CachedDocument, to id: Int, _ targets: some WatchedTargets) {
        guard isActive(id, targets) else { return }
        let isKnown = targets.isConfirmed(document.path, for: id)
        states[id]!.note(document.path, isKnown ? .modified : .added)
        keep(document)
        receivers[document.path, default: TargetIDs(id)].insert(id)
        concerned[document.path, default: TargetIDs(id)].insert(id)
    }

    /// - Parameter document: What is known of it now, if anything.
    private mutating func remove(
        _ path: StoragePath, from id: Int, _ document: CachedDocument?, _ targets: some WatchedTargets
    ) {
        guard isActive(id, targets) else { return }
        // One that came and went between two snapshots was never there.
        states[id]!.note(path, targets.isConfirmed(path, for: id) ? .removed : nil)
        concerned[path, default: TargetIDs(id)].insert(id)
        if let document {
            keep(document)
            receivers[path, default: TargetIDs(id)].insert(id)
        }
    }

    /// Within one window the newest word on a document counts, whichever target it came for and in which order.
    private mutating func keep(_ document: CachedDocument) {
        // A deletion without a version is always believed: it says that nothing is known.
        if document.version != .never, let other = documents[document.path], other.version > document.version { return }
        documents[document.path] = document
    }

    private mutating func reset(_ id: Int, _ targets: some WatchedTargets) {
        states[id] = TargetState()
        for path in targets.confirmedKeys(of: id) { remove(path, from: id, nil, targets) }
    }

    // MARK: Existence filters

    private mutating func compare(_ id: Int, count: Int, _ unchanged: BloomFilter?, _ targets: some WatchedTargets) {
        guard let watched = active(id, targets) else { return }
        if case .document(let path) = watched.target {
            if count == 0 { remove(path, from: id, .missing(path, version: .never), targets) }
            return
        }
        let confirmed = targets.confirmedKeys(of: id)
        let own = confirmed.count + states[id]!.balance
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

/// What one stream has told about one target since the last snapshot.
private struct TargetState {
    enum Change { case added, modified, removed }

    var pendingResponses = 0
    private(set) var isCurrent = false
    private var resumeToken: [UInt8] = []
    private var changes: [StoragePath: Change] = [:]
    /// True at first: also a target without documents has something to say.
    private(set) var hasChanges = true

    mutating func noteResponse() { pendingResponses = max(0, pendingResponses - 1) }

    mutating func update(_ token: [UInt8]) {
        guard !token.isEmpty else { return }
        hasChanges = true
        resumeToken = token
    }

    mutating func markCurrent() {
        hasChanges = true
        isCurrent = true
    }

    mutating func note(_ path: StoragePath, _ change: Change?) {
        hasChanges = true
        changes[path] = change
    }

    mutating func discardChanges() {
        hasChanges = false
        changes = [:]
    }

    /// Additions less removals.
    var balance: Int {
        changes.values.reduce(0) { $0 + ($1 == .added ? 1 : $1 == .removed ? -1 : 0) }
    }

    mutating func takeChanges() -> TargetChange {
        var result = TargetChange(resumeToken: resumeToken, isCurrent: isCurrent)
        for (path, change) in changes {
            switch change {
            case .added: result.added.insert(path)
            case .modified: result.modified.insert(path)
            case .removed: result.removed.insert(path)
            }
        }
        discardChanges()
        return result
    }
}

/// A set of targets, which has one element for almost every document.
private struct TargetIDs {
    private let first: Int
    private var others: Set<Int>?

    init(_ id: Int) { first = id }

    mutating func insert(_ id: Int) {
        if id != first { others = (others ?? []).union([id]) }
    }

    func contains(_ id: Int) -> Bool { id == first || others?.contains(id) ?? false }

    func allSatisfy(_ condition: (Int) -> Bool) -> Bool {
        condition(first) && (others?.allSatisfy(condition) ?? true)
    }
}
