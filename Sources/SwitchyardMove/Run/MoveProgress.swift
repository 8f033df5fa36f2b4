import Switchyard
import SwitchyardBytes
import Synchronization

/// How far a move is.
public struct MoveProgress: Sendable, Hashable {
    /// What is copied at the moment; `nil` before the beginning and at the end.
    public internal(set) var part: MovePart?
    public internal(set) var isDone = false
    public internal(set) var accounts = 0
    public internal(set) var documents = 0
    public internal(set) var files = 0
    public internal(set) var fileBytes: Int64 = 0
    public internal(set) var rejected = 0
    /// As planned; there may be more or fewer by now.
    public internal(set) var totalAccounts = 0
    public internal(set) var totalDocuments = 0
    public internal(set) var totalFiles = 0
    public internal(set) var totalFileBytes: Int64 = 0
    /// Documents, accounts or bytes of files a second, of the current part.
    public internal(set) var rate = 0.0
    /// The time left for the current part at this rate; `nil` while it is unknown.
    public internal(set) var timeLeft: Duration?

    /// Done and planned of the current part.
    public var current: (done: Int64, total: Int64) {
        switch part {
        case .accounts: (Int64(accounts), Int64(totalAccounts))
        case .documents: (Int64(documents), Int64(totalDocuments))
        case .files: (fileBytes, totalFileBytes)
        case nil: (1, 1)
        }
    }

    /// 0 … 1 of the current part.
    public var fraction: Double {
        let (done, total) = current
        return total == 0 ? 1 : min(1, Double(done) / Double(total))
    }
}

extension MoveProgress: CustomStringConvertible {
    /// `documents: 1500 of 20000 (7 %), 812 a second, 23 s left`
    public var description: String {
        guard let part else { return isDone ? "done" : "beginning" }
        let (done, total) = current
        let amount =
            part == .files
            ? "\(files) of \(totalFiles), \(Shown.bytes(done)) of \(Shown.bytes(total))" : "\(done) of \(total)"
        let speed = part == .files ? Shown.bytes(Int64(rate)) : "\(Int(rate))"
        let left = timeLeft.map { ", \(Shown.time($0)) left" } ?? ""
        let rejected = rejected > 0 ? ", \(rejected) rejected" : ""
        return "\(part.rawValue): \(amount) (\(Int(fraction * 100)) %), \(speed) a second\(left)\(rejected)"
    }
}

/// Counts what is done, and tells everyone who observes.
final class MoveMeter: Sendable {
    private struct State {
        var progress = MoveProgress()
        var began = ContinuousClock.now
        /// What the current part had when it began.
        var atStart: Int64 = 0
        var isFinished = false
    }

    private let state = Mutex(State())
    private let listeners = Broadcast<SnapshotStream<MoveProgress, Never>.Continuation>()

    func stream() -> SnapshotStream<MoveProgress, Never> {
        SnapshotStream { [self] continuation in
            let progress = state.withLock(\.progress)
            let leave = listeners.add(continuation) { $0.yield(progress) }
            listeners.deliver()
            return leave
        }
    }

    /// - Parameter part: `nil` at the end.
    func begin(_ part: MovePart?) {
        update { state in
            state.progress.part = part
            state.progress.isDone = part == nil
            state.began = .now
            state.atStart = state.progress.current.done
        }
    }

    func change(_ body: (inout MoveProgress) -> Void) { update { body(&$0.progress) } }

    func finish() {
        listeners.close { $0.finish() }
        listeners.deliver()
    }

    private func update(_ body: (inout State) -> Void) {
        state.withLock { state in
            body(&state)
            let seconds = state.began.duration(to: .now) / .seconds(1)
            let (done, total) = state.progress.current
            let rate = seconds > 0 ? Double(done - state.atStart) / seconds : 0
            state.progress.rate = rate
            state.progress.timeLeft =
                rate > 0 && state.progress.part != nil ? .seconds(Double(max(0, total - done)) / rate) : nil
            let progress = state.progress
            listeners.queue { $0.yield(progress) }
        }
        listeners.deliver()
    }
}
