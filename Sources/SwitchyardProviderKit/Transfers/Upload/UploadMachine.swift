package import Switchyard
import SwitchyardBytes

/// Decides what an upload does next. Pure: events go in, actions come out, time and chance come from outside.
///
/// ```text
/// prepare ─► store ───────────────────────────────► finished        small contents
///    │
///    └────► begin ─► send ─► prepare ─► send … ───► finished        large ones
///                     │ failed              ▲
///                     ▼                     │
///                    wait ─► ask ───────────┘   the server says how much it has
/// ```
///
/// At most one of `prepare`, `store`, `begin`, `send`, `ask` and `wait` is in progress. After `stop` the machine expects no
/// more events from it.
package struct UploadMachine: Sendable {
    package enum Event: Sendable {
        case start
        /// This many of the requested bytes are ready; `isEnd` if none follow.
        case prepared(count: Int64, isEnd: Bool)
        case began(UploadSession)
        case answered(UploadAnswer)
        case failed(FileStorageError)
        case waited
        case pause
        case resume
        /// Cancelled by its owner: the server discards the upload.
        case cancel
        /// The client shuts down: a recorded upload stays, to continue later.
        case close
    }

    package enum Action: Sendable {
        /// Prepare up to `count` bytes from `offset`; nothing before that is needed again.
        case prepare(offset: Int64, count: Int64)
        case store(count: Int64)
        case begin
        case send(offset: Int64, count: Int64, isLast: Bool, UploadSession)
        case ask(UploadSession)
        case wait(Duration)
        case stop
        /// Record the progress.
        case keep(UploadSession, offset: Int64)
        case forget
        case abandon(UploadSession)
        case show(TransferProgress.Phase, completed: Int64)
        case succeed(StoredFile)
        case fail(FileStorageError)
    }

    private enum Step: Sendable, Equatable {
        case none, preparing, storing, beginning, sending, asking, waiting, over
    }

    private struct Ready: Sendable {
        let offset: Int64
        let count: Int64
        let isEnd: Bool
    }

    /// What is known about the contents in advance.
    package struct Content: Sendable, Hashable {
        package let length: Int64?
        /// Whether bytes can be read a second time.
        package let canRewind: Bool
        /// Whether the upload is recorded, so that it can continue later.
        package let isKept: Bool

        package init(length: Int64?, canRewind: Bool, isKept: Bool) {
            self.length = length
            self.canRewind = canRewind
            self.isKept = isKept
        }
    }

    private let policy: TransferPolicy
    private let content: Content
    private let partLimit: Int64

    private var step = Step.none
    private var session: UploadSession?
    private var confirmed: Int64
    private var partSize: Int64
    private var ready: Ready?
    /// The number of bytes of the part in flight, and whether they are the last.
    private var inFlight: Ready?
    private var mustAsk = false
    /// Whether the server expected other bytes since it last took some.
    private var wasDisplaced = false
    private var isPaused = false
    private var hasBegunHere = false
    private var restarts = 0
    private var backoff: Backoff
    private var lastProgress: ContinuousClock.Instant

    /// - Parameter resuming: An earlier session, and how much the server had confirmed then.
    package init(
        _ policy: TransferPolicy, _ content: Content, resuming: (session: UploadSession, offset: Int64)? = nil,
        now: ContinuousClock.Instant
    ) {
        self.policy = policy
        self.content = content
        partLimit = content.canRewind ? policy.largestPart : policy.largestStreamPart
        partSize = policy.firstPart
        session = resuming?.session
        confirmed = resuming?.offset ?? 0
        mustAsk = resuming != nil
        backoff = Backoff(policy.backoff, now: now)
        lastProgress = now
    }

    package var isOver: Bool { step == .over }

    package mutating func handle(
        _ event: Event, now: ContinuousClock.Instant, using generator: inout some RandomNumberGenerator
    ) -> [Action] {
        guard step != .over else { return [] }
        switch event {
        case .start:
            lastProgress = now
            return [.show(.running, completed: confirmed)] + advance()
        case .prepared(let count, let isEnd): return prepared(count, isEnd)
        case .began(let new):
            guard step == .beginning else { return [] }
            step = .none
            session = new
            hasBegunHere = true
            progressed(now)
            return [.keep(new, offset: 0)] + advance()
        case .answered(let answer): return answered(answer, now, &generator)
        case .failed(let error): return failed(error, now, &generator)
        case .waited:
            guard step == .waiting else { return [] }
            step = .none
            return advance()
        case .pause: return pause()
        case .resume:
            guard isPaused else { return [] }
            isPaused = false
            lastProgress = now
            return [.show(.running, completed: confirmed)] + advance()
        case .cancel:
            let session = session
            return over([.stop] + discarding(session) + [.fail(.givenUp)])
        case .close: return over([.stop, .fail(.closed)])
        }
    }

    // MARK: What comes next

    private mutating func advance() -> [Action] {
        guard step == .none, !isPaused else { return [] }
        if mustAsk, let session { return begin(.asking, .ask(session)) }
        guard let ready else {
            return begin(.preparing, .prepare(offset: confirmed, count: session == nil ? firstBytes : nextPart))
        }
        guard let session else {
            if ready.isEnd, ready.count <= policy.wholeLimit {
                return begin(.storing, .store(count: ready.count))
            }
            return begin(.beginning, .begin)
        }
        let count = ready.isEnd && ready.count <= nextPart ? ready.count : rounded(min(ready.count, nextPart), session)
        guard count > 0 || ready.isEnd else {
            // Fewer bytes are ready than the server accepts at once.
            self.ready = nil
            return begin(.preparing, .prepare(offset: confirmed, count: nextPart))
        }
        let part = Ready(offset: ready.offset, count: count, isEnd: ready.isEnd && count == ready.count)
        inFlight = part
        return begin(.sending, .send(offset: part.offset, count: count, isLast: part.isEnd, session))
    }

    /// Enough to find out whether everything fits into one request.
    private var firstBytes: Int64 { max(policy.wholeLimit, policy.firstPart) }

    private var nextPart: Int64 {
        guard let session else { return partSize }
        return max(rounded(partSize, session), session.granularity)
    }

    private func rounded(_ count: Int64, _ session: UploadSession) -> Int64 { count - count % session.granularity }

    private mutating func begin(_ step: Step, _ action: Action) -> [Action] {
        self.step = step
        return [action]
    }

    private mutating func over(_ actions: [Action]) -> [Action] {
        step = .over
        return actions
    }

    private mutating func progressed(_ now: ContinuousClock.Instant) {
        lastProgress = now
        wasDisplaced = false
        backoff.reset()
    }

    // MARK: News

    private mutating func prepared(_ count: Int64, _ isEnd: Bool) -> [Action] {
        guard step == .preparing else { return [] }
        step = .none
        ready = Ready(offset: confirmed, count: count, isEnd: isEnd)
        if let length = content.length, confirmed + count > length || (isEnd && confirmed + count != length) {
            return refuse(
                FileStorageError(.changed, "The upload has a different length than the \(length) bytes announced."))
        }
        return advance()
    }

    private mutating func answered(
        _ answer: UploadAnswer, _ now: ContinuousClock.Instant, _ generator: inout some RandomNumberGenerator
    ) -> [Action] {
        guard step == .sending || step == .asking || step == .storing else { return [] }
        let wasAsking = step == .asking
        let part = inFlight
        step = .none
        inFlight = nil
        switch answer {
        case .finished(let file):
            return over([.forget, .show(.finished, completed: file.metadata.size), .succeed(file)])
        case .displaced:
            mustAsk = true
            // What an earlier run sent may have arrived since the server was asked. That is no failure, the first time.
            guard wasDisplaced else {
                wasDisplaced = true
                return advance()
            }
            return retry(.displaced, now, &generator)
        case .active(let offset):
            ready = nil
            mustAsk = false
            let most = wasAsking ? content.length ?? .max : part.map { $0.offset + $0.count } ?? confirmed
            guard offset >= 0, offset <= most else { return refuse(.impossibleOffset) }
            let moved = offset - confirmed
            confirmed = offset
            let news = session.map { [.keep($0, offset: offset), show()] } ?? []
            if moved > 0 { progressed(now) }
            if wasAsking { return news + advance() }
            guard moved > 0 else { return news + retry(.nothingTaken, now, &generator) }
            if offset == most { partSize = min(partSize * 2, partLimit) }
            return news + advance()
        }
    }

    private mutating func failed(
        _ error: FileStorageError, _ now: ContinuousClock.Instant, _ generator: inout some RandomNumberGenerator
    ) -> [Action] {
        guard step != .none else { return [] }
        let failedStep = step
        step = .none
        if error.code == .checksumMismatch { return refuse(error) }
        // A missing file may come back; one that was changed will not change back.
        if failedStep == .preparing { return error.code == .localFile ? leave(error) : refuse(error) }
        if error.code == .uploadExpired { return expired(error) }
        guard error.isRetryable else {
            return Self.refusals.contains(error.code) ? refuse(error) : leave(error)
        }
        if failedStep == .sending || failedStep == .asking { mustAsk = true }
        if failedStep == .sending { ready = nil }
        inFlight = nil
        partSize = policy.firstPart
        return retry(error, now, &generator)
    }

    /// Starts over, once, unless it is a resumed upload: then its owner gets the error.
    private mutating func expired(_ error: FileStorageError) -> [Action] {
        guard hasBegunHere, restarts == 0, content.canRewind || confirmed == 0 else { return refuse(error) }
        restarts += 1
        session = nil
        ready = nil
        inFlight = nil
        confirmed = 0
        mustAsk = false
        return [.forget] + advance()
    }

    private mutating func retry(
        _ error: FileStorageError, _ now: ContinuousClock.Instant, _ generator: inout some RandomNumberGenerator
    ) -> [Action] {
        guard now - lastProgress + (error.retryAfter ?? .zero) < policy.patience else {
            return leave(error)
        }
        if isPaused { return [] }
        let pause = backoff.next(now: now, atLeast: error.retryAfter, using: &generator)
        return begin(.waiting, .wait(pause))
    }

    /// Errors that no later attempt with the same upload could change. All others may be temporary: a client that is shut
    /// down, a session that has to be refreshed, another user, an unclear answer.
    private static let refusals: Set<FileStorageError.Code> = [
        .invalidArgument, .notFound, .alreadyExists, .unauthorized, .tooLarge, .checksumMismatch, .changed,
        .unsupported,
    ]

    /// Ends the run; a recorded upload can continue later.
    private mutating func leave(_ error: FileStorageError) -> [Action] {
        content.isKept && session != nil ? over([.fail(error)]) : refuse(error)
    }

    private mutating func refuse(_ error: FileStorageError) -> [Action] {
        let session = session
        return over(discarding(session) + [.fail(error)])
    }

    private func discarding(_ session: UploadSession?) -> [Action] {
        session.map { [.forget, .abandon($0)] } ?? []
    }

    private func show() -> Action { .show(isPaused ? .paused : .running, completed: confirmed) }

    private mutating func pause() -> [Action] {
        guard !isPaused else { return [] }
        isPaused = true
        var actions = [show()]
        switch step {
        case .sending, .asking, .waiting:
            // Sent bytes may or may not have arrived, so the server is asked before anything else is sent.
            mustAsk = session != nil
            if step == .sending { ready = nil }
            inFlight = nil
            step = .none
            actions.append(.stop)
        case .none, .preparing, .storing, .beginning, .over: break
        }
        return actions
    }
}

extension FileStorageError {
    static let givenUp = FileStorageError(.cancelled, "The transfer was cancelled.")
    static let closed = FileStorageError(.shutDown, "The client was shut down.")
    static let impossibleOffset = FileStorageError(
        .unknown, "The server reports more bytes than were sent.", isRetryable: false)
    static let displaced = FileStorageError(.unavailable, "The server expected other bytes of the upload.")
    static let nothingTaken = FileStorageError(.unavailable, "The server accepted none of the bytes sent.")
}
