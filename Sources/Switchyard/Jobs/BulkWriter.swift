import SwitchyardBytes

/// Options for `writeInBulk` of a ``StorageClient``.
public struct BulkOptions: Sendable, Hashable {
    /// How many writes go into one batch; never more than the provider allows.
    public var batchSize = 500
    /// The maximum number of batches in flight. Writing begins with two, and slows down while the server is overloaded.
    public var parallel = 8
    /// The total number of attempts for a batch while the server is too busy.
    public var attempts = 10
    /// Writes per second in the beginning, raised by half every five minutes. Vendors advise this for new collections, which
    /// the server needs minutes to spread over machines. `nil`, the default, is as fast as possible.
    public var rampFrom: Int?

    public init() {}
}

/// The outcome of one write of a bulk write.
public struct BulkResult: Sendable {
    public let write: DocumentWrite
    /// When the write took effect, or why it failed.
    public let outcome: Result<Timestamp, StorageError>
}

/// The outcome of a bulk write.
public struct BulkReport: Sendable {
    public internal(set) var written = 0
    public internal(set) var failed = 0
    /// The first hundred failures.
    public internal(set) var failures: [BulkResult] = []
    /// How many batches were retried.
    public internal(set) var retries = 0
}

extension BulkReport: CustomStringConvertible {
    public var description: String { "\(written) written, \(failed) failed, \(retries) batches tried again" }
}

extension StorageClient {
    /// Writes many documents: in batches, several at a time, and more slowly while the server is overloaded. This is not a
    /// transaction: each write succeeds or fails by itself. Writes to one document keep their order.
    ///
    /// ```swift
    /// let project = try await backend.actingAsProject().storage
    /// let report = try await project.writeInBulk(rows.map { try .set("products/\($0.id)", $0.fields) })
    /// ```
    /// Use a client without a queue: one with a queue sends its batches one after the other.
    ///
    /// - Parameters:
    ///   - writes: Read on demand, so that they need not all be in memory.
    ///   - options: Batch size, parallelism and retries.
    ///   - onResult: Called for each write, in no particular order, from several tasks at a time.
    /// Nothing is sent again that may have taken effect and would count twice: a write with an increment or a precondition
    /// whose answer was lost is reported as failed, with an error that says so.
    ///
    /// - Throws: What ends the whole bulk write: `.cancelled`, `.shutDown`, `.unauthenticated`, the deadline of the current
    ///   request, and the errors of `writes`. Writes that were reported as done stay.
    @discardableResult
    public func writeInBulk<Writes: AsyncSequence>(
        _ writes: Writes, options: BulkOptions = BulkOptions(),
        onResult: @escaping @Sendable (BulkResult) -> Void = { _ in }
    ) async throws -> BulkReport where Writes.Element == DocumentWrite {
        try await BulkRun(self, options, onResult).run(writes)
    }

    /// Writes many documents from a synchronous sequence, like the other `writeInBulk`.
    @discardableResult
    public func writeInBulk(
        _ writes: some Sequence<DocumentWrite>, options: BulkOptions = BulkOptions(),
        onResult: @escaping @Sendable (BulkResult) -> Void = { _ in }
    ) async throws -> BulkReport {
        try await BulkRun(self, options, onResult).run(AsyncAdapter(writes))
    }
}

/// A plain sequence as an asynchronous one.
private struct AsyncAdapter<Base: Sequence>: AsyncSequence {
    typealias Element = Base.Element
    private let base: Base
    init(_ base: Base) { self.base = base }
    func makeAsyncIterator() -> Iterator { Iterator(base: base.makeIterator()) }

    struct Iterator: AsyncIteratorProtocol {
        fileprivate var base: Base.Iterator
        mutating func next() async -> Base.Element? { base.next() }
    }
}

/// One bulk write.
private struct BulkRun: Sendable {
    private let storage: any StorageClient
    private let options: BulkOptions
    private let size: Int
    private let onResult: @Sendable (BulkResult) -> Void

    init(
        _ storage: any StorageClient, _ options: BulkOptions, _ onResult: @escaping @Sendable (BulkResult) -> Void
    ) {
        self.storage = storage
        self.options = options
        self.onResult = onResult
        size = max(1, min(options.batchSize, storage.capabilities.maximumBatchSize ?? .max))
    }

    /// About the maximum size of a request; one document has at most a tenth of that.
    private static let bytes = 8 << 20

    func run<Writes: AsyncSequence>(_ writes: Writes) async throws -> BulkReport
    where Writes.Element == DocumentWrite {
        let watch = Stopwatch(storage.clock)
        return try await withThrowingTaskGroup(of: BatchOutcome.self) { group in
            var report = BulkReport()
            var pace = BulkPace(parallel: options.parallel, rampFrom: options.rampFrom)
            var (running, batch, bytes) = (0, [DocumentWrite](), 0)
            // The paths in the batch being filled, and in those in flight.
            var taken: Set<StoragePath> = []

            func settleOne() async throws {
                guard let outcome = try await group.next() else { return }
                running -= 1
                for write in outcome.batch { taken.remove(write.path) }
                report.add(outcome)
                pace.note(isOverloaded: outcome.retries > 0)
            }
            func send() async throws {
                guard !batch.isEmpty else { return }
                while running >= pace.width { try await settleOne() }
                try await self.pause(for: pace.pause(before: batch.count, at: watch.elapsed))
                let full = batch
                running += 1
                group.addTask { try await self.send(full) }
                (batch, bytes) = ([], 0)
                batch.reserveCapacity(full.count)
            }
            for try await write in writes {
                try Task.checkCancellation()
                let weight = write.bulkBytes
                if batch.count >= size || (!batch.isEmpty && bytes + weight > Self.bytes)
                    || !canShare(write, with: batch.last)
                {
                    try await send()
                }
                while !taken.insert(write.path).inserted {
                    if batch.contains(where: { $0.path == write.path }) { try await send() }
                    try await settleOne()
                }
                batch.append(write)
                bytes += weight
            }
            try await send()
            while running > 0 { try await settleOne() }
            return report
        }
    }

