import Switchyard

/// What the server last said about a target's results where it decides them: their order, and as of when.
///
/// The results themselves are the confirmed documents of the view. Documents with writes that the server has not read back
/// have no rank of it, unless the write leaves them where they are: they are placed by the local order.
struct ServerWord {
    /// The snapshot of the last results. What is acknowledged later need not be among them.
    let version: Timestamp
    private var ranks: [StoragePath: Int] = [:]
    /// Ranked documents that a write of this device may have moved.
    private var displaced: Set<StoragePath> = []

    /// Without an order of the server's: results from the cache are in the local one.
    init(asOf version: Timestamp) { self.version = version }

    init(_ results: [StoragePath], asOf version: Timestamp) {
        self.version = version
        ranks.reserveCapacity(results.count)
        for (rank, path) in results.enumerated() { ranks[path] = rank }
    }

    /// Whether the document has an acknowledged write that the results need not include.
    func precedes(_ document: DocumentSnapshot) -> Bool {
        document.metadata.localState == .committed && document.updateTime ?? .never > version
    }

    /// Whether the server has decided about the document as it is.
    func covers(_ document: DocumentSnapshot) -> Bool {
        !document.metadata.hasPendingWrites && !precedes(document)
    }

    func isPlaced(_ path: StoragePath) -> Bool { ranks[path] != nil && !displaced.contains(path) }

    mutating func displace(_ path: StoragePath) { displaced.insert(path) }

    /// Notes that a document changed.
    ///
    /// - Parameter isMoved: Whether its local position may be another one.
    mutating func note(_ document: DocumentSnapshot, isMoved: Bool) {
        if covers(document) {
            if !displaced.isEmpty { displaced.remove(document.path) }
        } else if isMoved {
            displaced.insert(document.path)
        }
    }
}

extension ServerWord {
    /// The rank of a document that stands where the server placed it.
    private func rank(of path: StoragePath) -> Int? {
        guard let rank = ranks[path], displaced.isEmpty || !displaced.contains(path) else { return nil }
        return rank
    }

    /// Whether the server has placed the documents in the order in which they are.
    ///
    /// - Parameter isReversed: Whether the documents are in the reverse of the target's order.
    func agrees(with documents: DocumentList, isReversed: Bool) -> Bool {
        guard !ranks.isEmpty else { return true }
        var last: Int?
        for document in documents {
            guard let rank = rank(of: document.path) else { continue }
            if let last, (last < rank) == isReversed { return false }
            last = rank
        }
        return true
    }

    /// The same for one document and its neighbours.
    func agrees(at place: Int, in documents: DocumentList, isReversed: Bool) -> Bool {
        guard let own = rank(of: documents[place].path) else { return true }
        let before = (0..<place).reversed().lazy.compactMap { rank(of: documents[$0].path) }.first
        if let before, (before < own) == isReversed { return false }
        let after = (place + 1..<documents.count).lazy.compactMap { rank(of: documents[$0].path) }.first
        return after.map { (own < $0) != isReversed } ?? true
    }

    /// The documents in the server's order. Those that it has not placed come after the last one before them in the local
    /// order.
    ///
    /// - Parameters:
    ///   - documents: In the local order.
    ///   - evaluator: The local order.
    ///   - isReversed: Whether that is the reverse of the target's.
    func arranged(
        _ documents: some Sequence<DocumentSnapshot>, by evaluator: QueryEvaluator, isReversed: Bool
    ) -> [DocumentSnapshot] {
        var placed: [(rank: Int, document: DocumentSnapshot)] = []
        var others: [DocumentSnapshot] = []
        for document in documents {
            if let rank = rank(of: document.path) {
                placed.append((isReversed ? -rank : rank, document))
            } else {
                others.append(document)
            }
        }
        placed.sort { $0.rank < $1.rank }
        var result: [DocumentSnapshot] = []
        result.reserveCapacity(placed.count + others.count)
        // From the end: what comes after a document comes after every earlier one, too.
        var end = placed.count
        for document in others.reversed() {
            while end > 0, evaluator.ordering(placed[end - 1].document, document) != .before {
                end -= 1
                result.append(placed[end].document)
            }
            result.append(document)
        }
        while end > 0 {
            end -= 1
            result.append(placed[end].document)
        }
        return result.reversed()
    }

    /// The results of a read that the server decided, after writes of this device were applied.
    ///
    /// - Parameters:
    ///   - query: Without an offset.
    ///   - documents: In the server's order, as they look locally.
    ///   - pending: Other documents with pending writes that match.
    ///   - isCut: Whether more results may follow the last one.
    static func results(
        of query: Query, _ documents: [DocumentSnapshot], and pending: [DocumentSnapshot], isCut: Bool
    ) -> [DocumentSnapshot] {
        let evaluator = QueryEvaluator(query)
        var word = ServerWord(documents.map(\.path), asOf: .never)
        var all = pending
        for document in documents {
            if document.metadata.hasPendingWrites {
                guard evaluator.matches(document) else { continue }
                word.displace(document.path)
            } else if !document.exists {
                continue
            }
            all.append(document)
        }
        all = word.arranged(evaluator.inOrder(all), by: evaluator, isReversed: false)
        if isCut, let end = all.lastIndex(where: { word.isPlaced($0.path) }) { all.removeLast(all.count - 1 - end) }
        return all
    }
}
