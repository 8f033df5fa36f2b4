import Foundation
import Switchyard
import SwitchyardBytes
import Synchronization

/// The process of a live move: one step after the other.
actor LiveRun {
    private let live: LiveMove
    private let carrier: Carrier
    private let report: @Sendable (LiveMoveStatus) -> Void
    private let throttle = MoveThrottle()
    private var control = MoveControl()
    private var request = MoveRequest()
    private var activity: String?
    private var problem: String?
    private var carried = 0
    private var failures = 0
    /// What was copied to the other side since the log was last read, with the version that was copied; `nil` if that is not
    /// known.
    private var copied: [StoragePath: Timestamp?]?
    /// Whether documents wait for writes on the side that does not serve.
    private var isPostponing = false
    private var pause = Duration.zero
    private var quietSince = ContinuousClock.now
    /// Names the journal: the process before this one has ended if it was of the same.
    private let id: String
    private var reported: ContinuousClock.Instant?

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
                if pause > .zero { do { try await Task.sleep(for: pause) } catch { throw .stopped } }
            }
        } catch {
            problem = error.code == .cancelled ? nil : error.message
            // In a task of its own, for this one may be cancelled.
            await Task { _ = try? await self.note(isRunning: false) }.value
            throw error
        }
    }

    private enum Outcome { case next, end }

    /// A step. A failure that may pass is reported, and the step tried again after a pause.
    private func nextStep() async throws(MoveError) -> Outcome {
        do throws(MoveError) {
            let isDone = try await during("Running the move “\(live.layout.name)”") { try await self.step() }
            failures = 0
            return isDone ? .end : .next
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

    /// - Returns: Whether nothing is left to do.
    private func step() async throws -> Bool {
        request = try await live.request()
        throttle.limit = request.limit
        problem = nil
        let wanted = request.phase ?? .dualWrite
        if request.isPaused {
            try await reopen()
            pause = live.longestPause
            return try await note()
        }
        let before = carried
        // What came late, on the side that does not serve, before anything that changes sides.
        let late = control.phase == .copy ? 0 : try await replayStrays(from: control.phase.serving.other)
        if late > 0 { quietSince = .now }
        switch control.phase {
        case .idle:
            if wanted == .idle {
                if isQuiet { return try await end() }
            } else {
                try await startCopy()
            }
        case .copy:
            if wanted == .idle { return try await giveUp() }
            try await copy()
            try await become(.dualWrite, first: .old)
        case .dualWrite, .shadowRead:
            if wanted == .idle { return try await giveUp() }
            if wanted < control.phase {
                try await become(.dualWrite, first: .old)
            } else if wanted > control.phase, control.phase == .dualWrite {
                try await carry(from: .old)
                if try await sweep() { try await become(.shadowRead, first: .old) }
            } else if wanted > control.phase {
                try await flip(to: .cutOver)
            } else {
                try await reopen()
                try await carry(from: .old)
            }
        case .cutOver:
            if wanted < .cutOver {
                try await flip(to: .shadowRead)
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
        return try await note()
    }

    /// Whether no device has come late for a while.
    private var isQuiet: Bool { quietSince.duration(to: .now) >= live.quietPeriod }

    // MARK: Steps

    private func startCopy() async throws {
        // What is in the log has taken effect, and is copied with everything else.
        while true {
            let entries = try await carrier.entries(.old)
            if entries.isEmpty { break }
            try await carrier.forget(entries, .old)
        }
        try await become(.copy, first: .old)
    }

    private func copy() async throws {
        let plan = try await plan()
        let run = try live.move.run(plan, journal: live.journal, throttle: throttle)
        let watcher = Task {
            for await progress in run.progress {
                await self.readLimit()
                await self.report("Copying: \(progress)")
            }
        }
        defer { watcher.cancel() }
        let report = try await run.result()
        show(report.description)
        copied = nil
    }

    private func readLimit() async {
        if let request = try? await live.request() { throttle.limit = request.limit }
    }

    /// The plan of the first run, so that each one copies the same.
    private func plan() async throws -> MovePlan {
        let file = live.journal.appendingPathComponent("plan.json")
        if let data = try? Data(contentsOf: file), let plan = try? JSONDecoder().decode(MovePlan.self, from: data) {
            return plan
        }
        let plan = try await live.move.plan()
        try JSONEncoder().encode(plan).write(to: file, options: .atomic)
        return plan
    }

    private func carry(from side: MoveSide) async throws {
        let entries = try await carrier.entries(side)
        try await carry(entries, from: side)
    }

    private func carry(_ entries: [MoveLogEntry], from side: MoveSide) async throws {
        guard !entries.isEmpty else {
            copied = [:]
            return
        }
        let paths = entries.flatMap(\.documents)
        copied = nil
        let outcome = try await carrier.copyStates(of: paths, from: side)
        for rejection in outcome.rejections { try await keep(rejection, on: side) }
        let done = entries.filter { !$0.isOpen && outcome.postponed.isDisjoint(with: $0.documents) }
        for entry in done {
            if case .file(let path, _) = entry.content { try await carrier.copyFile(path, from: side) }
        }
        try await carrier.forget(done, side)
        copied = outcome.versions
        isPostponing = !outcome.postponed.isEmpty
        carried += done.count
    }

    /// Carries out what reached the side that no longer serves.
    ///
    /// - Returns: How many entries there were.
    private func replayStrays(from side: MoveSide) async throws -> Int {
        let entries = try await carrier.entries(side)
        for entry in entries where !entry.isOpen {
            if let reason = try await carrier.replay(entry, from: side) {
                activity = "A late write could not be carried out: \(reason)"
            }
            // One by one, so that a device which waits for its own is not kept waiting for the others.
            try await carrier.forget([entry], side)
            carried += 1
        }
        return entries.count
    }

    /// Changes the serving side.
    ///
    /// What is in the log then is carried out later as an operation, so it must not have been copied already; and what can be carried
    /// as a state only must have been. Transactions wait meanwhile.
    private func flip(to phase: MovePhase) async throws {
        let side = control.phase.serving
        if !control.isClosing {
            var closing = control
            closing.isClosing = true
            control = try await live.announce(closing, first: side)
        }
        for _ in 0..<200 {
            if isPostponing { _ = try await replayStrays(from: side.other) }
            let entries = try await carrier.entries(side)
            if let done = included(in: entries), entries.count < Carrier.page {
                try await carrier.forget(done, side)
                carried += done.count
                return try await become(phase, first: side.other)
            }
            try await carry(entries, from: side)
        }
        problem =
            "The serving side is written to faster than the other can follow. The change of sides waits for a quieter moment."
        try await reopen()
    }

    /// The entries that have been copied, if it is known of each whether it has.
    private func included(in entries: [MoveLogEntry]) -> [MoveLogEntry]? {
        guard let copied else { return nil }
        var done: [MoveLogEntry] = []
        for entry in entries {
            var states: Set<Bool> = []
            for path in entry.documents {
                guard let version = copied[path] else {
                    states.insert(false)
                    continue
                }
                // The versions of tables cannot be compared, and a missing document has none.
                guard let copiedVersion = version, let version = entry.version, comparesVersions else { return nil }
                states.insert(version <= copiedVersion)
            }
            guard states.count < 2 else { return nil }
            if states.contains(true) { done.append(entry) } else if entry.isState { return nil }
        }
        return done
    }

    /// Whether the versions of documents on the serving side are times.
    private var comparesVersions: Bool { carrier.clients[control.phase.serving].capabilities.openTypes }

    /// Lets transactions go on.
    private func reopen() async throws {
        guard control.isClosing else { return }
        var open = control
        open.isClosing = false
        control = try await live.announce(open, first: control.phase.serving)
    }

    /// Compares everything, and carries what differs.
    ///
    /// - Returns: Whether both sides are the same now.
    private func sweep() async throws -> Bool {
        show("Comparing both sides")
        let verification = try await live.move.verify(try await plan())
        var (paths, files, extras) = ([StoragePath](), [FilePath](), 0)
        for difference in verification.differences {
            if difference.kind == .extra, !live.deletesExtras {
                extras += 1
                continue
            }
            switch difference.part {
            case .documents: paths.append(try StoragePath(validating: difference.subject))
            case .files: files.append(try FilePath(validating: difference.subject))
            case .accounts: break
            }
        }
        copied = nil
        let outcome = try await carrier.copyStates(of: paths, from: .old)
        for rejection in outcome.rejections { try await keep(rejection, on: .old) }
        for file in files { try await carrier.copyFile(file, from: .old) }
        show(
            "Compared both sides: \(Shown.count(verification.differences.count, "difference")), "
                + "\(paths.count - outcome.rejections.count + files.count) carried over"
                + (extras == 0 ? "" : ", \(Shown.count(extras, "document")) on the new side only, which stay"))
        return true
    }

    private func giveUp() async throws -> Bool {
        try await become(.idle, first: .old)
        return false
    }

    private func end() async throws -> Bool {
        try await note(isRunning: false)
        return true
    }

    private func become(_ phase: MovePhase, first side: MoveSide) async throws {
        var next = control
        next.phase = phase
        next.isClosing = false
        control = try await live.announce(next, first: side)
        copied = nil
        pause = .zero
        quietSince = .now
        reported = nil
        show("Phase \(phase.rawValue)")
    }

    private func keep(_ rejection: Rejection, on side: MoveSide) async throws {
        let path = live.layout.conflicts.document(rejection.id)
        try await carrier.clients[side].setDocument(
            path,
            [
                "at": .serverTime, "reason": .of(rejection.reason),
                "writes": .value(.array([.string(rejection.subject)])),
            ]
        ).acknowledged()
    }

    // MARK: Reports

    private func show(_ text: String) {
        activity = text
        var status = LiveMoveStatus(name: live.layout.name, phase: control.phase, waiting: 0)
        status.requested = request.phase
        (status.activity, status.problem, status.carried) = (activity, problem, carried)
        (status.isPaused, status.limit, status.reportedAt) = (request.isPaused, request.limit, Timestamp(Date()))
        report(status)
    }

    private func report(_ text: String) async {
        show(text)
        _ = try? await note()
    }

    /// At most once in five seconds, and at the end.
    @discardableResult
    private func note(isRunning: Bool = true) async throws -> Bool {
        if isRunning, let reported, reported.duration(to: .now) < .seconds(5) { return false }
        reported = .now
        if isRunning { for side in [MoveSide.old, .new] { try await carrier.forgetOldMarkers(side) } }
        try await carrier.clients.old.setDocument(
            live.layout.progress,
            [
                "at": .serverTime, "journal": .of(id), "isRunning": .of(isRunning), "carried": .of(carried),
                "activity": activity.map { .of($0) } ?? .null, "problem": problem.map { .of($0) } ?? .null,
            ]
        ).acknowledged()
        return false
    }
}

extension Rejection {
    /// The same for the same subject.
    fileprivate var id: String { Hex.encode(Array(SHA256.digest(of: Array(subject.utf8)).prefix(12))) }
}
