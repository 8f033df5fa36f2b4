import Switchyard
import SwitchyardBytes
import SwitchyardSync
import SwitchyardWire

/// Documents in Postgres for the offline engine. Every operation calls one function of the database, which runs atomically.
struct SupabaseDriver: SyncDriver {
    private(set) var service: PostgRESTService
    let tables: TableMappings
    /// The rows of tables, over plain requests.
    private(set) var rows: RowStore
    /// Announces when to check for changes without waiting for the interval.
    private(set) var hints: ChangeHints
    let pace: SupabaseWatch.Pace
    let clock: any Clock<Duration>
    private let share: RealtimeLease?
    /// The source of separate sockets for a caller's streams, and this driver's socket from it.
    private let lines: SupabaseCallerSockets?
    private var line: RealtimeSocket?
    private let observer: any InfrastructureObserver

    /// - Parameters:
    ///   - tables: The collections that are not in the document table.
    ///   - realtime: Announces changes by other clients; without it, the database is queried at intervals.
    ///   - share: The client's share of the socket, given up at the end.
    ///   - lines: For drivers without an engine: announces changes by others to the engine of their streams.
    ///   - observer: Notified of what the project lacks, and if the realtime service stops announcing changes.
    init(
        service: PostgRESTService, tables: TableMappings = .none, realtime: RealtimeSocket? = nil,
        share: RealtimeLease? = nil, lines: SupabaseCallerSockets? = nil,
        pace: SupabaseWatch.Pace = SupabaseWatch.Pace(),
        clock: any Clock<Duration> = ContinuousClock(), observer: any InfrastructureObserver = SilentObserver()
    ) {
        self.observer = observer
        self.share = share
        self.lines = lines
        self.service = service
        self.tables = tables
        rows = RowStore(service)
        self.pace = pace
        self.clock = clock
        // Streams then have a separate driver, so nothing listens here.
        hints =
            lines?.silence
            ?? ChangeHints(realtime, clock: clock) { text in
                observer.observe(InfrastructureEvent(service: .storage, provider: .supabase, kind: .notice(text)))
            }
    }

    var provider: InfrastructureProvider { .supabase }

    var capabilities: StorageCapabilities { tables.capabilities }

    /// The commit function stores each batch's answer by its ID. Documents hidden by policies appear missing. Rows have tags.
    var traits: SyncDriverTraits {
        var traits = SyncDriverTraits(
            hasLedger: true, mergesBatches: true, hidesDocuments: true, usesTags: !tables.isEmpty)
        traits.makesNames = tables.generatesIDs
        return traits
    }

    func begin(after version: Timestamp) { rows.begin(after: version) }

    var executor: (any TaskExecutor)? { service.transport.executor }

    // MARK: Reading

    func documents(_ paths: [StoragePath]) async throws(StorageError) -> FetchedDocuments {
        if paths.count == 1, !tables.isProvisional(paths[0]) {
            let path = tables.canonical(paths[0])
            if let place = try tables.place(of: path.collection) {
                var fetched = try await rows.document(path, in: place)
                fetched.documents = fetched.documents.map { $0.at(paths[0]) }
                return fetched
            }
        }
        var documents: [JSON] = []
        var skipped = 0
        var rowPaths: [TableMappings.Place: [StoragePath]] = [:]
        for path in Set(paths.map { tables.canonical($0) }) {
            if tables.isProvisional(path) {
                // Only this device has it.
                skipped += 1
            } else if let place = try tables.place(of: path.collection) {
                rowPaths[place, default: []].append(path)
            } else {
                documents.append(.string(path.rawValue))
            }
        }
        var answers: [FetchedDocuments] = []
        // Several calls form one answer, so all must show what the same user may see.
        let isOneCall = rowPaths.isEmpty || (documents.isEmpty && rowPaths.count == 1)
        let service = (isOneCall ? service : try await service.bound()).patient
        if !rowPaths.isEmpty { answers.append(try await rows.calling(service).documents(rowPaths)) }
        if !documents.isEmpty || (rowPaths.isEmpty && skipped == 0 && tables.usesDocuments) {
            answers.append(
                try FetchedDocuments(
                    postgres: await service.read("switchyard_get", ["paths": .array(documents)])))
        }
        let found = Dictionary(answers.flatMap(\.documents).map { ($0.path, $0) }) { first, _ in first }
        // As of the earlier of two times.
        return FetchedDocuments(
            documents: paths.map { found[tables.canonical($0)]?.at($0) ?? .missing($0) },
            readTime: answers.map(\.readTime).min() ?? .never,
            deletionTimes: answers.reduce(into: [:]) { $0.merge($1.deletionTimes) { first, _ in first } },
            tags: answers.reduce(into: [:]) { $0.merge($1.tags) { first, _ in first } })
    }

