/// The bytes of one connection on their way into the kernel, and what faults do to them there.
struct ConnectionOutput {
    typealias Instant = ContinuousClock.Instant

    enum Outcome {
        /// Nothing is left.
        case drained
        /// The rest has to wait: for the kernel, or for `nextPiece`.
        case waiting
        /// Everything before a cut has left.
        case cut(reset: Bool)
        case broken
    }

    private var bytes: [UInt8] = []
    private var sent = 0
    private var cut: (remaining: Int, reset: Bool)?
    private var pace: Pace?
    /// When a pace lets the next bytes go.
    private(set) var nextPiece: Instant?

    var isEmpty: Bool { sent == bytes.count }

    /// Once the bytes before a cut have left: whether the connection is to end with a reset.
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

    /// What is queued is dropped, and so is a cut.
    mutating func drop() {
        bytes = []
        sent = 0
        cut = nil
        endPace()
    }

    /// Sends what is queued here and in `outbox`, as far as kernel and faults let it.
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

    /// Sends bytes that are not queued, and answers how many the kernel took: none while queued ones wait.
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

    /// A paced connection is tried again in time rather than when the kernel has room.
    private mutating func postpone(at now: Instant) {
        if let pace { nextPiece = now + max(pace.interval, .milliseconds(1)) }
    }
}
