import Switchyard
import SwitchyardBytes
import SwitchyardProviderHTTP
import SwitchyardSync
import Synchronization

/// The stream of changes of one client. It checks all targets together, as of one moment: when there is a hint, when a target
/// is added, and at intervals.
///
/// It joins the channels, queries the database, and queries again once the channels are confirmed, so that no change is missed.
/// Each query goes back to the oldest transaction that was open at the last answer, so that late commits are seen. Repeated
/// changes are recognized by their version.
final class SupabaseWatch: WatchConnection {
    /// How often to check without a hint.
    struct Pace: Sendable {
        /// The interval while there are no hints, or not from all channels.
        var alone = Duration.seconds(1)
        /// The maximum interval while all channels give hints; it is reached gradually.
        var hinted = Duration.seconds(30)
        /// How much later than a change its hint may arrive.
        var grace = Duration.seconds(5)
        /// How often results are counted; see ``WatchedChanges/inquiry(recounts:)``.
        var count = Duration.seconds(30)
    }

    private struct State {
        var changes: WatchedChanges
        /// Whether to check regardless of what has been seen.
        var mustLook = false
        /// Whether the interval has passed.
        var isTime = false
        var wantsCount = false
        /// The newest announced transaction.
        var told: UInt64?
        var timer: Task<Void, Never>?
        var looking: Task<Void, Never>?
        var sinceCount = Duration.zero
        /// The number of hints received from others.
        var heard = 0
        /// Waits for the hint for a change that was found without one.
        var doubt: Task<Void, Never>?

        /// - Returns: The reason to check now, if there is one.
        mutating func takeNeed() -> Need? {
            defer { (mustLook, isTime, told) = (false, false, nil) }
            if mustLook || told.map({ changes.mayBeNew($0) }) == true { return .called }
            return isTime ? .timed : nil
        }
    }

    private enum Need {
        case called, timed
    }

    private let state: Mutex<State>
    private let events = StreamBuffer<WatchEvent, StorageError>(.all)
    private let wake = StreamBuffer<Void, Never>(.newest)
    private let hints: ChangeHints
    private let hearing = Mutex<Once?>(nil)
    /// The user of the stream: when another user signs in, it must not show what that user may see.
    private let reader: CallOwner
    private let pace: Pace
    private let clock: any Clock<Duration>
    private let observer: any InfrastructureObserver

    /// The function to call: one handles documents only, the other also tables.
    private let function: String

    init(
        _ service: PostgRESTService, _ tables: TableMappings, _ hints: ChangeHints, reader: CallOwner,
        pace: Pace, clock: any Clock<Duration>, observer: any InfrastructureObserver = SilentObserver()
    ) {
        self.observer = observer
        state = Mutex(State(changes: WatchedChanges(tables, reader: reader.userID ?? "")))
        self.reader = reader
        function = tables.isEmpty ? "switchyard_changes" : "switchyard_look"
        self.hints = hints
        self.pace = pace
        self.clock = clock
        let wake = wake
        let looking = Task { [weak self] in
            while await wake.next() != nil {
                guard await self?.look(service) == true else { return }
            }
        }
        state.withLock { $0.looking = looking }
        let stop = hints.listen { [weak self] in self?.take($0) }
        hearing.withLock { $0 = Once(stop) }
        restartTimer()
    }

    deinit { close() }

    func send(_ request: WatchRequest) {
        // Under the lock, so that the answer to a request follows earlier events.
        let topics = state.withLock { state in
            for event in state.changes.take(request) { events.yield(event) }
            state.mustLook = true
            return state.changes.topics
        }
        hints.follow(topics)
        wake.yield(())
    }

    func next() async throws(StorageError) -> WatchEvent? { try await events.next() }

    func close() {
        hearing.withLock { $0 }?.run()
        state.withLock { state in
            state.timer?.cancel()
            state.looking?.cancel()
            state.doubt?.cancel()
        }
        wake.finish(.success(()))
        events.finish(.success(()))
    }

    // MARK: When to check

    private func take(_ hint: ChangeHints.Hint) {
        switch hint {
        case .written, .confirmed: state.withLock { $0.mustLook = true }
        case .told(let transaction):
            state.withLock { state in
                state.heard += 1
                if let transaction { state.told = max(state.told ?? 0, transaction) } else { state.mustLook = true }
            }
        case .lost: return restartTimer()
        }
        if hint == .confirmed { restartTimer() }
        wake.yield(())
    }

