public import Switchyard

/// How a live move stands.
public struct LiveMoveStatus: Sendable, Hashable, Codable {
    public var name: String
    public var phase: MovePhase
    /// The phase that was asked for; the process that runs the move goes there step by step.
    public var requested: MovePhase?
    /// Entries in the logs that are still to be carried over; the count stops at 400 for each side. `nil` in what the process
    /// reports of itself, which does not count them.
    public var waiting: Int?
    /// When the oldest of them was written.
    public var oldestWaiting: Timestamp?
    /// Writes that were carried over since the move began.
    public var carried = 0
    /// Late writes that could not be carried out, in `switchyardMoves/NAME/switchyardConflicts` on the serving side, and
    /// documents that the other side rejects.
    public var conflicts: [Rejection] = []
    /// What the process that runs the move does, such as the progress of the copy.
    public var activity: String?
    /// Why it does not go on, as a sentence with what to do.
    public var problem: String?
    /// When that process last reported; `nil` if none ever ran.
    public var reportedAt: Timestamp?
    /// Whether it was running then. One that was killed still appears here; look at the time.
    public var isRunning = false
    public var isPaused = false
    /// Documents a second while copying; `nil` for no limit.
    public var limit: Int?

    /// The side that apps use.
    public var serving: MoveSide { phase.serving }
}

extension LiveMoveStatus: CustomStringConvertible {
    public var description: String {
        var lines = ["Move “\(name)”: phase \(phase.rawValue), the \(serving) side serves"]
        if let requested, requested != phase { lines.append("Requested: \(requested.rawValue)") }
        if isPaused { lines.append("Paused. Writes wait in the log; “switchyard move resume” goes on.") }
        if let limit { lines.append("Limited to \(limit) documents a second") }
        if let activity { lines.append(activity) }
        switch waiting {
        case nil: break
        case 0?: lines.append("Everything that was written is on both sides.")
        case let count?:
            lines.append(
                "\(Shown.count(count, "write")) to carry\(oldestWaiting.map { ", the oldest of \($0)" } ?? "")")
        }
        lines.append("Carried so far: \(Shown.count(carried, "write"))")
        switch (isRunning, reportedAt) {
        case (_, nil): lines.append("No process has run the move yet.")
        case (true, let reportedAt?): lines.append("The process that runs the move last reported at \(reportedAt)")
        case (false, _) where phase == .done: lines.append("The move is done.")
        case (false, let reportedAt?):
            lines.append("No process runs the move since \(reportedAt); “switchyard move start” goes on.")
        }
        if let problem { lines.append("Problem: \(problem)") }
        if !conflicts.isEmpty {
            lines.append("\(Shown.count(conflicts.count, "write")) could not be carried out:")
            lines += conflicts.prefix(20).map { "  \($0.subject): \($0.reason)" }
        }
        return lines.joined(separator: "\n")
    }
}

/// What people ask of the process that runs a move.
struct MoveRequest: Sendable, Hashable {
    var phase: MovePhase?
    var isPaused = false
    var limit: Int?

    init() {}

    init(_ document: DocumentSnapshot) {
        phase = document["phase"]?.stringValue.flatMap(MovePhase.init)
        isPaused = document["isPaused"]?.boolValue ?? false
        limit = document["limit"]?.integerValue.map(Int.init)
    }

    var fields: WriteFields {
        [
            "phase": phase.map { .of($0.rawValue) } ?? .null, "isPaused": .of(isPaused),
            "limit": limit.map { .of($0) } ?? .null,
        ]
    }
}
