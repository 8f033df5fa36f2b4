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
        var rows: RowTargets
        /// The version of the last snapshot, which never goes back, not even from an earlier stream: the versions of rows are by
        /// the device's clock, and may be ahead of those of documents.
        var lastVersion: Timestamp
        /// Whether to check regardless of what has been seen.
        var mustPoll = false
        /// Whether the interval has passed.
        var isTime = false
        var wantsCount = false
        /// The newest announced transaction.
        var announcedTransaction: UInt64?
        var timer: Task<Void, Never>?
        var polling: Task<Void, Never>?
        var sinceCount = Duration.zero
        /// The number of hints received from others.
        var hintCount = 0
        /// Waits for the hint for a change that was found without one.
        var doubt: Task<Void, Never>?

        /// - Returns: Why to check now, and whether documents are concerned; `nil` if there is no reason.
        mutating func takeNeed() -> (need: Need, asksDocuments: Bool)? {
            defer { (mustPoll, isTime, announcedTransaction) = (false, false, nil) }
            let isCalled = mustPoll || announcedTransaction.map({ changes.mayBeNew($0) }) == true
            let need: Need = isCalled || rows.areDue ? .called : .timed
            if isTime { rows.markDue() }
            return isTime || isCalled || rows.areDue ? (need, isTime || isCalled) : nil
        }
    }

    private enum Need {
        case called, timed
    }

    private let state: Mutex<State>
    private let events = StreamBuffer<WatchEvent, StorageError>(.all)
    private let wake = StreamBuffer<Void, Never>(.newest)
    private let hints: ChangeHints
    private let subscription = Mutex<Once?>(nil)
    /// The user of the stream: when another user signs in, it must not show what that user may see.
    private let reader: CallOwner
    private let pace: Pace
    private let clock: any Clock<Duration>
    private let observer: any InfrastructureObserver

    private let tables: TableMappings
    private let rowStore: RowStore

    init(
        _ service: PostgRESTService, _ tables: TableMappings, _ rows: RowStore, _ hints: ChangeHints, reader: CallOwner,
        pace: Pace, clock: any Clock<Duration>, observer: any InfrastructureObserver = SilentObserver()
    ) {
        self.observer = observer
        let name = reader.userID ?? ""
        state = Mutex(
            State(
                changes: WatchedChanges(reader: name), rows: RowTargets(reader: name),
                lastVersion: tables.isEmpty ? .never : rows.latestVersion))
        self.reader = reader
        self.tables = tables
        rowStore = rows
        self.hints = hints
        self.pace = pace
        self.clock = clock
        let wake = wake
        let polling = Task { [weak self] in
            while await wake.next() != nil {
                guard await self?.poll(service, rows.reader(as: reader)) == true else { return }
            }
        }
        state.withLock { $0.polling = polling }
        let stop = hints.listen { [weak self] in self?.take($0) }
        subscription.withLock { $0 = Once(stop) }
        restartTimer()
    }

    deinit { close() }

    func send(_ request: WatchRequest) {
        // Under the lock, so that the answer to a request follows earlier events.
        let topics = state.withLock { state in
            for event in take(request, &state) { events.yield(event) }
            return state.changes.topics.union(state.rows.topics)
        }
        hints.follow(topics)
        wake.yield(())
    }

    private func take(_ request: WatchRequest, _ state: inout State) -> [WatchEvent] {
        switch request {
        case .add(let watched):
            do throws(StorageError) {
                guard let place = try tables.place(of: watched.target) else {
                    state.mustPoll = true
                    return state.changes.take(request)
                }
                return state.rows.add(watched, in: place, known: rowStore.current(watched.knownTags, of: place.table))
            } catch {
                return [.removed([watched.id], cause: error)]
            }
        case .remove(let id):
            state.rows.remove(id)
            return state.changes.take(request)
        }
    }

    func next() async throws(StorageError) -> WatchEvent? { try await events.next() }

    func close() {
        subscription.withLock { $0 }?.run()
        state.withLock { state in
            state.timer?.cancel()
            state.polling?.cancel()
            state.doubt?.cancel()
        }
        wake.finish(.success(()))
        events.finish(.success(()))
    }

    private func isDocument(_ path: StoragePath) -> Bool { (try? tables.place(of: path.collection)) == nil }

    // MARK: When to check

    private func take(_ hint: ChangeHints.Hint) {
        switch hint {
        case .written(let paths):
            state.withLock { state in
                if paths.isEmpty || paths.contains(where: isDocument) { state.mustPoll = true }
                state.rows.forget(paths, writtenBy: rowStore.nextVersion())
            }
        case .confirmed:
            state.withLock { state in
                state.mustPoll = true
                state.rows.markDue()
            }
        case .announced(let topic, let transaction):
            state.withLock { state in
                state.hintCount += 1
                if topic.isOfRows {
                    state.rows.markDue(on: topic)
                } else if let transaction {
                    state.announcedTransaction = max(state.announcedTransaction ?? 0, transaction)
                } else {
                    state.mustPoll = true
                }
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
    private func poll(_ service: PostgRESTService, _ rows: RowReader) async -> Bool {
        let isComplete = hints.isComplete
        let question = state.withLock {
            state -> (need: Need, hintCount: Int, inquiry: WatchedChanges.PollRequest?, rows: [RowTargets.Target])? in
            guard let (need, asksDocuments) = state.takeNeed() else { return nil }
            let targets = state.rows.takeDue()
            guard asksDocuments else { return (need, state.hintCount, nil, targets) }
            defer { state.wantsCount = false }
            return (need, state.hintCount, state.changes.inquiry(recounts: state.wantsCount), targets)
        }
        guard let question else { return true }
        do throws(StorageError) {
            var hasChanged = false
            if let inquiry = question.inquiry {
                let (isNews, late) = try await ask(inquiry, service)
                hasChanged = isNews
                state.withLock { state in
                    for (inquiry, error) in late {
                        for event in state.changes.fail(inquiry, error) { events.yield(event) }
                    }
                }
            }
            for target in question.rows where try await check(target, rows) { hasChanged = true }
            if hasChanged, isComplete, question.need == .timed { doubt(question.hintCount) }
            return true
        } catch {
            events.finish(.failure(error))
            return false
        }
    }

    /// - Returns: Whether the target has changed.
    private func check(_ target: RowTargets.Target, _ rows: RowReader) async throws(StorageError) -> Bool {
        let found: RowTargets.Found
        do throws(StorageError) { found = try await rows.check(target) } catch {
            // A mistake in the query, or a missing right, ends this target only.
            guard !error.isRetryable, error.code != .unauthenticated, error.code != .cancelled else { throw error }
            state.withLock { state in
                for event in state.rows.fail(target, error.asLasting()) { events.yield(event) }
            }
            return false
        }
        return state.withLock { state in
            let news = state.rows.take(found, for: target)
            if !found.isSettled {
                state.rows.markDue(target.id)
                wake.yield(())
            }
            guard !news.isEmpty else { return false }
            yield(news + [.snapshot(version: found.version)], &state)
            return news.contains(where: \.isChange)
        }
    }

    /// Under the lock, so that events are in order.
    private func yield(_ news: [WatchEvent], _ state: inout State) {
        for event in news {
            guard case .snapshot(let version, let token) = event else {
                events.yield(event)
                continue
            }
            state.lastVersion = max(state.lastVersion, version)
            events.yield(.snapshot(version: state.lastVersion, token: token))
        }
    }

    /// Handles a change without a hint, although the service claims to announce everything. If no hint follows, the channels
    /// have stopped working.
    private func doubt(_ hintCount: Int) {
        state.withLock { state in
            guard state.doubt == nil, state.hintCount == hintCount else { return }
            state.doubt = Task { [weak self, clock, pace, hints] in
                guard (try? await clock.sleep(for: pace.grace)) != nil else { return }
                guard let self, self.hasHadNoHint(since: hintCount), hints.rejoin() else { return }
                report()
            }
        }
    }

    private func hasHadNoHint(since hintCount: Int) -> Bool {
        state.withLock { state in
            state.doubt = nil
            return state.hintCount == hintCount
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
    private typealias Outcome = (hasChanged: Bool, late: [(WatchedChanges.PollRequest, StorageError)])

    /// Queries all targets at once, or one half after the other if that takes too long.
    private func ask(
        _ inquiry: WatchedChanges.PollRequest, _ service: PostgRESTService
    ) async throws(StorageError) -> Outcome {
        let answer: JSON
        do throws(StorageError) {
            answer = try await service.call(
                "switchyard_changes", ["targets": inquiry.json], isIdempotent: true, as: reader)
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
                yield(found, &state)
                return .success(found.contains(where: \.isChange))
            } catch {
                return .failure(error)
            }
        }
        return (try result.get(), [])
    }

    /// If both halves take too long, the database is busy, and the queries are not the cause.
    private func ask(
        _ first: WatchedChanges.PollRequest, _ second: WatchedChanges.PollRequest, _ service: PostgRESTService
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
