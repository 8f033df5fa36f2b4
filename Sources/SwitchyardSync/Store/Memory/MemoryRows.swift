import Switchyard

/// The rows of a ``MemoryStore``: dictionaries, and an undo step for each change.
final class MemoryRows: StoreRows {
    private(set) var globals = StoreGlobals()
    var targetsByID: [Int: TargetRecord] = [:]
    var targetIDs: [WatchTarget: Int] = [:]
    var confirmed: [Int: Set<StoragePath>] = [:]
    /// The number of targets that have confirmed a document.
    var confirmations: [StoragePath: Int] = [:]
    var documents: [StoragePath: CachedDocument] = [:]
    var collections: [CollectionPath: MemoryCollection] = [:]
    /// The collection of the last document put: the next one is likely in it too.
    var lastCollection: MemoryCollection?
    var documentBytes: Int64 = 0
    var sequenceNumbers: [StoragePath: Int64] = [:]
    var queues: [QueueOwner: MemoryQueue] = [:]
    /// The number of batches, of all users, that write to a document.
    var batchCounts: [StoragePath: Int] = [:]
    private var bundles: [UTF8Key: BundleRecord] = [:]
    private var namedQueries: [UTF8Key: NamedQueryRecord] = [:]

    private var journal: [Change] = []

    /// How to undo one change of the transaction.
    private enum Change {
        /// A document, which was there or was not: without closures and small, since there are many.
        case added(StoragePath)
        indirect case replaced(CachedDocument)
        case other(undo: () -> Void)
    }

    func commit() { journal.removeAll(keepingCapacity: journal.count < 64) }

    func rollBack() {
        let undo = journal
        journal = []
        for change in undo.reversed() {
            switch change {
            case .added(let path): setDocument(nil, at: path, replacing: documents[path])
            case .replaced(let before): setDocument(before, at: before.path, replacing: documents[before.path])
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

    func setSequenceNumber(_ number: Int64, of paths: some Collection<StoragePath>) {
        var before: [(path: StoragePath, number: Int64?)] = []
        before.reserveCapacity(paths.count)
        for path in paths {
            let old = sequenceNumbers.updateValue(number, forKey: path)
            if let old, old > number { sequenceNumbers[path] = old } else { before.append((path, old)) }
        }
        undo { [unowned self, before] in for (path, old) in before.reversed() { sequenceNumbers[path] = old } }
    }

    func setSequence(_ number: Int64?, of path: StoragePath) {
        let old = sequenceNumbers[path]
        guard old != number else { return }
        undo { [unowned self] in sequenceNumbers[path] = old }
        sequenceNumbers[path] = number
    }

    func orphans(upTo bound: Int64) -> [(path: StoragePath, sequenceNumber: Int64)] {
        sequenceNumbers.filter { $0.value <= bound && confirmations[$0.key] == nil }
            .map { (path: $0.key, sequenceNumber: $0.value) }
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