    func results(of query: Query) async throws(StorageError) -> FetchedDocuments {
        if let place = try tables.place(of: query) { return try await rows.results(of: query, in: place) }
        let isReversed = if case .last = query.limit { true } else { false }
        let answer = try await service.patient.read("switchyard_query", ["query": query.postgres])
        return try FetchedDocuments(postgres: answer, isReversed: isReversed)
    }

    func aggregate(_ query: Query, _ aggregations: [Aggregation]) async throws(StorageError) -> [DocumentValue] {
        if let place = try tables.place(of: query) { return try await rows.aggregate(query, in: place, aggregations) }
        let wanted = JSON.array(aggregations.map(\.postgres))
        let answer = try await service.patient.call(
            "switchyard_aggregate", ["query": query.postgres, "aggregations": wanted], isIdempotent: true)
        guard let values = answer.array, values.count == aggregations.count else { throw .unreadableAnswer }
        var result: [DocumentValue] = []
        for value in values { result.append(DocumentValue(postgres: value)) }
        return result
    }

    func collections(under document: StoragePath?) async throws(StorageError) -> [CollectionPath] {
        try tables.check(below: document, directly: true, for: "listing collections")
        let answer = try await service.patient.call(
            "switchyard_collections", ["parent": document.map { .string($0.rawValue) } ?? .null], isIdempotent: true)
        var paths: [CollectionPath] = []
        for name in answer.array ?? [] {
            guard let name = name.string else { throw .unreadableAnswer }
            paths.append(try CollectionPath(validating: document.map { "\($0.rawValue)/\(name)" } ?? name))
        }
        return paths.sorted()
    }

    func openWatch() async throws(StorageError) -> any WatchConnection {
        SupabaseWatch(
            service, tables, rows, hints, reader: try await service.reader(), pace: pace, clock: clock,
            observer: observer)
    }

    func checkForChanges() { hints.checkForChanges() }

    func makeStreamDriver() -> (any SyncDriver)? {
        guard let lines else { return nil }
        let line = lines.open(service.tokens)
        var driver = self
        driver.line = line
        driver.hints = ChangeHints(line, clock: clock, endsWithSession: true) { lines.notice($0) }
        return driver
    }

    // MARK: Writing: see also SupabaseDriver+Commits.swift

    func check(_ writes: [DocumentWrite]) throws(StorageError) {
        let writes = writes.map { tables.canonical($0) }
        var places: [TableMappings.Place] = []
        for write in writes {
            guard let place = try tables.place(of: write.path.collection) else {
                try checkLength(of: write.path)
                continue
            }
            try rows.check(write, in: place, isNamed: write.path.provisional(in: tables) == nil)
            places.append(place)
        }
        // Elsewhere, the functions may do it. Rows without keys are deleted when they have some.
        if !tables.usesDocuments, !writes.contains(where: { $0.path.provisional(in: tables) != nil }) {
            try rows.check(writes, in: places)
        }
    }

    /// Longer ones would not fit into the database's indexes.
    private func checkLength(of path: StoragePath) throws(StorageError) {
        let (length, limit) = (path.rawValue.utf8.count, 900)
        guard length > limit else { return }
        throw StorageError(
            .invalidArgument, "The path “\(path.rawValue.prefix(40))…” has \(length) bytes; Supabase allows \(limit).",
            isRefusal: true)
    }

    func isProvisional(_ document: StoragePath) -> Bool { tables.isProvisional(document) }

    func findsAddition(of document: StoragePath) -> Bool { tables.isFound(document) }

    func add(_ batch: OutgoingBatch) async throws(StorageError) -> (document: StoragePath, result: CommitResult) {
        let write = tables.canonical(batch.writes[0])
        guard let place = try place(of: write), place.table.mapping.generatesIDs else {
            // The mapping was another when it was queued.
            throw StorageError(
                .failedPrecondition,
                "“\(write.path)” waits for a key from the database, but its table is not mapped with “generatesIDs” any more.",
                isRetryable: false)
        }
        try tables.checkKeys([write], isAddition: true)
        let added = try await rows.add(write, in: place, for: batch)
        hints.give([added.document])
        return added
    }

    func result(of batch: OutgoingBatch) async throws(StorageError) -> CommitResult? {
        guard tables.usesDocuments else { return nil }
        if try await isPlain(batch.writes) { return nil }
        let answer = try await service.call(
            "switchyard_outcome", ["batch": .string(batch.id)], isIdempotent: true, isForQueue: true)
        return answer == .null ? nil : try CommitResult(postgres: answer)
    }

