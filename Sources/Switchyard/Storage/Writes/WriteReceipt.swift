/// The receipt of a write that is stored safely. It gives you the server's answer to the write.
///
/// A client without offline support has the server's answer when it returns the receipt. A client with a queue may get it much
/// later.
public struct WriteReceipt: Sendable {
    /// What the server answered to a batch.
    public struct Acknowledgement: Sendable, Hashable {
        /// When the batch took effect on the server.
        public let commitTime: Timestamp
        /// For each write, the document's version after it; `nil` for deletions, and if the backend does not report it.
        public let updateTimes: [Timestamp?]
        /// The added document, if the server has made its name. From now on, the name that it had on this device stands for it
        /// here.
        public let added: StoragePath?

        public init(commitTime: Timestamp, updateTimes: [Timestamp?], added: StoragePath? = nil) {
            self.commitTime = commitTime
            self.updateTimes = updateTimes
            self.added = added
        }
    }

    /// The batch's own name: the same in the queue of pending writes and in a provider's ledger.
    public let batchID: String
    /// The added document, if the server has made its name already; see ``StorageClient/newDocument(in:)``. For an addition that
    /// waits, ``Acknowledgement/added`` tells it.
    public let added: StoragePath?
    /// The final state, if it was known when the receipt was made.
    let present: State?
    let answer: @Sendable () async -> Result<Acknowledgement, StorageError>
    /// `nil` if nothing is known before the answer.
    let makeStates: (@Sendable () -> EventStream<State, Never>)?
    let lastFailure: @Sendable () async -> StorageError?
    /// What it is about, for error texts: `Writing “users/alice”`.
    var subject: String?

    /// A write that the server has not answered yet.
    ///
    /// - Parameters:
    ///   - batchID: The batch's own name.
    ///   - lastFailure: Why the last attempt to send the queue failed, if one did. Thrown to callers whose deadline passes.
    ///   - progress: What the queue notes about the write, for ``states``; without it, they are *local* and then the answer.
    ///   - answer: Waits for the server; called once per waiting caller. It returns early with `.cancelled` if the calling
    ///     task is cancelled; the write itself continues.
    public init(
        batchID: String, lastFailure: @escaping @Sendable () async -> StorageError? = { nil },
        progress: WriteProgress? = nil,
        answer: @escaping @Sendable () async -> Result<Acknowledgement, StorageError>
    ) {
        var makeStates: (@Sendable () -> EventStream<State, Never>)?
        if let progress { makeStates = { progress.states } }
        self.init(batchID, present: nil, lastFailure: lastFailure, makeStates: makeStates, answer: answer)
    }

    /// A write that the server has answered already.
    ///
    /// - Parameters:
    ///   - batchID: The batch's own name.
    ///   - acknowledgement: The answer.
    ///   - added: The added document, if the server has made its name.
    public init(batchID: String, acknowledged acknowledgement: Acknowledgement, added: StoragePath? = nil) {
        self.init(batchID, present: .acknowledged(acknowledgement), added: added) { .success(acknowledgement) }
    }

    /// A write that the server has rejected already, by a client that reports that on the receipt.
    public init(batchID: String, rejected error: StorageError) {
        self.init(batchID, present: .rejected(error)) { .failure(error) }
    }

    init(
        _ batchID: String, present: State?, added: StoragePath? = nil,
        lastFailure: @escaping @Sendable () async -> StorageError? = { nil },
        makeStates: (@Sendable () -> EventStream<State, Never>)? = nil,
        answer: @escaping @Sendable () async -> Result<Acknowledgement, StorageError>
    ) {
        self.lastFailure = lastFailure
        self.batchID = batchID
        self.present = present
        self.added = added
        self.makeStates = makeStates
        self.answer = answer
    }

    /// Waits until the server has accepted the write, or until the deadline of the request that the caller serves.
    ///
    /// - Throws: At that deadline as ``acknowledged(within:clock:)``; the reason if the server refused it, in which case its
    ///   local effect is undone; `.cancelled` if the caller was cancelled.
    @discardableResult
    public func acknowledged() async throws(StorageError) -> Acknowledgement {
        if let deadline = RequestDeadline.current { return try await acknowledged(within: deadline - .now) }
        return try await answer().get()
    }

    /// Waits until the server has accepted the write, with a deadline. If the queue cannot be sent, the error says why.
    ///
    /// - Throws: As ``acknowledged()``; at the deadline the code of the last attempt's failure, or `.deadlineExceeded` if
    ///   none has failed or the network is switched off. The write stays queued and is sent as soon as possible.
    @discardableResult
    public func acknowledged(
        within deadline: Duration, clock: any Clock<Duration> = ContinuousClock()
    ) async throws(StorageError) -> Acknowledgement {
        if present != nil { return try await answer().get() }
        if let answer = await QueueDeadline.first(answer, within: deadline, clock) { return try answer.get() }
        throw QueueDeadline.error(after: await lastFailure(), subject)
    }
}

/// Waiting for a queue that may never empty.
enum QueueDeadline {
    /// - Returns: `nil` at the deadline.
    static func first<Success: Sendable>(
        _ answer: @escaping @Sendable () async -> Result<Success, StorageError>, within deadline: Duration,
        _ clock: any Clock<Duration>
    ) async -> Result<Success, StorageError>? {
        await withTaskGroup(of: Result<Success, StorageError>?.self) { group in
            group.addTask { await answer() }
            group.addTask {
                // If cancelled, the answer throws.
                if (try? await clock.sleep(for: deadline)) == nil { return await answer() }
                return nil
            }
            let first = await group.next() ?? nil
            group.cancelAll()
            return first
        }
    }

    /// - Parameter subject: What waits: `Writing “users/alice”`.
    static func error(after failure: StorageError?, _ subject: String?) -> StorageError {
        let subject = subject ?? "The write"
        guard let failure else {
            return StorageError(
                .deadlineExceeded,
                "\(subject) is waiting: the server has not answered in time. It is saved, and sent as soon as it can be."
            )
        }
        if failure.message == StorageError.networkSwitchedOff.message {
            return StorageError(
                .deadlineExceeded,
                "\(subject) is waiting: the network is switched off with disableNetwork(). It is saved; enableNetwork() sends it.",
                underlying: failure)
        }
        return StorageError(
            failure.code,
            "\(subject) is waiting and will be tried again; the last attempt failed: \(failure.message)",
            isRetryable: true, underlying: failure)
    }
}

extension WriteReceipt: CustomStringConvertible, CustomDebugStringConvertible {
    /// What is known without waiting: the server has committed the write, or it is queued and ``acknowledged()`` waits for
    /// the server.
    public var description: String {
        let subject = subject ?? "write \(batchID)"
        return present.map { "\(subject): \($0)" } ?? "\(subject): queued; acknowledged() waits for the server"
    }
    public var debugDescription: String { "WriteReceipt(\(description))" }
}

extension WriteReceipt.Acknowledgement: CustomStringConvertible {
    public var description: String { "committed at \(commitTime)" }
}
