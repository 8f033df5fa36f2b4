import Foundation
import Switchyard
import SwitchyardBytes

/// The steps of a live move: the copy, carrying what is in the logs, and the change of sides.
extension LiveRun {
    /// A new copy, also after a move that was given up.
    func startCopy() async throws {
        for name in ["journal.jsonl", "ids.jsonl", "rejected.jsonl", "plan.json"] {
            try? FileManager.default.removeItem(at: live.journal.appendingPathComponent(name))
        }
        // What is in the log has taken effect, and is copied with everything else.
        while true {
            let entries = try await carrier.entries(.old)
            if entries.isEmpty { break }
            try await carrier.forget(entries, .old)
        }
        try await become(.copy, first: .old)
    }

    func copy() async throws {
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

    func readLimit() async {
        if let request = try? await live.request() { throttle.limit = request.limit }
    }

    /// The plan of the first run, so that each one copies the same.
    func plan() async throws -> MovePlan {
        let file = live.journal.appendingPathComponent("plan.json")
        if let data = try? Data(contentsOf: file), let plan = try? JSONDecoder().decode(MovePlan.self, from: data) {
            return plan
        }
        let plan = try await live.move.plan()
        try JSONEncoder().encode(plan).write(to: file, options: .atomic)
        return plan
    }

    func carry(from side: MoveSide) async throws {
        let entries = try await carrier.entries(side)
        try await carry(entries, from: side)
    }

    func carry(_ entries: [MoveLogEntry], from side: MoveSide) async throws {
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
    func replayLateWrites(from side: MoveSide) async throws -> Int {
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
    func changeSides(to phase: MovePhase) async throws {
        let side = control.phase.serving
        if !control.isClosing {
            var closing = control
            closing.isClosing = true
            control = try await live.announce(closing, first: side)
        }
        for _ in 0..<200 {
            if isPostponing { _ = try await replayLateWrites(from: side.other) }
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
    func reopen() async throws {
        guard control.isClosing else { return }
        var open = control
        open.isClosing = false
        control = try await live.announce(open, first: control.phase.serving)
    }

    /// Compares everything, and carries what differs.
    func compareSides() async throws {
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
    }

    func become(_ phase: MovePhase, first side: MoveSide) async throws {
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

    func keep(_ rejection: Rejection, on side: MoveSide) async throws {
        let path = live.layout.conflicts.document(rejection.id)
        try await carrier.clients[side].setDocument(
            path,
            [
                "at": .serverTime, "reason": .of(rejection.reason),
                "writes": .value(.array([.string(rejection.subject)])),
            ]
        ).acknowledged()
    }
}

extension Rejection {
    /// The same for the same subject.
    fileprivate var id: String { Hex.encode(Array(SHA256.digest(of: Array(subject.utf8)).prefix(12))) }
}
