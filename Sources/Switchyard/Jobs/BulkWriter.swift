import SwitchyardBytes

/// How `writeInBulk` of a ``StorageClient`` goes about it.
public struct BulkOptions: Sendable, Hashable {
    /// How many writes go into one batch; no more than the provider takes in one.
    public var batchSize = 500
    /// How many batches are under way at most. It begins with two, and goes down again while the server is overloaded.
    public var parallel = 8
    /// How often a batch is tried in all that the server was too busy for.
    public var attempts = 10
    /// Writes in a second to begin with, half as many again after every five minutes: what vendors advise for a collection that
    /// was not written before, since it takes the server minutes to spread it. `nil`, the default, is as fast as it goes.
    public var rampFrom: Int?

    public init() {}
}

/// What became of one of many writes.
public struct BulkResult: Sendable {
    public let write: DocumentWrite
    /// When it took effect, or why it did not.
    public let outcome: Result<Timestamp, StorageError>
}

/// What became of many writes.
public struct BulkReport: Sendable {
    public internal(set) var written = 0
    public internal(set) var failed = 0
    /// The first hundred that failed.
    public internal(set) var failures: [BulkResult] = []
    /// How many batches were tried again.
    public internal(set) var retries = 0
}

extension BulkReport: CustomStringConvertible {
    public var description: String { "\(written) written, \(failed) failed, \(retries) batches tried again" }
}

extension StorageClient {
    /// Writes very many documents: in batches, several at a time, slower while the server is overloaded. It is no transaction:
    /// each write succeeds or fails by itself. Writes of one document stay in their order.
    ///
    /// ```swift
    /// let project = try await backend.actingAsProject().storage
    /// let report = try await project.writeInBulk(rows.map { try .set("products/\($0.id)", $0.fields) })
    /// ```
    /// Made for clients without a queue: one with a queue sends its batches one after the other.
    ///
    /// - Parameters:
    ///   - writes: Taken as they are needed, so that they never have to be in memory together.
    ///   - options: How much at a time, and how patiently.
    ///   - onResult: Told of each write, in no order, from several tasks at a time.
    /// - Throws: What ends the whole: `.cancelled`, `.shutDown`, `.unauthenticated`, and what `writes` throws. What was
    ///   reported as written stays.
    @discardableResult
    public func writeInBulk<Writes: AsyncSequence>(
        _ writes: Writes, options: BulkOptions = BulkOptions(),
        onResult: @escaping @Sendable (BulkResult) -> Void = { _ in }
    ) async throws -> BulkReport where Writes.Element == DocumentWrite {
        try await BulkRun(self, options, onResult).run(writes)
    }

    /// The same for writes that are at hand.
    @discardableResult
    public func writeInBulk(
        _ writes: some Sequence<DocumentWrite>, options: BulkOptions = BulkOptions(),
        onResult: @escaping @Sendable (BulkResult) -> Void = { _ in }
    ) async throws -> BulkReport {
        try await BulkRun(self, options, onResult).run(AtHand(writes))
    }
}

/// A sequence that nobody has to wait for.
private struct AtHand<Base: Sequence>: AsyncSequence {
    typealias Element = Base.Element
    private let base: Base
    init(_ base: Base) { self.base = base }
    func makeAsyncIterator() -> Iterator { Iterator(base: base.makeIterator()) }

    struct Iterator: AsyncIteratorProtocol {
        fileprivate var base: Base.Iterator
        mutating func next() async -> Base.Element? { base.next() }
    }
}

/// One go at writing many.
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

    /// About what a request may have; the data of one document are a tenth of that at most.
    private static let bytes = 8 << 20

    func run<Writes: AsyncSequence>(_ writes: Writes) async throws -> BulkReport
    where Writes.Element == DocumentWrite {
        let watch = Stopwatch(storage.clock)
        return try await withThrowingTaskGroup(of: BatchOutcome.self) { group in
            var report = BulkReport()
            var pace = BulkPace(parallel: options.parallel, rampFrom: options.rampFrom)
            var (running, batch, bytes) = (0, [DocumentWrite](), 0)
            // Documents of the batch that is being filled, and of those that are under way.
            var (filed, underWay): (Set<StoragePath>, Set<StoragePath>) = ([], [])

            func settleOne() async throws {
                guard let outcome = try await group.next() else { return }
                running -= 1
                underWay.subtract(outcome.paths)
                report.add(outcome)
                pace.note(isOverloaded: outcome.retries > 0)
            }
            func send() async throws {
                guard !batch.isEmpty else { return }
                while running >= pace.width { try await settleOne() }
                let pause = pace.pause(before: batch.count, at: watch.elapsed)
                if pause > .zero { try await storage.clock.sleep(for: pause) }
                let full = batch
                running += 1
                underWay.formUnion(filed)
                group.addTask { try await self.send(full) }
                (batch, bytes, filed) = ([], 0, [])
            }
            for try await write in writes {
                try Task.checkCancellation()
                let weight = write.bulkBytes
                let isTwice = filed.contains(write.path)
                if isTwice || batch.count >= size || (!batch.isEmpty && bytes + weight > Self.bytes) {
                    try await send()
                }
                while underWay.contains(write.path) { try await settleOne() }
                batch.append(write)
                filed.insert(write.path)
                bytes += weight
            }
            try await send()
            while running > 0 { try await settleOne() }
            return report
        }
    }

    /// Until each write of the batch has its outcome.
    private func send(_ batch: [DocumentWrite]) async throws -> BatchOutcome {
        var outcome = BatchOutcome(paths: Set(batch.map(\.path)))
        try await send(batch[...], &outcome)
        return outcome
    }

    private func send(_ batch: ArraySlice<DocumentWrite>, _ outcome: inout BatchOutcome) async throws {
        let writes = WriteBatch(Array(batch))
        var pauses = RetryPauses(initial: .milliseconds(250), maximum: .seconds(30), clock: storage.clock)
        var attempt = 1
        while true {
            let failure: StorageError
            do throws(StorageError) {
                let time = try await storage.commit(writes).acknowledged().commitTime
                for write in batch { tell(.success(time), write, &outcome) }
                return
            } catch {
                failure = error
            }
            if [.cancelled, .shutDown, .unauthenticated].contains(failure.code) { throw failure }
            // Of these it is known that nothing was done.
            let isKnown = [.aborted, .resourceExhausted, .rateLimited].contains(failure.code)
            if failure.isRetryable, isKnown || writes.isIdempotent, attempt < options.attempts {
                attempt += 1
                outcome.retries += 1
                try await storage.clock.sleep(for: pauses.next(atLeast: failure.retryAfter))
                continue
            }
            guard batch.count > 1, !failure.isRetryable else {
                for write in batch { tell(.failure(failure), write, &outcome) }
                return
            }
            // One of them is not wanted, and takes the others with it.
            let middle = batch.startIndex + batch.count / 2
            try await send(batch[..<middle], &outcome)
            return try await send(batch[middle...], &outcome)
        }
    }

    private func tell(
        _ result: Result<Timestamp, StorageError>, _ write: DocumentWrite, _ outcome: inout BatchOutcome
    ) {
        let result = BulkResult(write: write, outcome: result)
        if case .failure = result.outcome { outcome.failures.append(result) } else { outcome.written += 1 }
        onResult(result)
    }
}

private struct BatchOutcome: Sendable {
    let paths: Set<StoragePath>
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

extension DocumentWrite {
    fileprivate var bulkBytes: Int {
        switch operation {
        case .set(let data), .patch(let data, _): data.storedBytes + 100
        case .delete, .verify: 100
        }
    }
}
