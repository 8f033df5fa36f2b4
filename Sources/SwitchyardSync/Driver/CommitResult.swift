public import Switchyard

/// What the server answered to a batch.
public struct CommitResult: Sendable, Hashable {
    /// When the batch took effect.
    public var commitTime: Timestamp
    /// For each write, the document's version after it; `nil` stands for `commitTime`.
    public var updateTimes: [Timestamp?]
    /// For each write, the results of its transforms; for `nil`, the engine computes them from its cache.
    public var transformResults: [[DocumentValue]?]
    /// For each write, the document after it, if that need not be what was sent.
    public var outcomes: [WriteOutcome]
    /// The document that the batch added, if the server has made its name.
    package var added: StoragePath?

    /// Lists may be shorter than the batch; missing elements count as `nil`, and missing outcomes as ``WriteOutcome/asSent``.
    public init(
        commitTime: Timestamp, updateTimes: [Timestamp?] = [], transformResults: [[DocumentValue]?] = [],
        outcomes: [WriteOutcome] = []
    ) {
        self.commitTime = commitTime
        self.updateTimes = updateTimes
        self.transformResults = transformResults
        self.outcomes = outcomes
    }

    func outcome(ofWrite index: Int) -> WriteOutcome { index < outcomes.count ? outcomes[index] : .asSent }

    /// The documents whose contents are not computed from what was sent.
    func notAsSent(by writes: [DocumentWrite]) -> Set<StoragePath> {
        Set(outcomes.indices.prefix(writes.count).filter { outcomes[$0] != .asSent }.map { writes[$0].path })
    }

    /// The documents of which the server returned the contents.
    func returned(by writes: [DocumentWrite]) -> Set<StoragePath> {
        var paths: Set<StoragePath> = []
        for (index, outcome) in outcomes.enumerated() where index < writes.count {
            if case .returned = outcome { paths.insert(writes[index].path) } else { paths.remove(writes[index].path) }
        }
        return paths
    }
}

/// A document after a write that the server has carried out.
public enum WriteOutcome: Sendable, Hashable {
    /// The contents are those that the engine computes from the write and its cache.
    case asSent
    /// The server returned the document, as triggers, rounding or another writer left it, or a missing one. The cache takes
    /// this instead of what was sent, and later pending writes apply to it. The snapshot's own version is ignored: that of
    /// the ``CommitResult`` counts.
    case returned(DocumentSnapshot, tag: DocumentTag?)
    /// The write took effect, and the contents are not known until they are read.
    case unknown

    public func hash(into hasher: inout Hasher) {
        switch self {
        case .asSent: hasher.combine(0)
        case .returned(let document, let tag):
            hasher.combine(document.path)
            hasher.combine(tag)
        case .unknown: hasher.combine(1)
        }
    }
}
