public import Switchyard

/// A storage client for the tests of one feature: you set the calls that the feature makes, and every other one refuses by name.
///
/// ```swift
/// let storage = StubStorageClient(document: { path, _ in .existing(path, ["name": "Ada"]) })
/// ```
///
/// Typed collections, handles and all conveniences call these few requirements. Transactions go to the client that the stub was made
/// over.
public struct StubStorageClient: StorageClient {
    /// What the stub answers by itself; `nil` for what it leaves to the client that it was made over.
    public struct Calls: Sendable {
        public var unsentWrites: (@Sendable () async -> UnsentWrites?)?
        public var newDocument: (@Sendable (CollectionPath) -> StoragePath)?
        public var document: (@Sendable (StoragePath, ReadSource) async throws -> DocumentSnapshot)?
        public var documentsAt: (@Sendable ([StoragePath], ReadSource) async throws -> [DocumentSnapshot])?
        public var documents: (@Sendable (Query, ReadSource) async throws -> QuerySnapshot)?
        public var documentSnapshots:
            (@Sendable (StoragePath, ListenOptions) -> SnapshotStream<DocumentSnapshot, StorageError>)?
        public var snapshots: (@Sendable (Query, ListenOptions) -> SnapshotStream<QuerySnapshot, StorageError>)?
        public var commit: (@Sendable (WriteBatch) async throws -> WriteReceipt)?
        public var aggregate: (@Sendable (Query, [Aggregation]) async throws -> [DocumentValue])?
        public var collections: (@Sendable (StoragePath?) async throws -> [CollectionPath])?
        public var dividers: (@Sendable (String, Int) async throws -> [StoragePath])?
        public var deleteRecursively: (@Sendable (StoragePath, @Sendable (_ deleted: Int) -> Void) async throws -> Int)?
        public var enableNetwork: (@Sendable () async throws -> Void)?
        public var disableNetwork: (@Sendable () async throws -> Void)?
        public var waitForPendingWrites: (@Sendable () async throws -> Void)?
        public var snapshotsInSync: (@Sendable () -> EventStream<Void, StorageError>)?
        public var pendingWrites: (@Sendable () -> SnapshotStream<[PendingWrite], StorageError>)?
        public var syncStatus: (@Sendable () -> SnapshotStream<SyncStatus, Never>)?
        public var cancelPendingWrite: (@Sendable (PendingWrite.ID) async throws -> Bool)?
        public var retryPendingWrites: (@Sendable () async throws -> Void)?
        public var refusedWrites: (@Sendable () -> SnapshotStream<[RefusedWrite], StorageError>)?
        public var resolveRefusedWrite: (@Sendable (RefusedWrite.ID, WriteBatch?) async throws -> Void)?
        public var clearPersistence: (@Sendable () async throws -> Void)?
    }

    public var calls = Calls()
    private let base: any StorageClient

    /// - Parameters:
    ///   - base: Answers what is not set: a mock, or by default a client that refuses everything by name. `UnsetClients` has one
    ///     that also records a failure of the test.
    ///   - set: Sets the calls.
    public init(over base: any StorageClient = UnsetClients.stubs.storage, _ set: (inout Calls) -> Void = { _ in }) {
        self.base = base
        set(&calls)
    }

