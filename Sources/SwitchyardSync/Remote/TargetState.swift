import Switchyard

/// The events of one stream for one target since the last snapshot.
final class TargetState {
    enum Change { case added, modified, removed }

    private let id: Int
    var pendingResponses = 0
    private(set) var isCurrent = false
    /// Whether it became current in this snapshot: from then on, everything not mentioned is unchanged.
    private(set) var isNewlyCurrent = false
    private var resumeToken: [UInt8] = []
    private var changes: [StoragePath: Change] = [:]
    private var results: [StoragePath]?
    /// The keys confirmed as of the last snapshot; computed on first use.
    private var confirmed: Set<StoragePath>?
    /// Initially true: even a target without documents has to be reported.
    private(set) var hasChanges = true

    init(_ id: Int) { self.id = id }

    func noteResponse() { pendingResponses = max(0, pendingResponses - 1) }

    func update(_ token: [UInt8]) {
        guard !token.isEmpty else { return }
        hasChanges = true
        resumeToken = token
    }

    func markCurrent() {
        hasChanges = true
        isCurrent = true
        isNewlyCurrent = true
    }

    func note(_ path: StoragePath, _ change: Change?) {
        hasChanges = true
        changes[path] = change
    }

    func note(results: [StoragePath]) {
        hasChanges = true
        self.results = results
    }

    /// What is listed is a result, and nothing else is.
    func settleResults(_ targets: some TargetLookup) {
        guard let results else { return }
        let confirmed = confirmed(targets)
        let listed = Set(results)
        for path in listed {
            switch changes[path] {
            case .added, .modified: break
            case .removed, nil: changes[path] = confirmed.contains(path) ? nil : .added
            }
        }
        for path in changes.keys where !listed.contains(path) {
            changes[path] = confirmed.contains(path) ? .removed : nil
        }
        for path in confirmed where !listed.contains(path) { changes[path] = .removed }
    }

    /// Starts over under the same ID.
    func restart() {
        discardChanges()
        isCurrent = false
    }

    func discardChanges() {
        hasChanges = false
        changes = [:]
        results = nil
        confirmed = nil
        isNewlyCurrent = false
    }

    /// Cached, because it does not change between two snapshots and is costly to look up for each document.
    func confirmed(_ targets: some TargetLookup) -> Set<StoragePath> {
        if let confirmed { return confirmed }
        let keys = targets.confirmedKeys(of: id)
        confirmed = keys
        return keys
    }

    /// Drops the cached keys before their owner changes them, to avoid a copy.
    func endWindow() { confirmed = nil }

    /// Additions less removals.
    var balance: Int {
        changes.values.reduce(0) { $0 + ($1 == .added ? 1 : $1 == .removed ? -1 : 0) }
    }

    func takeChanges() -> TargetChange {
        var result = TargetChange(resumeToken: resumeToken, isCurrent: isCurrent)
        result.results = results
        result.added.reserveCapacity(changes.values.count { $0 == .added })
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

/// The documents received between two snapshots, each once.
struct ReceivedDocuments {
    private var all: [ReceivedDocument] = []
    private var places: [StoragePath: Int] = [:]

    subscript(path: StoragePath) -> ReceivedDocument? { places[path].map { all[$0] } }

    mutating func take(_ document: CachedDocument, for id: Int) {
        func value(_ place: inout Int) -> Int { place }
        let place = value(&places[document.path, default: all.count])
        if place == all.count {
            all.append(ReceivedDocument(document: document, id))
        } else {
            all[place].take(document, for: id)
        }
    }

    /// In the order in which they arrived first; none are left.
    mutating func takeAll(readAt time: Timestamp) -> [CachedDocument] {
        defer { self = ReceivedDocuments() }
        return all.map {
            var document = $0.document
            document.readTime = time
            return document
        }
    }
}

/// A document received between two snapshots, or its absence, and its targets.
struct ReceivedDocument {
    private(set) var document: CachedDocument
    private(set) var targets: TargetIDs

    init(document: CachedDocument, _ id: Int) {
        self.document = document
        targets = TargetIDs(id)
    }

    /// Within one window the newest version of a document wins, whatever its target and order of arrival.
    mutating func take(_ other: CachedDocument, for id: Int) {
        targets.insert(id)
        // A deletion without a version always wins: it means that nothing is known.
        if other.version == .never || other.version >= document.version { document = other }
    }
}

/// A set of targets, which has one element for almost every document.
struct TargetIDs {
    private let first: Int
    private var others: Set<Int>?

    init(_ id: Int) { first = id }

    mutating func insert(_ id: Int) {
        if id != first { others = (others ?? []).union([id]) }
    }

    func contains(_ id: Int) -> Bool { id == first || others?.contains(id) ?? false }
}
