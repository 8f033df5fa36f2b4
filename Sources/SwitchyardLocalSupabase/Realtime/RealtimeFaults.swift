import SwitchyardBytes
import Synchronization

/// Simulated faults between the realtime service and its clients, for broadcasts and row changes, which the vendor's service
/// delivers at most once and without guarantees.
package final class RealtimeFaults: Sendable {
    private struct State {
        var drops = 0
        var doubles = 0
        var reorders = 0
        var delays = 0
        var delay = Duration.zero
        var held: [(frame: RealtimeFrame, session: RealtimeSession)] = []
        var refusesWebSockets = false
        var refusedTokens: Set<String> = []
        var refusalPause = Duration.zero
        /// The number of database events after which each silence begins; `nil` for never.
        var eventsToSilence: Int?
        var eventsLeft = 0
        var deafUntil: ContinuousClock.Instant?
        var isDeaf = false
    }

    private let state = Mutex(State())

    package init() {}

    /// The next `count` events are lost.
    package func dropEvents(_ count: Int) { state.withLock { $0.drops = count } }

    /// The next `count` events arrive twice.
    package func doubleEvents(_ count: Int) { state.withLock { $0.doubles = count } }

    /// The next `count` events arrive after the one that follows them.
    package func reorderEvents(_ count: Int) { state.withLock { $0.reorders = count } }

    /// The next `count` events arrive late by `delay`.
    package func delayEvents(_ count: Int, by delay: Duration) {
        state.withLock { state in
            state.delays = count
            state.delay = delay
        }
    }

    /// Refuses web sockets like a proxy that blocks them.
    package var refusesWebSockets: Bool {
        get { state.withLock(\.refusesWebSockets) }
        set { state.withLock { $0.refusesWebSockets = newValue } }
    }

    /// How long each refused join blocks its connection, in both directions: five seconds at the vendor's.
    package var refusalPause: Duration {
        get { state.withLock(\.refusalPause) }
        set { state.withLock { $0.refusalPause = newValue } }
    }

    /// After each `count` database events, the connection to the database is lost silently: heartbeats are answered, but no
    /// events arrive until a client joins a channel, renews a token or sends on a private channel.
    package func fallSilent(afterEvents count: Int?) {
        state.withLock { state in
            state.eventsToSilence = count
            state.eventsLeft = count ?? 0
        }
    }

    package var isSilent: Bool { state.withLock { $0.eventsToSilence != nil && $0.eventsLeft == 0 } }

    /// For this time, the service has lost its connection to the database and restores it by itself: what the database sends
    /// meanwhile never arrives, and no one is notified.
    package func loseDatabase(for time: Duration) { state.withLock { $0.deafUntil = .now + time } }

    /// Whether the service is without its database because of ``loseDatabase(for:)``.
    package var isWithoutDatabase: Bool { state.withLock { $0.deafUntil.map { .now < $0 } ?? false } }

    /// Whether connections stay open and heartbeats are answered, but nothing that happens arrives.
    package var isDeaf: Bool {
        get { state.withLock(\.isDeaf) }
        set { state.withLock { $0.isDeaf = newValue } }
    }

    /// Restores the connection to the database.
    func wake() { state.withLock { $0.eventsLeft = $0.eventsToSilence ?? 0 } }

    /// - Returns: Whether an event of the database is delivered.
    func admitsEvent() -> Bool {
        state.withLock { state in
            if let end = state.deafUntil, .now < end { return false }
            guard state.eventsToSilence != nil else { return true }
            guard state.eventsLeft > 0 else { return false }
            state.eventsLeft -= 1
            return true
        }
    }

    package func removeAll() {
        let held = state.withLock { state in
            defer { state = State() }
            return state.held
        }
        for (frame, session) in held { session.send(frame) }
    }

    // MARK: Tokens

    /// From now on, these tokens count as expired.
    func refuse(_ tokens: Set<String>) { state.withLock { $0.refusedTokens.formUnion(tokens) } }

    func refuses(_ token: String) -> Bool { state.withLock { $0.refusedTokens.contains(token) } }

    // MARK: Events

    private enum FaultAction {
        case send([(frame: RealtimeFrame, session: RealtimeSession)])
        case sendLater(Duration)
    }

    func deliver(_ frame: RealtimeFrame, to session: RealtimeSession) {
        if session.isExempt { return session.send(frame) }
        let deed = state.withLock { state -> FaultAction in
            func isDue(_ counter: WritableKeyPath<State, Int>) -> Bool {
                guard state[keyPath: counter] > 0 else { return false }
                state[keyPath: counter] -= 1
                return true
            }
            if state.isDeaf || isDue(\.drops) { return .send([]) }
            if isDue(\.delays) { return .sendLater(state.delay) }
            if isDue(\.reorders) {
                state.held.append((frame, session))
                return .send([])
            }
            let held = state.held
            state.held = []
            return .send((isDue(\.doubles) ? [(frame, session), (frame, session)] : [(frame, session)]) + held)
        }
        switch deed {
        case .send(let all): for (frame, session) in all { session.send(frame) }
        case .sendLater(let delay):
            // The delay is the fault itself.
            Task {
                try? await Task.sleep(for: delay)
                session.send(frame)
            }
        }
    }
}
