import Switchyard

/// The rows of a ``MemoryStore``: dictionaries, and an undo step for each change.
final class MemoryRows: StoreRows {
    var areInKeyOrder: Bool { false }
    private(set) var globals = StoreGlobals()
    var targetsByID: [Int: TargetRecord] = [:]
    var targetIDs: [WatchTarget: Int] = [:]
    var confirmed: [Int: Set<StoragePath>] = [:]
    /// The number of targets that have confirmed a document.
    var confirmations: [StoragePath: Int] = [:]
    /// The documents and their sequence numbers.
    var documents: [StoragePath: MemoryDocument] = [:]
    var collections: [CollectionPath: MemoryCollection] = [:]
    /// The collection of the last document put: the next one is likely in it too.
    var lastCollection: MemoryCollection?
    var documentBytes: Int64 = 0
    var queues: [QueueOwner: MemoryQueue] = [:]
    /// The number of batches, of all users, that write to a document or wait for its name.
    var batchCounts: [StoragePath: Int] = [:]
    private var bundles: [UTF8Key: BundleRecord] = [:]
    private var namedQueries: [UTF8Key: NamedQueryRecord] = [:]

    private var journal: [Change] = []

    /// How to undo one change of the transaction.
    private enum Change {
        /// A document, which was there or was not: without closures and small, since there are many.
        case added(StoragePath)
        indirect case replaced(CachedDocument)
        /// The numbers that documents had, or -1.
        case numbered([StoragePath], [Int64])
        case other(undo: () -> Void)
    }

    func commit() { journal.removeAll(keepingCapacity: journal.count < 64) }

    func rollBack() {
        let undo = journal
        journal = []
        for step in undo.reversed() {
            switch step {
            case .added(let path): setDocument(nil, at: path, replacing: document(at: path))
            case .replaced(let before): setDocument(before, at: before.path, replacing: document(at: before.path))
            case .numbered(let paths, let numbers):
                for (path, number) in zip(paths, numbers).reversed() {
                    change(path) { $0.number = number < 0 ? nil : number }
                }
            case .other(let undo): undo()
            }
        }
        journal = []  // an undo notes what undoes itself
    }

    func undo(_ step: @escaping () -> Void) { journal.append(.other(undo: step)) }
    func noteDocument(_ before: CachedDocument?, at path: StoragePath) {
        journal.append(before.map { .replaced($0) } ?? .added(path))
    }

    func setGlobals(_ globals: StoreGlobals) {
        let old = self.globals
        undo { [unowned self] in self.globals = old }
        self.globals = globals
    }

    func setSequenceNumber(_ number: Int64, of paths: [StoragePath]) { _ = setNumber(number, of: paths) { _ in } }

    /// - Returns: What `read` makes of each.
    func setNumber<Result>(
        _ number: Int64, of paths: [StoragePath], _ read: (MemoryDocument) -> Result
    ) -> [Result] {
        var before: [Int64] = []
        var results: [Result] = []
        before.reserveCapacity(paths.count)
        results.reserveCapacity(paths.count)
        for path in paths {
            let entry = documents[path] ?? MemoryDocument()
            if entry.isEmpty { documents[path] = entry }
            before.append(entry.number ?? -1)
            entry.number = max(number, entry.number ?? number)
            results.append(read(entry))
        }
        journal.append(.numbered(paths, before))
        return results
    }

    func setSequence(_ number: Int64?, of path: StoragePath) {
        let old = documents[path]?.number
        guard old != number else { return }
        undo { [unowned self] in change(path) { $0.number = old } }
        change(path) { $0.number = number }
    }

    func orphans(upTo bound: Int64) -> [(path: StoragePath, sequenceNumber: Int64)] {
        documents.compactMap { path, entry in
            entry.number.flatMap { $0 <= bound && confirmations[path] == nil ? (path: path, sequenceNumber: $0) : nil }
        }
        .sorted { ($0.sequenceNumber, $0.path) < ($1.sequenceNumber, $1.path) }
    }

    func bundle(_ id: String) -> BundleRecord? { bundles[UTF8Key(id)] }

    func putBundle(_ record: BundleRecord) {
        let key = UTF8Key(record.id)
        let old = bundles[key]
        undo { [unowned self] in bundles[key] = old }
        bundles[key] = record
    }

    func namedQuery(_ name: String) -> NamedQueryRecord? { namedQueries[UTF8Key(name)] }

    func putNamedQuery(_ record: NamedQueryRecord) {
        let key = UTF8Key(record.name)
        let old = namedQueries[key]
        undo { [unowned self] in namedQueries[key] = old }
        namedQueries[key] = record
    }
}
