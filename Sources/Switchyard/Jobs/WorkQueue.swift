public import Foundation
import SwitchyardBytes

/// A queue of jobs in a collection, for any number of workers on any number of machines. A worker claims a job for a while,
/// does it and removes it; if the worker dies, another one takes over.
///
/// ```swift
/// let mails = WorkQueue("mails", on: project.storage, of: Mail.self)
/// try await mails.add(Mail(to: "alice@example.com", text: "Hello"))
/// try await mails.run(parallel: 4) { job in try await send(job.payload) }
/// ```
/// Every job is done at least once, and twice if a worker loses its lease halfway, or dies after the work and before it
/// could mark it as done. Make that harmless, for example by the job's ``Job/id``. Jobs run roughly in the order in which
/// they become due.
///
/// A job is a document with the fields `payload`, `availableAt`, `addedAt`, `attempts`, `lease` and `reason`. Jobs that were
/// given up move to the collection whose name ends in `-dead`. Only the project's own servers should have access to the two
/// collections. Claims are transactions, so the storage has to support them.
public struct WorkQueue<Payload: Codable & Sendable>: Sendable {
    public let collection: CollectionPath
    public let options: WorkQueueOptions
    let storage: any StorageClient
    let now: @Sendable () -> Timestamp

    /// - Parameters:
    ///   - collection: Where the jobs are stored.
    ///   - storage: Preferably one without a queue of writes, such as that of ``Infrastructure/actingAsProject()``.
    ///   - type: The type of the jobs' payloads.
    ///   - options: Leases, attempts and pauses.
    ///   - now: The clock by which jobs become due.
    public init(
        _ collection: CollectionPath, on storage: any StorageClient, of type: Payload.Type = Payload.self,
        options: WorkQueueOptions = WorkQueueOptions(), now: @escaping @Sendable () -> Timestamp = { Timestamp(Date()) }
    ) {
        self.collection = collection
        self.storage = storage
        self.options = options
        self.now = now
    }

    var deadCollection: CollectionPath { CollectionPath(unchecked: collection.rawValue + "-dead") }

    // MARK: Adding

    /// - Parameters:
    ///   - payload: What the worker needs to know.
    ///   - id: The job's name. Adding a job has no effect while one of the same name waits or runs. Random by default.
    ///   - delay: How long from now the job becomes due.
    /// - Returns: The job's name.
    @discardableResult
    public func add(
        _ payload: Payload, id: Job<Payload>.ID? = nil, after delay: Duration = .zero
    ) async throws(StorageError) -> Job<Payload>.ID {
        let path = id.map { collection.document($0) } ?? storage.newDocument(in: collection)
        let time = now()
        let data = DocumentData([
            ("payload", try DocumentCoder.standard.value(of: payload)), ("attempts", .integer(0)),
            ("addedAt", .timestamp(time)), ("availableAt", .timestamp(time.advanced(by: delay))),
        ])
        do throws(StorageError) {
            let write = try DocumentWrite.set(path, data: data).requiring(.exists(false))
            try await storage.commit(WriteBatch([write])).acknowledged()
        } catch {
            guard id != nil, try await isAbout(existing: path, error) else { throw error }
        }
        return path.id
    }

    /// Whether a job was not added because it is there already. Other preconditions can fail, too, such as a database that is
    /// not set up.
    private func isAbout(existing path: StoragePath, _ error: StorageError) async throws(StorageError) -> Bool {
        switch error.code {
        case .alreadyExists: true
        case .failedPrecondition: (try? await storage.document(path, from: .server).exists) ?? false
        default: false
        }
    }

    /// How many jobs are not done: those that wait and those that are running.
    public func count() async throws(StorageError) -> Int { try await storage.count(Query(in: collection)) }

    // MARK: Claiming

