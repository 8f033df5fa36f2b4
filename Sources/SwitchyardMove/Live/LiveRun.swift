import Foundation
import Switchyard
import SwitchyardBytes
import Synchronization

/// The process of a live move: one step after the other.
actor LiveRun {
    let live: LiveMove
    let carrier: Carrier
    private let report: @Sendable (LiveMoveStatus) -> Void
    let throttle = MoveThrottle()
    var control = MoveControl()
    var request = MoveRequest()
    var activity: String?
    var problem: String?
    var carried = 0
    private var failures = 0
    /// What was copied to the other side since the log was last read, with the version that was copied; `nil` if that is not
    /// known.
    var copied: [StoragePath: Timestamp?]?
    /// Whether documents wait for writes on the side that does not serve.
    var isPostponing = false
    var pause = Duration.zero
    var quietSince = ContinuousClock.now
    /// Names the journal: the process before this one has ended if it was of the same.
    private let id: String
    var reported: ContinuousClock.Instant?

    init(_ live: LiveMove, _ report: @escaping @Sendable (LiveMoveStatus) -> Void) throws(MoveError) {
        self.live = live
        let file = live.journal.appendingPathComponent("live.id")
        if let saved = try? String(contentsOf: file, encoding: .utf8), !saved.isEmpty {
            id = saved
        } else {
            id = RandomID.make()
            try LineFolder.write(Array(id.utf8), to: live.journal, "live.id")
        }
        carrier = live.carrier
        self.report = report
    }

    func run() async throws(MoveError) {
        try await begin()
        do throws(MoveError) {
            while true {
                if Task.isCancelled { throw .stopped }
                let step = try await nextStep()
                if step == .end { return }
                // Longer from step to step while nothing happens.
                if pause > .zero { do { try await Task.sleep(for: pause) } catch { throw .stopped } }
            }
        } catch {
            problem = error.code == .cancelled ? nil : error.message
            // In a task of its own, for this one may be cancelled.
            await Task { try? await self.note(isRunning: false) }.value
            throw error
        }
    }

    private enum Outcome { case next, end }

    /// A step. A failure that may pass is reported, and the step tried again after a pause.
    private func nextStep() async throws(MoveError) -> Outcome {
        do throws(MoveError) {
            let outcome = try await during("Running the move “\(live.layout.name)”") { try await self.step() }
            failures = 0
            return outcome
        } catch {
            guard error.isRetryable else { throw error }
            failures += 1
            pause = min(.milliseconds(200 << min(failures, 7)), .seconds(15))
            problem = error.message
            // What was copied by the failed step is not known.
            copied = nil
            show("Trying again: \(error.message)")
            return .next
        }
    }

    private func begin() async throws(MoveError) {
        control = try await live.control()
        let progress = try await during("Reading the progress of the move") {
            try await carrier.clients.old.document(live.layout.progress, from: .server)
        }
        carried = Int(progress["carried"]?.integerValue ?? 0)
        if let at = progress["at"]?.timestampValue, progress["journal"]?.stringValue != id,
            progress["isRunning"]?.boolValue == true, Timestamp(Date()).seconds - at.seconds < 20
        {
            throw MoveError(
                .locked,
                "Another process runs the move “\(live.layout.name)”; it last reported at \(at). Stop it, or wait for 20 seconds after its end.",
                isRetryable: true)
        }
        // A process that ended between the two writes.
        if control.epoch > 0 { control = try await live.announce(control, first: control.phase.serving) }
        request = try await during("Reading what is asked of the move") { try await live.request() }
        if request.phase == nil {
            try await live.request(.dualWrite)
            request.phase = .dualWrite
        }
    }

    private func step() async throws -> Outcome {
        request = try await live.request()
        throttle.limit = request.limit
        problem = nil
        let wanted = request.phase ?? .dualWrite
        if request.isPaused {
            try await reopen()
            pause = live.longestPause
            try await note()
            return .next
        }
        let before = carried
        // What came late, on the side that does not serve, before anything that changes sides.
        let late = control.phase == .copy ? 0 : try await replayLateWrites(from: control.phase.serving.other)
        if late > 0 { quietSince = .now }
        switch control.phase {
        case .idle:
            if wanted == .idle {
                if isQuiet { return try await end() }
            } else {
                try await startCopy()
            }
        case .copy:
            if wanted != .idle { try await copy() }
            try await become(wanted == .idle ? .idle : .dualWrite, first: .old)
        case .dualWrite, .shadowRead:
            if wanted < control.phase {
                try await become(wanted == .idle ? .idle : .dualWrite, first: .old)
            } else if wanted > control.phase, control.phase == .dualWrite {
                try await carry(from: .old)
                try await compareSides()
                try await become(.shadowRead, first: .old)
            } else if wanted > control.phase {
                try await changeSides(to: .cutOver)
            } else {
                try await reopen()
                try await carry(from: .old)
            }
        case .cutOver:
            if wanted < .cutOver {
                try await changeSides(to: .shadowRead)
            } else {
                try await reopen()
                try await carry(from: .new)
                if wanted == .done {
                    if late == 0 {
                        try await become(.done, first: .new)
                    } else {
                        problem = "Devices still write to the old side. The move ends when none does."
                    }
                }
            }
        case .done:
            // Devices that come back later may still have written to the old side.
            if isQuiet { return try await end() }
        }
        pause = carried == before ? min(max(pause * 2, .milliseconds(20)), live.longestPause) : .zero
        try await note()
        return .next
    }

    private func end() async throws -> Outcome {
        try await note(isRunning: false)
        return .end
    }

    /// Whether no device has come late for a while.
    private var isQuiet: Bool { quietSince.duration(to: .now) >= live.quietPeriod }

    // MARK: Reports

    func show(_ text: String) {
        activity = text
        var status = LiveMoveStatus(name: live.layout.name, phase: control.phase)
        (status.requested, status.isRunning) = (request.phase, true)
        (status.activity, status.problem, status.carried) = (activity, problem, carried)
        (status.isPaused, status.limit, status.reportedAt) = (request.isPaused, request.limit, Timestamp(Date()))
        report(status)
    }

    func report(_ text: String) async {
        show(text)
        try? await note()
    }

    /// At most once in five seconds, and at the end.
    func note(isRunning: Bool = true) async throws {
        if isRunning, let reported, reported.duration(to: .now) < .seconds(5) { return }
        reported = .now
        if isRunning { for side in MoveSide.allCases { try await carrier.forgetOldMarkers(side) } }
        try await carrier.clients.old.setDocument(
            live.layout.progress,
            [
                "at": .serverTime, "journal": .of(id), "isRunning": .of(isRunning), "carried": .of(carried),
                "activity": activity.map { .of($0) } ?? .null, "problem": problem.map { .of($0) } ?? .null,
            ]
        ).acknowledged()
    }
}
