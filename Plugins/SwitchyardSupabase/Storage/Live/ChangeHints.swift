import Switchyard
import SwitchyardBytes
import Synchronization

/// Notifies watchers of possible changes, either because this client has written or because the database has announced them on
/// a channel.
///
/// Hints are unreliable: they may be needless, repeated, late or missing. So watchers fetch the changes themselves, and also
/// check now and then without a hint.
final class ChangeHints: Sendable {
    enum Hint: Sendable, Hashable {
        /// A write by this client to these documents.
        case written(Set<StoragePath>)
        /// A write by any client; with the transaction, if that is known.
        case announced(HintTopic, transaction: UInt64?)
        /// From now on, a channel announces all changes. Earlier ones may have been missed.
        case confirmed
        /// A channel no longer announces all changes.
        case lost
    }

    private struct Topic {
        let task: Task<Void, Never>
        var isConfirmed = false
        /// The number of consecutive refusals.
        var refusals = 0
    }

    private struct State {
        var topics: [HintTopic: Topic] = [:]
        var wanted: Set<HintTopic> = []
        var cleaning: Task<Void, Never>?
        /// Measures the time since the channels were last joined again because of a missed change.
        var sinceRejoin: Stopwatch?
    }

    private let realtime: RealtimeSocket?
    private let clock: any Clock<Duration>
    private let endsWithSession: Bool
    private let state = Mutex(State())
    private let notice: @Sendable (String) -> Void
    private let hasNoticed = Atomic(false)
    private let listeners = Broadcast<@Sendable (Hint) -> Void>()

    /// How long an unused channel is kept, so that a returning watcher finds it joined.
    private static let linger = Duration.seconds(20)
    /// The delay before a refused channel is retried: each refusal blocks all other channels for some seconds.
    private static let retry = Duration.seconds(60)
    private static let longestRetry = Duration.seconds(600)
    /// The minimum time between joins because of missed changes.
    private static let rejoinPause = Duration.seconds(30)

    /// - Parameters:
    ///   - realtime: The realtime connection; without it, only this client's own writes are announced.
    ///   - endsWithSession: Whether no one can sign in again, so that refused tokens are not worth a notice.
    ///   - notice: Called once for a channel that cannot be joined without help.
    init(
        _ realtime: RealtimeSocket? = nil, clock: any Clock<Duration> = ContinuousClock(),
        endsWithSession: Bool = false, notice: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.realtime = realtime
        self.clock = clock
        self.endsWithSession = endsWithSession
        self.notice = notice
    }

    deinit { close() }

    /// Whether all wanted changes are announced, as far as the service can guarantee it.
    var isComplete: Bool {
        state.withLock { state in
            !state.wanted.isEmpty && state.wanted.allSatisfy { state.topics[$0]?.isConfirmed == true }
        }
    }

    /// Whether changes on a channel are announced.
    func announces(_ topic: HintTopic) -> Bool { state.withLock { $0.topics[topic]?.isConfirmed == true } }

    /// Announces a write by this client.
    func give(_ paths: Set<StoragePath> = []) { deliver(.written(paths)) }

    /// - Returns: A closure that removes the listener.
    func listen(_ listener: @escaping @Sendable (Hint) -> Void) -> @Sendable () -> Void { listeners.add(listener) }

    /// Sets the topics to follow. Channels no longer wanted are left after a while.
    func follow(_ wanted: Set<HintTopic>) {
        guard let realtime else { return }
        state.withLock { state in
            state.wanted = wanted
            for topic in wanted where state.topics[topic] == nil {
                let task = Task { [weak self, clock] in
                    while true {
                        let end = await ChangeHints.listen(to: topic, on: realtime) { self?.received($0, on: topic) }
                        if Task.isCancelled { return }
                        guard let pause = self?.ended(topic, end) else { return }
                        guard (try? await clock.sleep(for: pause)) != nil else { return }
                    }
                }
                state.topics[topic] = Topic(task: task)
            }
            guard state.cleaning == nil, state.topics.count > wanted.count else { return }
            state.cleaning = Task { [weak self, clock] in
                guard (try? await clock.sleep(for: Self.linger)) != nil else { return }
                self?.clean()
            }
        }
    }

    func close() {
        state.withLock { state in
            state.cleaning?.cancel()
            for topic in state.topics.values { topic.task.cancel() }
            state = State()
        }
    }

    private func clean() {
        state.withLock { state in
            state.cleaning = nil
            for (topic, entry) in state.topics where !state.wanted.contains(topic) {
                entry.task.cancel()
                state.topics[topic] = nil
            }
        }
    }