    /// Claims due jobs for the time of a lease. A job whose payload does not fit the type becomes a dead letter.
    ///
    /// - Throws: Why no job could be claimed. If some were claimed before the failure, they are returned.
    public func claim(upTo limit: Int = 1) async throws(StorageError) -> [Job<Payload>] {
        guard limit > 0 else { return [] }
        let due = Query(in: collection).where("availableAt", .lessThanOrEqual, .timestamp(now()))
            .ordered(by: "availableAt").limited(to: min(limit, 50) * 4)
        // Workers that query at the same moment should not all try to claim the same jobs.
        let candidates = try await storage.documents(due, from: .server).documents.shuffled()
        var claimed: [Job<Payload>] = []
        for candidate in candidates where claimed.count < limit {
            do throws(StorageError) {
                if let job = try await claim(candidate) { claimed.append(job) }
            } catch {
                guard claimed.isEmpty else { break }
                throw error
            }
        }
        return claimed
    }

    /// - Returns: `nil` if another worker was faster.
    private func claim(_ candidate: DocumentSnapshot) async throws(StorageError) -> Job<Payload>? {
        let (path, time, lease) = (candidate.path, now(), RandomID.make())
        let end = time.advanced(by: options.lease)
        let attempts: Int?
        do throws(StorageError) {
            attempts = try await storage.transaction(TransactionOptions(maximumAttempts: 2)) { transaction in
                let current = try await transaction.document(path)
                guard current.exists, current["availableAt"] == candidate["availableAt"],
                    current["lease"] == candidate["lease"]
                else { return nil as Int? }
                let attempts = Self.attempts(of: current) + 1
                try await transaction.update(
                    path,
                    [
                        "availableAt": .value(.timestamp(end)), "attempts": .value(.integer(Int64(attempts))),
                        "lease": .value(.string(lease)),
                    ])
                return attempts
            }
        } catch {
            guard error.code == .aborted || error.code == .notFound else { throw error }
            return nil
        }
        guard let attempts else { return nil }
        do throws(StorageError) {
            let payload: Payload = try Self.payload(candidate)
            let job = Job(id: path.id, payload: payload, attempt: attempts, leaseEnd: end, lease: lease)
            // Perhaps the job crashes its workers, again and again.
            guard attempts > options.attempts else { return job }
            try await moveToDeadLetters(
                path, lease,
                "Each of \(options.attempts) attempts ended without a result. The workers may have crashed, or lost their lease."
            )
        } catch {
            guard error.code == .codingFailed else { throw error }
            try await moveToDeadLetters(path, lease, error.message)
        }
        return nil
    }

    /// As stored, but within what can be counted on: anyone with access may have written it.
    private static func attempts(of document: DocumentSnapshot) -> Int {
        Int(min(max(document["attempts"]?.integerValue ?? 0, 0), 1 << 30))
    }

    /// The payload in a job's document.
    private struct StoredJob: Decodable {
        let payload: Payload
    }

    private static func payload(_ document: DocumentSnapshot) throws(StorageError) -> Payload {
        try DocumentCoder.standard.decode(StoredJob.self, from: document.data ?? DocumentData(), at: document.path)
            .payload
    }

    // MARK: Finishing a claimed job

    /// Marks the job as done and removes it.
    ///
    /// - Throws: `.aborted` if the lease was lost: another worker has claimed the job and does it again.
    public func finish(_ job: Job<Payload>) async throws(StorageError) {
        try await change(job.id, job.lease) { transaction, path, _ in try await transaction.delete(path) }
    }

    /// Extends the lease, from now on.
    ///
    /// - Throws: As ``finish(_:)``.
    public func extend(_ job: Job<Payload>) async throws(StorageError) -> Job<Payload> {
        var longer = job
        longer.leaseEnd = now().advanced(by: options.lease)
        let end = longer.leaseEnd
        try await change(job.id, job.lease) { transaction, path, _ in
            try await transaction.update(path, ["availableAt": .value(.timestamp(end))])
        }
        return longer
    }