    /// Whether the provider takes both writes in one batch.
    private func canShare(_ write: DocumentWrite, with last: DocumentWrite?) -> Bool {
        guard !storage.capabilities.mixedBatches, let last else { return true }
        return write.uniformKind != nil && write.uniformKind == last.uniformKind
    }

    /// Returns when each write of the batch has its outcome.
    private func send(_ batch: [DocumentWrite]) async throws -> BatchOutcome {
        var outcome = BatchOutcome(batch: batch)
        try await send(batch[...], &outcome)
        return outcome
    }

    private func send(_ batch: ArraySlice<DocumentWrite>, _ outcome: inout BatchOutcome) async throws {
        var batch = batch
        var pauses = RetryPauses(initial: .milliseconds(250), maximum: .seconds(30), since: CallTimer(storage.clock))
        var attempt = 1
        while true {
            let failure: StorageError
            var hadNoEffect = true
            do throws(StorageError) {
                let writes = WriteBatch(Array(batch))
                try storage.checkBatch(writes)
                hadNoEffect = false
                let time = try await storage.commit(writes).acknowledged().commitTime
                for write in batch { report(.success(time), write, &outcome) }
                return
            } catch {
                failure = error
                hadNoEffect = hadNoEffect || failure.isRefusal || Self.effectless.contains(failure.code)
            }
            if Self.final.contains(failure.code) || RequestDeadline.hasPassed { throw failure }
            if !hadNoEffect {
                // A second attempt would count twice, or fail although the first one had succeeded.
                for write in batch where !write.isIdempotent { report(.failure(failure.inDoubt), write, &outcome) }
                batch = ArraySlice(batch.filter(\.isIdempotent))
                if batch.isEmpty { return }
            }
            guard failure.isRetryable else { return try await divide(batch, failure, &outcome) }
            guard attempt < options.attempts else {
                for write in batch { report(.failure(failure), write, &outcome) }
                return
            }
            attempt += 1
            outcome.retries += 1
            try await pause(for: pauses.next(atLeast: failure.retryAfter))
        }
    }

    /// One refused write fails the whole batch: its halves show which.
    private func divide(
        _ batch: ArraySlice<DocumentWrite>, _ failure: StorageError, _ outcome: inout BatchOutcome
    ) async throws {
        guard batch.count > 1 else {
            for write in batch { report(.failure(failure), write, &outcome) }
            return
        }
        let middle = batch.startIndex + batch.count / 2
        try await send(batch[..<middle], &outcome)
        try await send(batch[middle...], &outcome)
    }

    private static let final: Set<ErrorCode> = [.cancelled, .shutDown, .unauthenticated]
    /// Errors of calls that certainly had no effect.
    private static let effectless: Set<ErrorCode> = [.aborted, .overloaded, .resourceExhausted, .rateLimited]

    /// - Throws: `.deadlineExceeded` at once if the request's deadline passes before the end of the pause.
    private func pause(for pause: Duration) async throws {
        if let deadline = RequestDeadline.current, .now + pause >= deadline {
            throw StorageError(
                .deadlineExceeded,
                "The request's deadline passes before the bulk write can go on. Writes that were reported as done stay."
            )
        }
        if pause > .zero { try await storage.clock.sleep(for: pause) }
    }

    private func report(
        _ result: Result<Timestamp, StorageError>, _ write: DocumentWrite, _ outcome: inout BatchOutcome
    ) {
        let result = BulkResult(write: write, outcome: result)
        if case .failure = result.outcome { outcome.failures.append(result) } else { outcome.written += 1 }
        onResult(result)
    }
}

private struct BatchOutcome: Sendable {
    let batch: [DocumentWrite]
    var written = 0
    var failures: [BulkResult] = []
    var retries = 0
}

extension BulkReport {
    fileprivate mutating func add(_ outcome: BatchOutcome) {
        written += outcome.written
        failed += outcome.failures.count
        failures += outcome.failures.prefix(100 - failures.count)
        retries += outcome.retries
    }
}

extension StorageError {
    /// The same for a write that may have taken effect.
    fileprivate var inDoubt: StorageError {
        saying("It is not known whether the write took effect. Read the document before you write again. \(message)")
            .asLasting()
    }
}

extension DocumentWrite {
    fileprivate var bulkBytes: Int {
        switch operation {
        case .set(let data), .patch(let data, _): data.storedBytes + 100
        case .delete, .verify: 100
        }
    }
}