    /// A stub that answers these calls and refuses every other one by name.
    public init(
        unsentWrites: (@Sendable () async -> UnsentWrites?)? = nil,
        newDocument: (@Sendable (CollectionPath) -> StoragePath)? = nil,
        document: (@Sendable (StoragePath, ReadSource) async throws -> DocumentSnapshot)? = nil,
        documentsAt: (@Sendable ([StoragePath], ReadSource) async throws -> [DocumentSnapshot])? = nil,
        documents: (@Sendable (Query, ReadSource) async throws -> QuerySnapshot)? = nil,
        documentSnapshots: (@Sendable (StoragePath, ListenOptions) -> SnapshotStream<DocumentSnapshot, StorageError>)? =
            nil,
        snapshots: (@Sendable (Query, ListenOptions) -> SnapshotStream<QuerySnapshot, StorageError>)? = nil,
        commit: (@Sendable (WriteBatch) async throws -> WriteReceipt)? = nil,
        aggregate: (@Sendable (Query, [Aggregation]) async throws -> [DocumentValue])? = nil,
        collections: (@Sendable (StoragePath?) async throws -> [CollectionPath])? = nil,
        dividers: (@Sendable (String, Int) async throws -> [StoragePath])? = nil,
        deleteRecursively: (@Sendable (StoragePath, @Sendable (_ deleted: Int) -> Void) async throws -> Int)? = nil,
        enableNetwork: (@Sendable () async throws -> Void)? = nil,
        disableNetwork: (@Sendable () async throws -> Void)? = nil,
        waitForPendingWrites: (@Sendable () async throws -> Void)? = nil,
        snapshotsInSync: (@Sendable () -> EventStream<Void, StorageError>)? = nil,
        pendingWrites: (@Sendable () -> SnapshotStream<[PendingWrite], StorageError>)? = nil,
        syncStatus: (@Sendable () -> SnapshotStream<SyncStatus, Never>)? = nil,
        cancelPendingWrite: (@Sendable (PendingWrite.ID) async throws -> Bool)? = nil,
        retryPendingWrites: (@Sendable () async throws -> Void)? = nil,
        refusedWrites: (@Sendable () -> SnapshotStream<[RefusedWrite], StorageError>)? = nil,
        resolveRefusedWrite: (@Sendable (RefusedWrite.ID, WriteBatch?) async throws -> Void)? = nil,
        clearPersistence: (@Sendable () async throws -> Void)? = nil
    ) {
        self.init {
            $0.unsentWrites = unsentWrites
            $0.newDocument = newDocument
            $0.document = document
            $0.documentsAt = documentsAt
            $0.documents = documents
            $0.documentSnapshots = documentSnapshots
            $0.snapshots = snapshots
            $0.commit = commit
            $0.aggregate = aggregate
            $0.collections = collections
            $0.dividers = dividers
            $0.deleteRecursively = deleteRecursively
            $0.enableNetwork = enableNetwork
            $0.disableNetwork = disableNetwork
            $0.waitForPendingWrites = waitForPendingWrites
            $0.snapshotsInSync = snapshotsInSync
            $0.pendingWrites = pendingWrites
            $0.syncStatus = syncStatus
            $0.cancelPendingWrite = cancelPendingWrite
            $0.retryPendingWrites = retryPendingWrites
            $0.refusedWrites = refusedWrites
            $0.resolveRefusedWrite = resolveRefusedWrite
            $0.clearPersistence = clearPersistence
        }
    }

    // MARK: Requirements