    /// Listens until the channel ends.
    ///
    /// - Returns: The reason, if the server has given one.
    private static func listen(
        to topic: HintTopic, on realtime: RealtimeSocket, _ deliver: (RealtimeEvent) -> Void
    ) async -> RealtimeFailure? {
        do throws(RealtimeFailure) {
            let channel = try realtime.join(topic.name, topic.configuration)
            while let event = try await channel.next() {
                deliver(event)
                guard case .change(let change) = event, change.isFruitless else { continue }
                channel.leave()
                break
            }
            return nil
        } catch {
            return error
        }
    }

    /// - Returns: When to try again. Watchers check often enough meanwhile.
    private func ended(_ topic: HintTopic, _ failure: RealtimeFailure?) -> Duration {
        received(.interrupted, on: topic)
        // The topic is in use while its earlier channel is being left.
        if failure?.kind == .topicInUse { return .seconds(1) }
        if let failure { refused(failure, topic) }
        let refusals = state.withLock { state in
            state.topics[topic]?.refusals += 1
            return state.topics[topic]?.refusals ?? 1
        }
        return min(Self.retry * (1 << min(refusals - 1, 10)), Self.longestRetry)
    }

    /// Joins the channels again after an unannounced change, unless that was done recently.
    ///
    /// - Returns: Whether they are joined again.
    func rejoin() -> Bool {
        guard let realtime else { return false }
        let isDue = state.withLock { state in
            if let last = state.sinceRejoin, last.elapsed < Self.rejoinPause { return false }
            state.sinceRejoin = Stopwatch(clock)
            return true
        }
        if isDue { realtime.rejoin() }
        return isDue
    }

    /// Reports why changes may arrive late; live queries check without hints meanwhile.
    private func refused(_ failure: RealtimeFailure, _ topic: HintTopic) {
        let mayPass: Set<RealtimeFailure.Kind> = [.closed, .unavailable, .unanswered]
        if endsWithSession, failure.kind == .unauthenticated { return }
        guard !mayPass.contains(failure.kind), !hasNoticed.exchange(true, ordering: .relaxed) else { return }
        notice("Live queries are not notified of changes, and check for them instead: \(Self.reason(failure, topic))")
    }

    private static func reason(_ failure: RealtimeFailure, _ topic: HintTopic) -> String {
        if failure.kind == .unauthorized, topic.configuration.isPrivate, failure.problem == nil {
            return "The realtime service refuses a channel. If it refuses all of them, the policy switchyard_listen on "
                + "realtime.messages is missing; “select * from switchyard.missing();” has the statement that adds it."
        }
        if failure.kind == .refused, failure.isAboutBindings, let binding = topic.configuration.changes.first {
            let table = [binding.schema, binding.table].map(Self.quoted).joined(separator: ".")
            return
                "The table \(table) is missing or not in the publication “supabase_realtime”. Run “alter publication "
                + "supabase_realtime add table \(table);”."
        }
        return MessagingError(failure).message
    }

    /// A name as SQL takes it.
    private static func quoted(_ name: String) -> String {
        let isPlain = name.utf8.allSatisfy {
            (97...122).contains($0) || (48...57).contains($0) || $0 == UInt8(ascii: "_")
        }
        guard !isPlain || name.utf8.first.map({ (48...57).contains($0) }) != false else { return name }
        return "\"\(name.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\""))\""
    }

    private func received(_ event: RealtimeEvent, on topic: HintTopic) {
        let isNews = state.withLock { state in
            let isConfirmed: Bool
            switch event {
            case .confirmed: isConfirmed = true
            case .unconfirmed, .interrupted: isConfirmed = false
            default: return true
            }
            let isNews = isConfirmed || state.topics[topic]?.isConfirmed == true
            state.topics[topic]?.isConfirmed = isConfirmed
            if isConfirmed { state.topics[topic]?.refusals = 0 }
            return isNews
        }
        switch event {
        case .confirmed: deliver(.confirmed)
        case .unconfirmed, .interrupted: if isNews { deliver(.lost) }
        case .overflowed, .change: deliver(.announced(topic, transaction: nil))
        case .broadcast(let broadcast):
            deliver(.announced(topic, transaction: HintTopic.transaction(of: broadcast)))
        case .joined: break
        }
    }

    /// Makes streams check everything, as after a channel was confirmed: anything may have changed.
    func checkForChanges() { deliver(.confirmed) }

    private func deliver(_ hint: Hint) { listeners.send { $0(hint) } }
}
