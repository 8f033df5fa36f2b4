public import Foundation
import Switchyard
import SwitchyardBytes

/// A move while apps go on reading and writing: it copies everything, carries what is written meanwhile, and changes sides.
///
/// ```swift
/// let move = try LiveMove(
///     from: try await BackendEnd(old), to: try await BackendEnd(new), name: "2026", journal: folder)
/// Task { try await move.run { print($0) } }      // in one process, which may be stopped and started again
/// try await move.reach(.cutOver)                 // in any process
/// ```
/// Apps take part with a ``MovingStorageClient``, by ``MovingModule``. Release that first: only writes of such clients are
/// logged and carried over. See <doc:MovingWhileEverythingRuns>.
public struct LiveMove: Sendable {
    let move: Move
    let journal: URL
    let carrier: Carrier
    /// Whether documents that only the target has are deleted before reads are compared. Set it if the target has nothing else,
    /// for example after a move that was given up.
    public var deletesExtras = false
    /// How long the process goes on after the end, or after the move was given up, while no device comes late.
    public var quietPeriod = Duration.seconds(60)
    /// The longest pause between two readings of the log.
    public var longestPause = Duration.seconds(1)

    /// - Parameters:
    ///   - from: A ``BackendEnd`` with documents.
    ///   - to: Another one.
    ///   - name: The move's name, as in the configuration of the apps.
    ///   - journal: A folder for the record of the copy.
    ///   - options: What is moved. Accounts do not take part: move them before or after, by ``Move``.
    /// - Throws: `.unsupported` if one of the backends cannot take part, with the reason.
    public init(
        from: BackendEnd, to: BackendEnd, name: String = "default", journal: URL, options: MoveOptions = MoveOptions()
    ) throws(MoveError) {
        let layout = try MoveLayout(name)
        let (old, new) = (try from.liveDocuments, try to.liveDocuments)
        try MovingStorageClient.check(old.storage)
        try MovingStorageClient.check(new.storage)
        var options = options
        options.parts.remove(.accounts)
        self.move = Move(from: from, to: to, options: options)
        self.journal = journal
        let hasFiles = options.parts.contains(.files)
        carrier = Carrier(
            clients: Sides(old: old.storage, new: new.storage),
            files: Sides(
                old: hasFiles ? from.files.service as? BackendFiles : nil,
                new: hasFiles ? to.files.service as? BackendFiles : nil),
            limits: Sides(old: old.limits, new: new.limits), log: MoveLog(layout))
    }

    var layout: MoveLayout { carrier.layout }

    // MARK: Requests, from any process

    /// Asks for a phase. The process that runs the move goes there step by step, forth or back, and ``status()`` says how far it
    /// is.
    ///
    /// - Throws: `.invalidArgument` for a phase that cannot be reached, with the reason.
    public func request(_ phase: MovePhase) async throws(MoveError) {
        let current = try await control().phase
        guard current != .done || phase == .done else {
            throw MoveError(
                .invalidArgument,
                "The move “\(layout.name)” is done; there is no way back. Move again, the other way round."
            )
        }
        guard phase != .copy else {
            throw MoveError(
                .invalidArgument, "The copy begins with the move. Ask for “dual-write”, which comes after it.")
        }
        try await edit { $0.phase = phase }
    }

    /// Asks for a phase, and waits until the process that runs the move has reached it.
    ///
    /// - Parameters:
    ///   - phase: The process also goes through those between.
    ///   - patience: How long to wait; `nil` for as long as it takes.
    /// - Throws: As ``request(_:)``; `.deadlineExceeded`, and the phase stays asked for; `.cancelled`.
    public func reach(_ phase: MovePhase, within patience: Duration? = nil) async throws(MoveError) {
        try await request(phase)
        let isReached = try await waits(within: patience) { () async throws(MoveError) in
            try await control().phase == phase
        }
        guard isReached else {
            throw MoveError(
                .deadlineExceeded,
                "“\(phase.rawValue)” is asked for, but was not reached in time. The move's status says what it waits for.",
                isRetryable: true)
        }
    }

    /// Waits until everything that has been written is on both sides. While apps write all the time, that may take long.
    public func waitUntilCarried() async throws(MoveError) {
        _ = try await waits(within: nil) { () async throws(MoveError) in
            try await during("Reading the logs of the move “\(layout.name)”") {
                for side in MoveSide.allCases {
                    guard try await carrier.entries(side).isEmpty else { return false }
                }
                return true
            }
        }
    }

    /// Asks again and again, for what another process does is seen no other way.
    ///
    /// - Returns: `false` at the deadline.
    private func waits(
        within patience: Duration?, for condition: () async throws(MoveError) -> Bool
    ) async throws(MoveError) -> Bool {
        let start = ContinuousClock.now
        var pause = Duration.milliseconds(10)
        while try await !condition() {
            if let patience, start.duration(to: .now) >= patience { return false }
            // The condition is a document on another machine: it is asked again, less and less often.
            do { try await Task.sleep(for: pause) } catch {
                throw MoveError(
                    .cancelled, "Waiting for the move “\(layout.name)” was cancelled. The move itself goes on.")
            }
            pause = min(pause * 2, .milliseconds(500))
        }
        return true
    }

    /// Asks for the phase before the current one. Everything that was written since comes along.
    ///
    /// - Returns: That phase.
    @discardableResult
    public func goBack() async throws(MoveError) -> MovePhase {
        guard let phase = try await control().phase.previous else {
            throw MoveError(.invalidArgument, "There is no way back from here.")
        }
        try await edit { $0.phase = phase }
        return phase
    }

