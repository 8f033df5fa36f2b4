public import Switchyard
import SwitchyardBytes

/// What differs from the client of the side in use.
extension MovingStorageClient {
    public func document(_ path: StoragePath, from source: ReadSource) async throws(StorageError) -> DocumentSnapshot {
        let document = try await Routed(route).document(path, from: source)
        if comparesRead(source) { shadow.compare([path]) }
        return document
    }

    public func documents(
        _ paths: [StoragePath], from source: ReadSource
    ) async throws(StorageError) -> [DocumentSnapshot] {
        let documents = try await Routed(route).documents(paths, from: source)
        if comparesRead(source) { shadow.compare(paths) }
        return documents
    }

    public func documents(_ query: Query, from source: ReadSource) async throws(StorageError) -> QuerySnapshot {
        let results = try await Routed(route).documents(query, from: source)
        if comparesRead(source) { shadow.compare(query) }
        return results
    }

    private func comparesRead(_ source: ReadSource) -> Bool {
        let control = feed.control
        return control.phase == .shadowRead && source != .cache && Double.random(in: 0..<1) < control.sample
    }

    public func commit(_ batch: WriteBatch) async throws(StorageError) -> WriteReceipt {
        try await gate.pass { () async throws(StorageError) in try await Routed(route).commit(batch) }
    }

    /// Begins again on the other side if the phase changes meanwhile.
    public func transaction<Result: Sendable>(
        _ options: TransactionOptions, _ body: @Sendable (StorageTransaction) async throws -> Result
    ) async throws(StorageError) -> Result {
        while true {
            do throws(StorageError) {
                return try await gate.pass { () async throws(StorageError) in
                    try await Routed(route).transaction(options, body)
                }
            } catch {
                guard error.underlying is ServedElsewhere else { throw error }
                try await waitUntilSettled(error)
            }
        }
    }

    /// Waits until this device uses the side that serves.
    private func waitUntilSettled(_ error: StorageError) async throws(StorageError) {
        let watch = Stopwatch(clock)
        while staleSide != nil || feed.control.isClosing {
            guard watch.elapsed < .seconds(30) else {
                throw StorageError(
                    .unavailable,
                    "\(error.message) This device follows when its own writes are there; try again then.",
                    isRetryable: true, underlying: error)
            }
            do { try await clock.sleep(for: .milliseconds(50)) } catch {
                throw StorageError(.cancelled, "The transaction was cancelled.")
            }
        }
    }

    /// With this client, so that each batch goes to the side in use.
    public func deleteRecursively(
        _ document: StoragePath, progress: @escaping @Sendable (_ deleted: Int) -> Void
    ) async throws(StorageError) -> Int {
        try await deleteInBatches(document, progress: progress)
    }

    // MARK: Both sides

    public func enableNetwork() async throws(StorageError) {
        try await Routed(route).enableNetwork()
        try? await clients[serving.other].enableNetwork()
    }

    public func disableNetwork() async throws(StorageError) {
        try await Routed(route).disableNetwork()
        try? await clients[serving.other].disableNetwork()
    }

    public func refusedWrites() -> SnapshotStream<[RefusedWrite], StorageError> {
        guard clients.old.capabilities.offline, clients.new.capabilities.offline else {
            return logged[serving].refusedWrites()
        }
        return combineLatest(logged.old.refusedWrites(), logged.new.refusedWrites()).mapElements { $0 + $1 }
    }

    /// A write that is queued again goes to the side in use, wherever it was rejected.
    public func resolveRefusedWrite(_ id: RefusedWrite.ID, requeuing batch: WriteBatch?) async throws(StorageError) {
        let side = serving
        let isHere = try await logged[side].first(of: { $0.refusedWrites() })?.contains { $0.id == id } ?? false
        if isHere {
            return try await gate.pass { () async throws(StorageError) in
                try await logged[side].resolveRefusedWrite(id, requeuing: batch)
            }
        }
        try await logged[side.other].resolveRefusedWrite(id, requeuing: nil)
        if let batch { _ = try await commit(batch) }
    }

    public var unsentWrites: UnsentWrites? {
        get async {
            let (old, new) = await (clients.old.unsentWrites, clients.new.unsentWrites)
            guard let old, let new else { return old ?? new }
            return UnsentWrites(count: old.count + new.count, isOnDisk: old.isOnDisk && new.isOnDisk)
        }
    }

    public func clearPersistence() async throws(StorageError) {
        try await clients.old.clearPersistence()
        try await clients.new.clearPersistence()
    }

    public func shutDown() async {
        feed.stop()
        gate.open()
        await clients.old.shutDown()
        await clients.new.shutDown()
    }
}

extension StorageClient {
    /// The first state of a stream.
    fileprivate func first<Element>(
        of stream: (Self) -> SnapshotStream<Element, StorageError>
    ) async throws(StorageError) -> Element? {
        for try await element in stream(self) { return element }
        return nil
    }
}

/// A client for one request, whose writes wait while sides are changed.
struct GatedStorageClient: StorageClientWrapper {
    let base: any StorageClient
    let gate: WriteGate

    func commit(_ batch: WriteBatch) async throws(StorageError) -> WriteReceipt {
        try await gate.pass { () async throws(StorageError) in try await base.commit(batch) }
    }

    func transaction<Result: Sendable>(
        _ options: TransactionOptions, _ body: @Sendable (StorageTransaction) async throws -> Result
    ) async throws(StorageError) -> Result {
        try await gate.pass { () async throws(StorageError) in try await base.transaction(options, body) }
    }
}
