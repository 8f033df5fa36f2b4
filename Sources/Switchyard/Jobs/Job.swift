/// A piece of work that somebody has claimed from a ``WorkQueue``, and has to finish before its lease ends.
public struct Job<Payload: Sendable>: Sendable, Identifiable {
    public typealias ID = String

    public let id: ID
    public let payload: Payload
    /// Which attempt at it this is, from 1.
    public let attempt: Int
    /// Until when it is nobody else's.
    public internal(set) var leaseEnd: Timestamp
    /// Names this claim, so that whoever has lost it notices.
    let lease: String
}

extension Job: CustomStringConvertible {
    /// Without the payload.
    public var description: String { "Job(\(id), attempt \(attempt))" }
}

/// A piece of work that was given up.
public struct DeadLetter<Payload: Sendable>: Sendable, Identifiable {
    public let id: Job<Payload>.ID
    /// `nil` where it does not fit the type any more.
    public let payload: Payload?
    public let attempts: Int
    /// Why the last attempt failed.
    public let reason: String
    public let diedAt: Timestamp
}

/// How a ``WorkQueue`` treats its jobs.
public struct WorkQueueOptions: Sendable, Hashable {
    /// For how long a claimed job is nobody else's. While a body runs in ``WorkQueue/run(parallel:_:)`` it is extended, so this is
    /// how long the jobs of a worker that has died wait for another. Clocks of workers may differ by a fraction of it only.
    public var lease: Duration = .seconds(60)
    /// After how many failed attempts a job becomes a dead letter.
    public var attempts = 5
    /// How long a job waits after its first failure, twice as long after each further one, an hour at most.
    public var firstPause: Duration = .seconds(5)
    /// How often ``WorkQueue/run(parallel:_:)`` looks for jobs even if nobody announces any.
    public var pollInterval: Duration = .seconds(30)

    public init() {}

    /// - Parameter attempt: The number of the failed attempt.
    func pause(after attempt: Int) -> Duration {
        min(firstPause * (1 << min(max(attempt - 1, 0), 20)), .seconds(3600))
    }
}