    /// Stops carrying. Apps go on, and their writes wait in the log.
    public func pause() async throws(MoveError) { try await edit { $0.isPaused = true } }
    public func resume() async throws(MoveError) { try await edit { $0.isPaused = false } }
    /// Limits the copy to so many documents a second, also while it runs; `nil` for no limit.
    public func throttle(_ limit: Int?) async throws(MoveError) { try await edit { $0.limit = limit } }

    /// Sets the part of reads that apps compare in ``MovePhase/shadowRead``, from 0 to 1.
    public func compareReads(_ part: Double) async throws(MoveError) {
        var control = try await control()
        control.sample = min(1, max(0, part))
        try await announce(control, first: control.phase.serving)
    }

    private func edit(_ change: @Sendable (inout MoveRequest) -> Void) async throws(MoveError) {
        let (client, path) = (carrier.clients.old, layout.request)
        try await during("Asking for a change of the move “\(layout.name)”") {
            try await client.transaction { transaction in
                var request = MoveRequest(try await transaction.document(path))
                change(&request)
                try await transaction.set(path, request.fields)
            }
        }
    }

    /// How the move stands.
    public func status() async throws(MoveError) -> LiveMoveStatus {
        try await during("Reading the state of the move “\(layout.name)”") {
            let (control, request) = (try await control(), try await request())
            let (old, new) = (try await carrier.entries(.old), try await carrier.entries(.new))
            let conflicts = try await conflicts()
            let progress = try await carrier.clients.old.document(layout.progress, from: .server)
            return LiveMoveStatus(
                name: layout.name, phase: control.phase, requested: request.phase, waiting: old.count + new.count,
                oldestWaiting: (old + new).map(\.at).min(),
                carried: Int(progress["carried"]?.integerValue ?? 0), conflicts: conflicts,
                activity: progress["activity"]?.stringValue, problem: progress["problem"]?.stringValue,
                reportedAt: progress["at"]?.timestampValue, isRunning: progress["isRunning"]?.boolValue ?? false,
                isPaused: request.isPaused, limit: request.limit)
        }
    }

    private func conflicts() async throws(StorageError) -> [Rejection] {
        var conflicts: [Rejection] = []
        for side in MoveSide.allCases {
            let found = try await carrier.clients[side].documents(
                Query(in: layout.conflicts).limited(to: 200), from: .server)
            conflicts += found.documents.map { document in
                Rejection(
                    (document["writes"]?.arrayValue ?? []).compactMap(\.stringValue).joined(separator: ", "),
                    document["reason"]?.stringValue ?? "")
            }
        }
        return conflicts
    }

    // MARK: The control document

    /// That with the higher epoch, of both sides.
    func control() async throws(MoveError) -> MoveControl {
        try await during("Reading the phase of the move “\(layout.name)”") {
            var control = MoveControl()
            for side in MoveSide.allCases {
                let document = try await carrier.clients[side].document(layout.control, from: .server)
                if let found = MoveControl(document), found.epoch > control.epoch { control = found }
            }
            return control
        }
    }

    func request() async throws(StorageError) -> MoveRequest {
        MoveRequest(try await carrier.clients.old.document(layout.request, from: .server))
    }

    /// Writes a change to both sides. It is decided with the first.
    @discardableResult
    func announce(_ control: MoveControl, first: MoveSide) async throws(MoveError) -> MoveControl {
        var next = control
        next.epoch += 1
        let (path, fields, epoch) = (layout.control, next.fields, next.epoch)
        for side in [first, first.other] {
            try await patiently("Writing the phase of the move “\(layout.name)”") {
                // A request of a process that has ended may still arrive, and must not put an older phase over a newer one.
                try await carrier.clients[side].transaction { transaction in
                    let known = MoveControl(try await transaction.document(path))
                    guard known.map({ $0.epoch < epoch }) ?? true else { return }
                    try await transaction.set(path, fields)
                }
            }
        }
        return next
    }

    // MARK: The process

    /// Runs the move until it is done or given up: copies, carries, and changes the phase as it is asked to. It may be stopped in
    /// any way, at any point, and run again with the same journal.
    ///
    /// - Parameter report: Called after each step.
    /// - Throws: `.cancelled` if it was stopped; `.locked` while another process runs this move; why it cannot go on.
    public func run(_ report: @escaping @Sendable (LiveMoveStatus) -> Void = { _ in }) async throws(MoveError) {
        do throws(SystemFailure) { try POSIXFile.makeFolder(journal.path) } catch {
            throw MoveError(.localStore, "The journal “\(journal.path)” cannot be created: \(error).")
        }
        let lock: FileLock
        do throws(FileLock.Refusal) { lock = try FileLock(journal.appendingPathComponent("live.lock").path) } catch {
            throw MoveError(.locked, "The journal “\(journal.path)” cannot be used: \(error.reason).")
        }
        defer { lock.release() }
        try await LiveRun(self, report).run()
    }
}

extension BackendEnd {
    fileprivate var liveDocuments: BackendDocuments {
        get throws(MoveError) {
            if let documents = documents.service as? BackendDocuments { return documents }
            throw MoveError(.unsupported, "\(name) has no documents to move. \(documents.absence ?? "")")
        }
    }
}
