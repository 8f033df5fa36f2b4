/// Repeats calls that failed for a passing reason: reads always, writes only where a repetition does no harm.
///
/// A batch with increments or preconditions is not repeated: if only its answer was lost, it would count twice or fail
/// though it had succeeded. Streams need nothing of this; they heal by themselves.
public struct RetryingStorageClient: StorageLayer {
    public let base: any StorageClient
    public let policy: RetryPolicy
    private let clock: any Clock<Duration>
    private let observer: any InfrastructureObserver

    public init(
        _ base: any StorageClient, policy: RetryPolicy = .standard, clock: any Clock<Duration> = ContinuousClock(),
        observer: any InfrastructureObserver = SilentObserver()
    ) {
        self.base = base
        self.policy = policy
        self.clock = clock
        self.observer = observer
    }

    public func snapshot(_ path: StoragePath, from source: ReadSource) async throws(StorageError) -> DocumentSnapshot {
        try await retry("snapshot") { () throws(StorageError) in try await base.snapshot(path, from: source) }
    }

    public func snapshots(
        of paths: [StoragePath], from source: ReadSource
    ) async throws(StorageError) -> [DocumentSnapshot] {
        try await retry("snapshots") { () throws(StorageError) in try await base.snapshots(of: paths, from: source) }
    }

    public func results(of query: Query, from source: ReadSource) async throws(StorageError) -> QuerySnapshot {
        try await retry("results") { () throws(StorageError) in try await base.results(of: query, from: source) }
    }

    public func aggregate(
        _ query: Query, _ aggregations: [Aggregation]
    ) async throws(StorageError) -> [DocumentValue] {
        try await retry("aggregate") { () throws(StorageError) in try await base.aggregate(query, aggregations) }
    }

    public func collections(under document: StoragePath?) async throws(StorageError) -> [CollectionPath] {
        try await retry("collections") { () throws(StorageError) in try await base.collections(under: document) }
    }

    public func commit(_ batch: WriteBatch) async throws(StorageError) -> WriteReceipt {
        try await retry("commit", isRepeatable: batch.isIdempotent) { () throws(StorageError) in
            try await base.commit(batch)
        }
    }

    private func retry<Result>(
        _ operation: String, isRepeatable: Bool = true, _ call: () async throws(StorageError) -> Result
    ) async throws(StorageError) -> Result {
        try await policy.run(clock: clock) { _ in
            isRepeatable
        } onRetry: { attempt, pause, failure in
            observer.observe(
                InfrastructureEvent(
                    service: .storage, provider: base.provider,
                    kind: .retry(operation: operation, attempt: attempt, after: pause, failure: failure.code.rawValue)))
        } _: { () throws(StorageError) in
            try await call()
        }
    }
}

extension StorageClient {
    /// This client, with calls repeated that failed for a passing reason and are safe to repeat.
    public func retrying(_ policy: RetryPolicy = .standard) -> RetryingStorageClient {
        RetryingStorageClient(self, policy: policy)
    }
}
