import Switchyard

/// One transaction of the local store: its rows, its sequence number, and the documents that may be unreferenced at its end.
final class LocalTransaction {
    let rows: any StoreRows
    let owner: QueueOwner
    var globals: StoreGlobals
    /// The targets in use, with their newest tokens; replaces the store's when the transaction succeeds.
    var active: [Int: TargetRecord]
    let pins: PinnedDocuments
    let hidesDocuments: Bool
    let usesTags: Bool
    /// `nil` for a driver that makes no names.
    let provisional: ProvisionalNames?
    let isEager: Bool
    private var orphanCandidates = Set<StoragePath>()
    private let original: StoreGlobals

    init(
        rows: any StoreRows, owner: QueueOwner, globals: StoreGlobals, active: [Int: TargetRecord],
        pins: PinnedDocuments, policy: CachePolicy, hidesDocuments: Bool, usesTags: Bool, provisional: ProvisionalNames?
    ) {
        self.provisional = provisional
        self.hidesDocuments = hidesDocuments
        self.usesTags = usesTags
        self.rows = rows
        self.owner = owner
        self.globals = globals
        original = globals
        self.active = active
        self.pins = pins
        isEager = policy == .eager
    }

    /// Allocated at first use: most reads need none.
    var sequenceNumber: Int64 {
        if globals.highestSequenceNumber == original.highestSequenceNumber { globals.highestSequenceNumber += 1 }
        return globals.highestSequenceNumber
    }

    /// Call this whenever a document may have lost its last reference, or never had one.
    ///
    /// A document kept by a target needs no number of its own: the target has one.
    func noteUse(of path: StoragePath) throws(StorageError) {
        if isEager {
            orphanCandidates.insert(path)
        } else {
            try rows.setSequenceNumber(sequenceNumber, of: [path])
        }
    }

    func noteUse(of paths: [StoragePath]) throws(StorageError) {
        if isEager {
            orphanCandidates.formUnion(paths)
        } else if !paths.isEmpty {
            try rows.setSequenceNumber(sequenceNumber, of: paths)
        }
    }

    /// What is stored of documents besides their contents; does what ``noteUse(of:)`` does, too.
    func headsNotingUse(of paths: [StoragePath]) throws(StorageError) -> [CachedDocument.Head?] {
        guard isEager else { return try rows.heads(at: paths, numbering: paths.isEmpty ? nil : sequenceNumber) }
        try noteUse(of: paths)
        return try rows.heads(at: paths, numbering: nil)
    }

    func put(_ document: CachedDocument, replacing old: CachedDocument?) throws(StorageError) {
        try rows.putDocument(document, replacing: old)
        noteVersion(document.version)
        if isEager { orphanCandidates.insert(document.path) }
    }

    func noteVersion(_ version: Timestamp) {
        if version > globals.highestVersion { globals.highestVersion = version }
    }

    func confirm(_ added: Set<StoragePath>, _ removed: Set<StoragePath>, of target: Int) throws(StorageError) {
        try rows.removeConfirmed(removed, from: target)
        try rows.addConfirmed(added, to: target)
        for path in removed { try noteUse(of: path) }
    }

    /// Whether a document stored now outlives the transaction.
    func keeps(_ path: StoragePath) throws(StorageError) -> Bool { isEager ? try isReferenced(path) : true }

    private func isReferenced(_ path: StoragePath) throws(StorageError) -> Bool {
        if pins.contains(path) { return true }
        if try rows.isConfirmed(path) { return true }
        return try rows.hasBatch(touching: path)
    }

    /// Drops unreferenced documents, and writes the changed numbers.
    func finish() throws(StorageError) {
        for path in orphanCandidates where try !isReferenced(path) { try rows.removeDocument(at: path) }
        if globals != original { try rows.setGlobals(globals) }
    }
}
