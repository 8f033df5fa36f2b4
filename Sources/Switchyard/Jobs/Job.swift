/// A job that a worker has claimed from a ``WorkQueue`` and has to finish before its lease ends.
public struct Job<Payload: Sendable>: Sendable, Identifiable {
    public typealias ID = String

    public let id: ID
    public let payload: Payload
    /// The number of this attempt, from 1.
    public let attempt: Int
    /// The end of the lease: until then no other worker gets the job.
    public internal(set) var leaseEnd: Timestamp
    /// Identifies this claim, so that a worker that lost it finds out.
    let lease: String
}

extension Job: CustomStringConvertible {
    /// Leaves out the payload.
    public var description: String { "Job(\(id), attempt \(attempt))" }
}

/// A job that was given up.
public struct DeadLetter<Payload: Sendable>: Sendable, Identifiable {
    public let id: Job<Payload>.ID
    /// `nil` if it no longer fits the type.
    public let payload: Payload?
    public let attempts: Int
    /// Why the last attempt failed.
    public let reason: String
    public let diedAt: Timestamp
}

/// Options of a ``WorkQueue``.
public struct WorkQueueOptions: Sendable, Hashable {
    /// How long a claimed job belongs to its worker. ``WorkQueue/run(parallel:_:)`` extends the lease while a body runs, so
    /// this is how long the jobs of a worker that died wait for another. The workers' clocks may differ only by a fraction
    /// of it.
    public var lease: Duration = .seconds(60)
    /// How many attempts a job has before it becomes a dead letter.
    public var attempts = 5
    /// How long a job waits after its first failure. Each further failure doubles it, up to an hour.
    public var firstPause: Duration = .seconds(5)
    /// How often ``WorkQueue/run(parallel:_:)`` checks for jobs that no live query announced.
    public var pollInterval: Duration = .seconds(30)

    public init() {}

    /// - Parameter attempt: The number of the failed attempt.
    func pause(after attempt: Int) -> Duration {
        let longest = Duration.seconds(3600)
        return min(min(firstPause, longest) * (1 << min(max(attempt - 1, 0), 20)), longest)
    }
}
