import Synchronization

/// The bytes of one connection to be sent, and the faults that affect them.
struct ConnectionOutput {
    typealias Instant = ContinuousClock.Instant

    enum Outcome {
        /// Nothing is left.
        case drained
        /// The rest waits for the kernel, or for `nextPiece`.
        case waiting
        /// Everything before a cut has been sent.
        case cut(reset: Bool)
        case broken
    }

    private var bytes: [UInt8] = []
    private var sent = 0
    private var cut: (remaining: Int, reset: Bool)?
    private var pace: Pace?
    /// When the pace allows the next bytes.
    private(set) var nextPiece: Instant?

    var isEmpty: Bool { sent == bytes.count }

    /// Set once the bytes before a cut have been sent: whether to end the connection with a reset.
    var dueReset: Bool? { cut.flatMap { $0.remaining == 0 ? $0.reset : nil } }

    mutating func cut(after count: Int, reset: Bool) { cut = (count, reset) }

    mutating func slowDown(to pace: Pace, at now: Instant) {
        self.pace = pace
        nextPiece = now
    }

    mutating func endPace() {
        pace = nil
        nextPiece = nil
    }

    /// Drops everything queued, and a cut.
    mutating func drop() {
        bytes = []
        sent = 0
        cut = nil
        endPace()
    }

    /// Sends what is queued here and in `outbox`, as far as the kernel and faults allow.
    mutating func flush(_ outbox: Outbox, to descriptor: Int32, at now: Instant) -> Outcome {
        while true {
            if sent == bytes.count {
                bytes = outbox.take()
                sent = 0
                if bytes.isEmpty { return .drained }
            }
            let allowed = allowance(bytes.count - sent, at: now)
            if allowed > 0 {
                let piece = sent..<(sent + allowed)
                switch bytes.withUnsafeBytes({ Socket.send(descriptor, .init(rebasing: $0[piece])) }) {
                case .bytes(let count):
                    sent += count
                    left(count, at: now)
                    outbox.accepted(count)
                case .wouldBlock:
                    postpone(at: now)
                    return .waiting
                case .end, .broken: return .broken
                }
            }
            if let dueReset { return .cut(reset: dueReset) }
            if let nextPiece, nextPiece > now, !isEmpty { return .waiting }
        }
    }

    /// Sends bytes directly, and returns how many the kernel took: none while others are queued.
    mutating func sendDirectly(_ piece: UnsafeRawBufferPointer, to descriptor: Int32, at now: Instant) -> Int {
        guard isEmpty else { return 0 }
        var taken = 0
        while true {
            let allowed = allowance(piece.count - taken, at: now)
            guard allowed > 0 else { return taken }
            guard
                case .bytes(let count) = Socket.send(
                    descriptor, UnsafeRawBufferPointer(rebasing: piece[taken..<(taken + allowed)]))
            else {
                postpone(at: now)
                return taken
            }
            taken += count
            left(count, at: now)
        }
    }

    private func allowance(_ count: Int, at now: Instant) -> Int {
        var allowed = min(count, cut?.remaining ?? count)
        if let pace, let nextPiece { allowed = nextPiece > now ? 0 : min(allowed, pace.bytes) }
        return allowed
    }

    private mutating func left(_ count: Int, at now: Instant) {
        cut?.remaining -= count
        if let pace { nextPiece = now + pace.interval }
    }

    /// A paced connection is retried after a time, not when the kernel has room.
    private mutating func postpone(at now: Instant) {
        if let pace { nextPiece = now + max(pace.interval, .milliseconds(1)) }
    }
}

/// A one-time event for which any number of tasks can wait.
final class FinishSignal: Sendable {
    private struct State {
        var isFinished = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    func signal() {
        let waiting = state.withLock { state in
            state.isFinished = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    func wait() async {
        await withCheckedContinuation { continuation in
            let isFinished = state.withLock { state in
                if !state.isFinished { state.waiting.append(continuation) }
                return state.isFinished
            }
            if isFinished { continuation.resume() }
        }
    }
}