    /// Gives back a job that failed. It is due again after a pause, or becomes a dead letter if it has no attempts left.
    ///
    /// - Throws: As ``finish(_:)``.
    public func fail(_ job: Job<Payload>, because reason: String) async throws(StorageError) {
        guard job.attempt < options.attempts else {
            return try await moveToDeadLetters(collection.document(job.id), job.lease, reason)
        }
        let due = now().advanced(by: options.pause(after: job.attempt))
        try await change(job.id, job.lease) { transaction, path, _ in
            try await transaction.update(
                path,
                [
                    "availableAt": .value(.timestamp(due)), "lease": .delete,
                    "reason": .value(.string(Self.short(reason))),
                ])
        }
    }

    /// Gives back a job without having tried it: it is due at once.
    func giveBack(_ job: Job<Payload>) async throws(StorageError) {
        let due = now()
        try await change(job.id, job.lease) { transaction, path, _ in
            try await transaction.update(
                path,
                [
                    "availableAt": .value(.timestamp(due)), "lease": .delete,
                    "attempts": .value(.integer(Int64(job.attempt - 1))),
                ])
        }
    }

    private func moveToDeadLetters(_ path: StoragePath, _ lease: String, _ reason: String) async throws(StorageError) {
        let (deadLetter, time) = (deadCollection.document(path.id), now())
        try await change(path.id, lease) { transaction, path, document in
            var data = document.data ?? DocumentData()
            data["reason"] = .string(Self.short(reason))
            data["diedAt"] = .timestamp(time)
            data["lease"] = nil
            try await transaction.add(.set(deadLetter, data: data))
            try await transaction.delete(path)
        }
    }

    private static func short(_ reason: String) -> String { String(reason.prefix(1000)) }

    private func change(
        _ id: Job<Payload>.ID, _ lease: String,
        _ body: @escaping @Sendable (StorageTransaction, StoragePath, DocumentSnapshot) async throws -> Void
    ) async throws(StorageError) {
        let path = collection.document(id)
        try await storage.transaction { transaction in
            let document = try await transaction.document(path)
            guard document["lease"]?.stringValue == lease else {
                throw StorageError(
                    .aborted, "The lease of the job “\(id)” was lost: another worker has claimed it since.",
                    isRetryable: false)
            }
            try await body(transaction, path, document)
        }
    }

    // MARK: Dead letters

    /// The jobs that were given up, by name.
    public func deadLetters(limit: Int = 100) async throws(StorageError) -> [DeadLetter<Payload>] {
        let found = try await storage.documents(Query(in: deadCollection).limited(to: limit), from: .server)
        return found.documents.map { document in
            let diedAt = if case .timestamp(let time)? = document["diedAt"] { time } else { Timestamp.distantPast }
            return DeadLetter(
                id: document.id, payload: try? Self.payload(document),
                attempts: Self.attempts(of: document),
                reason: document["reason"]?.stringValue ?? "", diedAt: diedAt)
        }
    }

    /// Puts a dead letter back into the queue: due at once, and with all attempts left.
    ///
    /// - Throws: `.notFound` if there is none with that name; `.alreadyExists` while a job with that name waits or runs.
    public func requeueDeadLetter(_ id: Job<Payload>.ID) async throws(StorageError) {
        let (deadLetter, path, time) = (deadCollection.document(id), collection.document(id), now())
        try await storage.transaction { transaction in
            var data = try await transaction.document(deadLetter).data
            guard data != nil else { throw StorageError(.notFound, "There is no dead letter “\(id)”.") }
            guard try await !transaction.document(path).exists else {
                throw StorageError(
                    .alreadyExists,
                    "The dead letter “\(id)” was not put back: a job with that name waits or runs. Wait until it is done.",
                    isRetryable: false)
            }
            data?["diedAt"] = nil
            data?["attempts"] = .integer(0)
            data?["availableAt"] = .timestamp(time)
            try await transaction.add(.set(path, data: data ?? DocumentData()))
            try await transaction.delete(deadLetter)
        }
    }
}