    /// Checks soon at first, even after a confirmation: the first one of a project may come a moment too early.
    private func restartTimer() {
        let timer = Task { [weak self, pace, clock, hints] in
            var pause = pace.alone
            while (try? await clock.sleep(for: pause)) != nil {
                guard self?.tick(after: pause) == true else { return }
                pause = hints.isComplete ? min(pause * 2, pace.hinted) : pace.alone
            }
        }
        let last = state.withLock { state in
            defer { state.timer = timer }
            return state.timer
        }
        last?.cancel()
    }

    private func tick(after pause: Duration) -> Bool {
        state.withLock { state in
            state.isTime = true
            state.sinceCount += pause
            guard state.sinceCount >= pace.count else { return }
            state.sinceCount = .zero
            state.wantsCount = true
        }
        return wake.yield(())
    }

    // MARK: Checking

    /// - Returns: Whether to continue.
    private func look(_ service: PostgRESTService) async -> Bool {
        let isComplete = hints.isComplete
        let question = state.withLock { state -> (need: Need, inquiry: WatchedChanges.Inquiry, heard: Int)? in
            guard let need = state.takeNeed() else { return nil }
            defer { state.wantsCount = false }
            return state.changes.inquiry(recounts: state.wantsCount).map { (need, $0, state.heard) }
        }
        guard let question else { return true }
        do throws(StorageError) {
            let (hasChanged, late) = try await ask(question.inquiry, service)
            state.withLock { state in
                for (inquiry, error) in late {
                    for event in state.changes.fail(inquiry, error) { events.yield(event) }
                }
            }
            if hasChanged, isComplete, question.need == .timed { doubt(question.heard) }
            return true
        } catch {
            events.finish(.failure(error))
            return false
        }
    }

    /// Handles a change without a hint, although the service claims to announce everything. If no hint follows, the channels
    /// have stopped working.
    private func doubt(_ heard: Int) {
        state.withLock { state in
            guard state.doubt == nil, state.heard == heard else { return }
            state.doubt = Task { [weak self, clock, pace, hints] in
                guard (try? await clock.sleep(for: pace.grace)) != nil else { return }
                guard let self, self.isStillUnheard(since: heard), hints.rejoin() else { return }
                report()
            }
        }
    }

    private func isStillUnheard(since heard: Int) -> Bool {
        state.withLock { state in
            state.doubt = nil
            return state.heard == heard
        }
    }

    private func report() {
        observer.observe(
            InfrastructureEvent(
                service: .storage, provider: .supabase,
                kind: .reconnect(
                    operation: "live queries", attempt: 1,
                    failure: InfrastructureEvent.Failure(
                        .unavailable,
                        "Supabase Realtime did not announce a change, so its channels were joined again."))))
    }

    /// The outcome of a query: whether another client has changed something, and the targets that timed out while others did
    /// not.
    private typealias Outcome = (hasChanged: Bool, late: [(WatchedChanges.Inquiry, StorageError)])

    /// Queries all targets at once, or one half after the other if that takes too long.
    private func ask(
        _ inquiry: WatchedChanges.Inquiry, _ service: PostgRESTService
    ) async throws(StorageError) -> Outcome {
        let answer: JSON
        do throws(StorageError) {
            answer = try await service.call(function, ["targets": inquiry.json], isIdempotent: true, as: reader)
        } catch {
            guard (error.underlying as? PostgRESTFailure)?.isAboutTime == true, let (first, second) = inquiry.halves
            else {
                throw error
            }
            return try await ask(first, second, service)
        }
        let result = state.withLock { state -> Result<Bool, StorageError> in
            do throws(StorageError) {
                let found = try state.changes.take(answer, to: inquiry)
                for event in found { events.yield(event) }
                return .success(found.contains(where: \.isChange))
            } catch {
                return .failure(error)
            }
        }
        return (try result.get(), [])
    }

    /// If both halves take too long, the database is busy, and the queries are not the cause.
    private func ask(
        _ first: WatchedChanges.Inquiry, _ second: WatchedChanges.Inquiry, _ service: PostgRESTService
    ) async throws(StorageError) -> Outcome {
        var outcome: Outcome = (false, [])
        var failed: StorageError?
        for half in [first, second] {
            do throws(StorageError) {
                let answer = try await ask(half, service)
                outcome.hasChanged = outcome.hasChanged || answer.hasChanged
                outcome.late += answer.late
            } catch {
                guard (error.underlying as? PostgRESTFailure)?.isAboutTime == true, failed == nil else { throw error }
                failed = error
                outcome.late.append((half, error))
            }
        }
        return outcome
    }
}

extension WatchEvent {
    /// Whether it reports a written or deleted document.
    fileprivate var isChange: Bool {
        switch self {
        case .changed, .deleted, .left: true
        default: false
        }
    }
}
