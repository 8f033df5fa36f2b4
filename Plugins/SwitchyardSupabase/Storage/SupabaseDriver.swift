import Switchyard
import SwitchyardBytes
import SwitchyardSync
import SwitchyardWire

/// Documents on Postgres for the offline engine: every operation is one call of a function in the database, which does all
/// of it or nothing.
struct SupabaseDriver: SyncDriver {
    let service: PostgRESTService
    /// Who is to look for changes at once, instead of when it is time again.
    let hints: ChangeHints
    /// How often changes are looked for without a hint.
    let interval: Duration
    let clock: any Clock<Duration>

    init(
        service: PostgRESTService, interval: Duration = .seconds(1), clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.service = service
        self.interval = interval
        self.clock = clock
        hints = ChangeHints()
    }

    var provider: InfrastructureProvider { .supabase }

    var capabilities: StorageCapabilities {
        var capabilities = StorageCapabilities.all
        capabilities.maximumBatchSize = 500
        return capabilities
    }

    /// The commit function keeps each batch's answer under its name.
    var traits: SyncDriverTraits { SyncDriverTraits(hasLedger: true) }

    // MARK: Reading

    func documents(_ paths: [StoragePath]) async throws(StorageError) -> FetchedDocuments {
        let answer = try FetchedDocuments(
            postgres: await service.call(
                "switchyard_get", ["paths": .array(paths.map { .string($0.rawValue) })], isIdempotent: true))
        let found = Dictionary(answer.documents.map { ($0.path, $0) }) { first, _ in first }
        return FetchedDocuments(documents: paths.map { found[$0] ?? .missing($0) }, readTime: answer.readTime)
    }

    func results(of query: Query) async throws(StorageError) -> FetchedDocuments {
        let isReversed = if case .last = query.limit { true } else { false }
        return try FetchedDocuments(
            postgres: await service.call("switchyard_query", ["query": query.postgres], isIdempotent: true),
            isReversed: isReversed)
    }

    func aggregate(_ query: Query, _ aggregations: [Aggregation]) async throws(StorageError) -> [DocumentValue] {
        let answer = try await service.call(
            "switchyard_aggregate",
            ["query": query.postgres, "aggregations": .array(aggregations.map(\.postgres))], isIdempotent: true)
        guard let values = answer.array, values.count == aggregations.count else { throw .unreadableAnswer }
        var result: [DocumentValue] = []
        for value in values { result.append(try DocumentValue(postgres: value)) }
        return result
    }

    func collections(under document: StoragePath?) async throws(StorageError) -> [CollectionPath] {
        let answer = try await service.call(
            "switchyard_collections", ["parent": document.map { .string($0.rawValue) } ?? .null], isIdempotent: true)
        var paths: [CollectionPath] = []
        for name in answer.array ?? [] {
            guard let name = name.string else { throw .unreadableAnswer }
            paths.append(try CollectionPath(validating: document.map { "\($0.rawValue)/\(name)" } ?? name))
        }
        return paths.sorted()
    }

    func openWatch() async throws(StorageError) -> any WatchConnection {
        SupabaseWatch(service, hints, interval: interval, clock: clock)
    }

    // MARK: Writing

    func commit(_ batch: OutgoingBatch) async throws(StorageError) -> CommitResult {
        try await commit(batch.writes, as: batch.id, for: batch)
    }

    func result(ofBatch id: String) async throws(StorageError) -> CommitResult? {
        let answer = try await service.call(
            "switchyard_outcome", ["batch": .string(id)], isIdempotent: true, isForQueue: true)
        return answer == .null ? nil : try CommitResult(postgres: answer)
    }

    func makeTransaction() async throws(StorageError) -> any StorageTransactionBackend {
        SupabaseTransaction(driver: self)
    }

    func deleteRecursively(
        _ document: StoragePath, progress: @escaping @Sendable (_ deleted: Int) -> Void
    ) async throws(StorageError) -> Int {
        var deleted = 0
        while true {
            if Task.isCancelled { throw StorageError(.cancelled, "The deletion was cancelled.") }
            let answer = try await service.call(
                "switchyard_delete_tree", ["path": .string(document.rawValue)], isIdempotent: true)
            guard let count = answer.int64 else { throw .unreadableAnswer }
            hints.give()
            if count == 0 { return deleted }
            deleted += Int(count)
            progress(deleted)
        }
    }

    /// A batch has a name, so it can be sent again without harm.
    fileprivate func commit(
        _ writes: [DocumentWrite], as name: String, for batch: OutgoingBatch? = nil
    ) async throws(StorageError) -> CommitResult {
        let answer = try await service.call(
            "switchyard_commit", ["batch": .string(name), "writes": .array(writes.map(\.postgres))],
            isIdempotent: true, for: batch)
        hints.give()
        return try CommitResult(postgres: answer)
    }

    func shutDown() async { await service.transport.shutDown() }
}

/// Optimistic: nothing is locked, and the commit checks that what was read is still so.
private struct SupabaseTransaction: StorageTransactionBackend {
    let driver: SupabaseDriver

    func documents(_ paths: [StoragePath]) async throws(StorageError) -> [DocumentSnapshot] {
        try await driver.documents(paths).documents
    }

    func commit(_ writes: [DocumentWrite]) async throws(StorageError) -> WriteReceipt.Acknowledgement {
        let name = RandomID.make()
        let result: CommitResult
        do throws(StorageError) {
            result = try await driver.commit(writes, as: name)
        } catch {
            guard error.code == .unavailable || error.code == .deadlineExceeded,
                let known = try? await driver.result(ofBatch: name)
            else { throw error }
            result = known
        }
        return WriteReceipt.Acknowledgement(commitTime: result.commitTime, updateTimes: result.updateTimes)
    }
}

extension Aggregation {
    fileprivate var postgres: JSON {
        switch self {
        case .count: ["count"]
        case .sum(let field): ["sum", field.postgres]
        case .average(let field): ["average", field.postgres]
        }
    }
}
