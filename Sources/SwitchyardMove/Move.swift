public import Foundation
import Switchyard

/// Copies documents, accounts and files from one end to another.
///
/// ```swift
/// let move = Move(from: try await BackendEnd(old), to: try await BackendEnd(new))
/// let plan = try await move.plan()
/// print(plan)
/// let run = try move.run(plan, journal: folder)
/// for await progress in run.progress { print(progress) }
/// print(try await run.result())
/// print(try await move.verify(plan, journal: folder))
/// ```
/// The source is only read. Begin with a plan, which says what the move costs and what cannot come along.
public struct Move: Sendable {
    public let from: any MoveEnd
    public let to: any MoveEnd
    public let options: MoveOptions

    public init(from: any MoveEnd, to: any MoveEnd, options: MoveOptions = MoveOptions()) {
        self.from = from
        self.to = to
        self.options = options
    }

    /// Counts what there is, and reads a part of it; see ``MoveOptions/sample``.
    public func plan() async throws(MoveError) -> MovePlan {
        try await Planner(from: from, to: to, options: options).plan()
    }

    /// Begins to copy, or continues what an earlier run with this journal began: it may have ended in any way, at any point.
    ///
    /// - Parameters:
    ///   - plan: The collections that it names are copied.
    ///   - journal: A folder for the record of what is done; see <doc:MovingToAnotherBackend>.
    ///   - throttle: Limits the speed, also while it runs.
    /// - Throws: `.locked` while another process uses the journal; `.invalidArgument` if it belongs to another move;
    ///   `.localStore` if it cannot be written.
    public func run(
        _ plan: MovePlan, journal: URL, throttle: MoveThrottle = MoveThrottle()
    ) throws(MoveError) -> MoveRun {
        let journal = try MoveJournal(journal, from: from.name, to: to.name)
        return MoveRun(Copying(self, plan, journal, throttle))
    }

    /// Compares both ends: documents by a hash of each collection, accounts and files one by one.
    ///
    /// - Parameters:
    ///   - plan: The collections to compare.
    ///   - journal: That of the run, with the new IDs of accounts; `nil` if all have kept theirs.
    ///   - repairs: Whether what differs or is missing is copied again. What only the target has stays.
    public func verify(
        _ plan: MovePlan, journal: URL? = nil, repairs: Bool = false
    ) async throws(MoveError) -> MoveVerification {
        guard !repairs || !(to is ArchiveEnd) else {
            throw MoveError(.unsupported, "An archive cannot be repaired. Export to a new folder.")
        }
        let ids = try journal.map { (folder) throws(MoveError) in
            try MoveJournal(folder, from: from.name, to: to.name).ids
        }
        return try await Verifier(self, plan, IDRewriter(ids ?? [:], fields: options.ownerFields)).verify(
            repairs: repairs)
    }

    /// The service on both ends, if `part` takes part.
    func both<Service>(
        _ part: MovePart, _ source: MoveService<Service>, _ target: MoveService<Service>
    ) -> (source: Service, target: Service)? {
        guard options.parts.contains(part), let source = source.service, let target = target.service else { return nil }
        return (source, target)
    }
}
