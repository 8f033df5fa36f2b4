import Switchyard
import SwitchyardBytes
import SwitchyardProviderHTTP
import SwitchyardSync
import Synchronization

/// The stream of changes of one client. All its targets are looked at together, as of one moment: when there is a hint,
/// when a target is added, and every now and then.
///
/// First the channels are joined, then the database is asked, and asked again when the channels are confirmed: so nothing
/// falls between. Each question goes back to the oldest transaction that was under way when the last was answered, so
/// what committed late is seen, and what comes twice is known by its version.
final class SupabaseWatch: WatchConnection {
    /// How often to look without a hint.
    struct Pace: Sendable {
        /// While there are no hints, or not from everybody.
        var alone = Duration.seconds(1)
        /// At most, while hints come from everybody; reached little by little.
        var hinted = Duration.seconds(30)
        /// How much later than a change its hint may come.
        var grace = Duration.seconds(5)
        /// How often results are counted: see ``WatchedChanges/inquiry(recounts:)``.
        var count = Duration.seconds(30)
    }

    private struct State {
        var changes: WatchedChanges
        /// Something calls for a look, whatever has been seen.
        var mustLook = false
        /// It is time for a look, though nothing calls for one.
        var isTime = false
        var wantsCount = false
        /// The newest transaction that was told of.
        var told: UInt64?
        var timer: Task<Void, Never>?
        var looking: Task<Void, Never>?
        var sinceCount = Duration.zero
        /// How many hints have come from others.
        var heard = 0
        /// Waits for the hint to a change that was found without one.
        var doubt: Task<Void, Never>?

        /// - Returns: Why to look now, if there is a reason.
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
    /// Whose stream it is: in the moment in which somebody else signs in, it must not show what they may see.
    private let reader: CallOwner
    private let pace: Pace
    private let clock: any Clock<Duration>
    private let observer: any InfrastructureObserver

    /// Which function looks: the one for documents alone, or the one that also knows tables.
    private let function: String

    init(
        _ service: PostgRESTService, _ tables: SupabaseTables, _ hints: ChangeHints, reader: CallOwner,
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
        // Under the lock, so that the answer to a request stands behind what was told before.
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

    // MARK: When to look

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

    /// Looks soon at first, also after a confirmation: the first one of a project may come a moment too early.
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

    // MARK: Looking

    /// - Returns: Whether to go on.
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

    /// A change was found that no hint has told of, though everything is told, as far as the service says. If none comes
    /// after it, the channels are deaf.
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

    /// What came of a question: whether somebody has changed something, and the single targets that took too long while
    /// others did not.
    private typealias Outcome = (hasChanged: Bool, late: [(WatchedChanges.Inquiry, StorageError)])

    /// Asks about all targets at once, and where that takes the database too long, about one half after the other.
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

    /// Where both halves take too long the database is busy with other things, and what is asked is not to blame.
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
    /// Whether it tells of a document that was written or deleted.
    fileprivate var isChange: Bool {
        switch self {
        case .changed, .deleted, .left: true
        default: false
        }
    }
}