    public var provider: InfrastructureProvider { base.provider }
    public var capabilities: StorageCapabilities { base.capabilities }
    public var identity: ClientIdentity { base.identity }
    public var clock: any Clock<Duration> { base.clock }
    public var unsentWrites: UnsentWrites? {
        get async {
            guard let unsentWrites = calls.unsentWrites else { return await base.unsentWrites }
            return await unsentWrites()
        }
    }
    public func newDocument(in collection: CollectionPath) -> StoragePath {
        (calls.newDocument ?? base.newDocument)(collection)
    }
    public func document(_ path: StoragePath, from source: ReadSource) async throws(StorageError) -> DocumentSnapshot {
        try await stubbed(StorageError.self) { try await (calls.document ?? base.document)(path, source) }
    }
    public func documents(_ paths: [StoragePath], from source: ReadSource) async throws(StorageError)
        -> [DocumentSnapshot]
    {
        try await stubbed(StorageError.self) { try await (calls.documentsAt ?? base.documents)(paths, source) }
    }
    public func documents(_ query: Query, from source: ReadSource) async throws(StorageError) -> QuerySnapshot {
        try await stubbed(StorageError.self) { try await (calls.documents ?? base.documents)(query, source) }
    }
    public func snapshots(of path: StoragePath, options: ListenOptions) -> SnapshotStream<
        DocumentSnapshot, StorageError
    > {
        (calls.documentSnapshots ?? base.snapshots)(path, options)
    }
    public func snapshots(of query: Query, options: ListenOptions) -> SnapshotStream<QuerySnapshot, StorageError> {
        (calls.snapshots ?? base.snapshots)(query, options)
    }
    @discardableResult
    public func commit(_ batch: WriteBatch) async throws(StorageError) -> WriteReceipt {
        try await stubbed(StorageError.self) { try await (calls.commit ?? base.commit)(batch) }
    }
    @discardableResult
    public func transaction<Result: Sendable>(
        _ options: TransactionOptions, _ body: @Sendable (StorageTransaction) async throws -> Result
    ) async throws(StorageError) -> Result {
        try await base.transaction(options, body)
    }
    public func makeTransaction() async throws(StorageError) -> any StorageTransactionBackend {
        try await base.makeTransaction()
    }
    public func aggregate(_ query: Query, _ aggregations: [Aggregation]) async throws(StorageError) -> [DocumentValue] {
        try await stubbed(StorageError.self) { try await (calls.aggregate ?? base.aggregate)(query, aggregations) }
    }
    public func collections(under document: StoragePath?) async throws(StorageError) -> [CollectionPath] {
        try await stubbed(StorageError.self) { try await (calls.collections ?? base.collections)(document) }
    }
    public func dividers(ofGroup group: String, into count: Int) async throws(StorageError) -> [StoragePath] {
        try await stubbed(StorageError.self) { try await (calls.dividers ?? base.dividers)(group, count) }
    }
    public func deleteRecursively(_ document: StoragePath, progress: @escaping @Sendable (_ deleted: Int) -> Void)
        async throws(StorageError) -> Int
    {
        guard let deleteRecursively = calls.deleteRecursively else {
            return try await base.deleteRecursively(document, progress: progress)
        }
        return try await stubbed(StorageError.self) { try await deleteRecursively(document, progress) }
    }
    public func enableNetwork() async throws(StorageError) {
        try await stubbed(StorageError.self) { try await (calls.enableNetwork ?? base.enableNetwork)() }
    }
    public func disableNetwork() async throws(StorageError) {
        try await stubbed(StorageError.self) { try await (calls.disableNetwork ?? base.disableNetwork)() }
    }
    public func waitForPendingWrites() async throws(StorageError) {
        try await stubbed(StorageError.self) { try await (calls.waitForPendingWrites ?? base.waitForPendingWrites)() }
    }
    public func snapshotsInSync() -> EventStream<Void, StorageError> {
        (calls.snapshotsInSync ?? base.snapshotsInSync)()
    }
    public func pendingWrites() -> SnapshotStream<[PendingWrite], StorageError> {
        (calls.pendingWrites ?? base.pendingWrites)()
    }
    public func syncStatus() -> SnapshotStream<SyncStatus, Never> {
        (calls.syncStatus ?? base.syncStatus)()
    }
    public func cancelPendingWrite(_ id: PendingWrite.ID) async throws(StorageError) -> Bool {
        try await stubbed(StorageError.self) { try await (calls.cancelPendingWrite ?? base.cancelPendingWrite)(id) }
    }
    public func retryPendingWrites() async throws(StorageError) {
        try await stubbed(StorageError.self) { try await (calls.retryPendingWrites ?? base.retryPendingWrites)() }
    }
    public func refusedWrites() -> SnapshotStream<[RefusedWrite], StorageError> {
        (calls.refusedWrites ?? base.refusedWrites)()
    }
    public func resolveRefusedWrite(_ id: RefusedWrite.ID, requeuing batch: WriteBatch?) async throws(StorageError) {
        try await stubbed(StorageError.self) {
            try await (calls.resolveRefusedWrite ?? base.resolveRefusedWrite)(id, batch)
        }
    }
    public func clearPersistence() async throws(StorageError) {
        try await stubbed(StorageError.self) { try await (calls.clearPersistence ?? base.clearPersistence)() }
    }
    public func shutDown() async {
        await base.shutDown()
    }
    public func unwrapped<Client>(as type: Client.Type) -> Client? {
        base.unwrapped(as: type)
    }
}