    func makeTransaction() async throws(StorageError) -> any StorageTransactionBackend {
        SupabaseTransaction(driver: try await bound())
    }

    func deleteRecursively(
        _ document: StoragePath, progress: @escaping @Sendable (_ deleted: Int) -> Void
    ) async throws(StorageError) -> Int {
        try tables.check(below: document, directly: false, for: "recursive deletion")
        if try tables.place(of: document.collection) != nil {
            throw .unsupported("recursive deletion", by: .supabase, instead: "Delete the row by itself.")
        }
        let service = try await service.bound().patient
        var deleted = 0
        while true {
            if Task.isCancelled { throw StorageError(.cancelled, "The deletion was cancelled.") }
            let answer = try await service.call(
                "switchyard_delete_tree", ["path": .string(document.rawValue)], isIdempotent: true)
            guard let count = answer.int64, (0...1 << 32).contains(count) else { throw .unreadableAnswer }
            hints.give()
            if count == 0 { return deleted }
            deleted += Int(count)
            progress(deleted)
        }
    }

    /// This driver for a series of calls of the current user. Calls fail once another user signs in.
    private func bound() async throws(StorageError) -> SupabaseDriver {
        var driver = self
        driver.service = try await service.bound()
        driver.rows = rows.calling(driver.service)
        return driver
    }

    func shutDown() async {
        hints.close()
        // The driver for one-shot calls continues to use everything else.
        if let line { return line.close() }
        await share?.release()
        await service.transport.shutDown()
    }
}

/// Optimistic: locks nothing, and checks at the commit that the documents read are unchanged.
private struct SupabaseTransaction: StorageTransactionBackend {
    /// Bound to the user who started it, since only that user's ledger knows the batch.
    let driver: SupabaseDriver
    private static let tries = 15
    private static let pauses = Backoff.Policy(
        initial: .milliseconds(100), factor: 2, maximum: .milliseconds(500), jitter: 0.25, isFirstImmediate: false)

    init(driver: SupabaseDriver) { self.driver = driver }

    func documents(_ paths: [StoragePath]) async throws(StorageError) -> [DocumentSnapshot] {
        try await driver.documents(paths).documents
    }

    /// If no answer arrives, the same batch is sent again with its ID, for some seconds, and is carried out only once. Giving
    /// up earlier would leave the outcome unknown. No ledger knows a row's write: it is sent again with its precondition, and if
    /// that fails, the outcome stays unknown.
    func commit(_ writes: [DocumentWrite]) async throws(StorageError) -> WriteReceipt.Acknowledgement {
        let name = RandomID.make()
        let watch = Stopwatch(driver.clock)
        var backoff = Backoff(Self.pauses, now: watch.now)
        var generator = SystemRandomNumberGenerator()
        var tried = 0
        var isInDoubt = false
        while true {
            tried += 1
            do throws(StorageError) {
                let result = try await driver.commit(writes, as: name)
                return WriteReceipt.Acknowledgement(commitTime: result.commitTime, updateTimes: result.updateTimes)
            } catch {
                if isInDoubt, error.isRefusal { throw error.inDoubt }
                if error.mayHaveTakenEffect, try await driver.isPlain(writes) {
                    isInDoubt = true
                    guard writes.allSatisfy(\.mayBeRepeated) else { throw error.inDoubt }
                }
                guard error.code == .unavailable || error.code == .deadlineExceeded, tried < Self.tries else {
                    throw error
                }
                let pause = backoff.next(now: watch.now, using: &generator)
                do { try await driver.clock.sleep(for: pause) } catch _ { throw error }
            }
        }
    }
}

extension DocumentWrite {
    /// Whether sending it twice cannot count twice.
    fileprivate var mayBeRepeated: Bool {
        switch precondition {
        case .updateTime, .exists(false): true
        case .none, .exists(true): transforms.allSatisfy(\.operation.isIdempotent)
        }
    }
}

extension StorageError {
    /// A transaction that must not be repeated: it may have taken effect, and then its preconditions no longer hold.
    fileprivate var inDoubt: StorageError {
        StorageError(
            .unavailable,
            "It is not known whether the transaction took effect: the answer to its commit was lost. Read what it writes before "
                + "you run it again.", isRetryable: false, underlying: self)
    }
}

extension DocumentSnapshot {
    /// The same document under another spelling of its path: a transaction knows what it reads by the path that it asked for.
    fileprivate func at(_ path: StoragePath) -> DocumentSnapshot {
        guard path != self.path else { return self }
        return DocumentSnapshot(
            path: path, data: data, createTime: createTime, updateTime: updateTime, metadata: metadata)
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
