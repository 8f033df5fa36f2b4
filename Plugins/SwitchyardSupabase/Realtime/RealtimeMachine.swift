import SwitchyardBytes

/// One socket to the service and the channels on it: takes events and returns actions.
///
/// The socket is open while there are channels, and a little longer. Failures are repaired, with growing pauses. A channel ends
/// only if it is left or the server refuses it for good.
struct RealtimeMachine {
    enum Event: Equatable {
        case join(String, RealtimeConfiguration)
        case leave(String)
        /// A change was found that no channel has reported.
        case rejoin
        case push(Push)
        /// The token for joining channels from now on; `nil` if no user is signed in.
        ///
        /// - Parameter isAnswer: Whether it answers `fetchToken`. One of these three events does; they also occur on their own.
        case token(String?, isAnswer: Bool = false)
        /// No token is available at the moment.
        case tokenDelayed(isAnswer: Bool = false)
        /// There will be no token for the current user.
        case tokenDenied(RealtimeFailure, isAnswer: Bool = false)
        /// A connection to the server is open, without joined channels. Also sent if a session replaces another by itself.
        case opened(polls: Bool)
        /// The connection was refused with a status; the reason is `nil` unless the service itself refused.
        case refused(status: Int, reason: String?)
        /// The connection could not be opened, has failed, or was closed by the server.
        case broken
        case received(RealtimeMessage)
        case timer(Timer)
        case close
    }

    enum Action: Equatable {
        /// Requests a token, as `fetchToken` does, and opens a connection with it.
        case connect(polls: Bool)
        case disconnect
        /// - Parameter isRefused: Whether the current token was refused.
        case fetchToken(isRefused: Bool)
        case send(RealtimeMessage)
        case deliver(String, RealtimeEvent)
        /// The last action for a channel.
        case end(String, RealtimeFailure)
        case answer(Int, Result<JSON, RealtimeFailure>)
        case schedule(Timer, after: Duration)
        case cancel(Timer)
    }

    enum Timer: Hashable {
        case heartbeat
        case reconnect
        /// There are no channels left.
        case unused
        case join(String)
        case rejoin(String)
        case confirmation(String)
        /// Joins a replaying channel again, in case something was lost silently.
        case refresh(String)
        case push(String)
    }

    /// An outgoing message of a channel. It is answered once, with `Action.answer`.
    struct Push: Equatable {
        let id: Int
        let topic: String
        let event: String
        let payload: JSON
        var bytes: [UInt8]? = nil
    }

    enum Phase { case idle, connecting, open, pausing, closed }

    /// The server delays refusals by some seconds.
    static let joinDeadline = Duration.seconds(20)
    static let confirmationDeadline = Duration.seconds(15)
    static let pushDeadline = Duration.seconds(10)
    /// The maximum number of unanswered joins: a project allows so many per second.
    static let joinsAtOnce = 8
    /// The maximum number of those that were never admitted, on a socket that carries messages: each refusal blocks it for seconds.
    static let unprovenJoinsAtOnce = 2
    /// The maximum number of consecutive late heartbeats while the server processes joins.
    static let lateBeatsAtMost = 3
    /// The number of heartbeats after which a message is sent that wakes a service without its database. Each message makes it
    /// evaluate its policies.
    static let beatsToProbe = 4
    /// The number of refused topics that are remembered.
    static let refusalsAtMost = 1000
    static let refreshPeriod = Duration.seconds(300)
    /// How far this device's clock may be ahead of the server's, in milliseconds, without missing anything.
    static let replayMargin: Int64 = 600_000

    /// The interval of heartbeats and token checks.
    let heartbeat: Duration
    /// Whether to use only long polling.
    private let alwaysPolls: Bool
    /// Whether to use long polling if a web socket fails.
    private let mayPoll: Bool
    var phase = Phase.idle
    var polls = false
    var channels: [String: Channel] = [:]
    /// Topics in the order in which to join them.
    var order: [String] = []
    var token: String?
    /// While a token is being fetched, whether the previous one was refused.
    var fetchIsForRefusal: Bool?
    var failures = 0
    var heartbeatRef: String?
    var lateBeats = 0
    private var beats = 0
    /// The number of consecutive refusals by topic, including channels that have ended.
    var refusals: [String: Int] = [:]
    var pushes: [String: Push] = [:]
    var lastRef = 0
    private let jitter: @Sendable () -> Double
    /// The time of day in milliseconds since 1970.
    let now: @Sendable () -> Int64
    var actions: [Action] = []

    /// - Parameters:
    ///   - heartbeat: The interval of heartbeats.
    ///   - alwaysPolls: Whether to use only long polling.
    ///   - mayPoll: Whether to use long polling if a web socket fails.
    ///   - now: The time of day in milliseconds since 1970.
    ///   - jitter: A random number from 0 to 1.
    init(
        heartbeat: Duration = SupabaseRealtime.usualHeartbeat, alwaysPolls: Bool = false, mayPoll: Bool = true,
        now: @escaping @Sendable () -> Int64, jitter: @escaping @Sendable () -> Double
    ) {
        self.now = now
        self.heartbeat = heartbeat
        self.alwaysPolls = alwaysPolls
        self.mayPoll = mayPoll
        self.jitter = jitter
    }

    mutating func handle(_ event: Event) -> [Action] {
        actions = []
        if phase != .closed { take(event) }
        return actions
    }

    mutating func take(_ event: Event) {
        switch event {
        case .join(let topic, let configuration): join(topic, configuration)
        case .leave(let topic): leave(topic)
        case .rejoin: rejoinAll()
        case .push(let message): push(message)
        case .token(let token, let isAnswer): take(token: token, isAnswer)
        case .tokenDelayed(let isAnswer): tokenDelayed(isAnswer)
        case .tokenDenied(let failure, let isAnswer): tokenDenied(failure, isAnswer)
        case .opened(let polls): opened(polls)
        case .refused(let status, let reason): refused(status, reason)
        case .broken: broken(.seconds(0.5))
        case .received(let message): received(message)
        case .timer(let timer): fired(timer)
        case .close: close()
        }
    }

    // MARK: Connection

    mutating func connect(polls: Bool) {
        let polls = polls || alwaysPolls
        phase = .connecting
        self.polls = polls
        actions.append(.connect(polls: polls))
    }

    mutating func opened(_ polls: Bool) {
        guard phase == .connecting || phase == .open else { return }
        if phase == .open {
            // Without a successful join since the last failure, the next session may be lost as quickly.
            guard failures == 0 else {
                actions.append(.disconnect)
                return broken(.seconds(0.5))
            }
            failures = 1
            loseChannels()
        }
        phase = .open
        self.polls = polls
        heartbeatRef = nil
        lateBeats = 0
        actions.append(.schedule(.heartbeat, after: heartbeat))
        joinNext()
    }

    /// - Parameter first: The pause after the first of consecutive failures.
    mutating func broken(_ first: Duration, atMost: Duration = .seconds(30)) {
        guard phase == .connecting || phase == .open else { return }
        failures += 1
        loseChannels()
        actions.append(.cancel(.heartbeat))
        guard !channels.isEmpty else {
            phase = .idle
            return
        }
        phase = .pausing
        actions.append(.schedule(.reconnect, after: pause(first, failures, atMost: atMost)))
    }

    mutating func refused(_ status: Int, _ reason: String?) {
        guard phase == .connecting else { return }
        guard let reason else {
            // A proxy blocks web sockets; try long polling once before pausing.
            guard !polls, mayPoll else { return broken(.seconds(5), atMost: .seconds(120)) }
            return connect(polls: true)
        }
        switch status {
        case 401: endAll(RealtimeFailure(.unauthenticated, reason))
        case 403, 404: endAll(RealtimeFailure(.refused, reason))
        case 429: broken(.seconds(20), atMost: .seconds(300))
        default: broken(.seconds(0.5))
        }
    }

    mutating func endAll(_ failure: RealtimeFailure) {
        for topic in order { end(topic, failure) }
        phase = .idle
    }

    mutating func loseChannels() {
        for topic in order { lose(topic) }
    }

    /// Marks a channel as no longer joined, for a reason outside the channel.
    mutating func lose(_ topic: String) {
        guard var channel = channels[topic] else { return }
        failPushes(of: topic, RealtimeFailure(.unavailable))
        switch channel.phase {
        // These wait for something else.
        case .pausing, .awaitingToken: return
        case .waiting: return
        case .joining: actions.append(.cancel(.join(topic)))
        case .joined:
            actions.append(.cancel(.confirmation(topic)))
            actions.append(.deliver(topic, .interrupted))
        }
        channel.phase = .waiting
        channels[topic] = channel
    }

    mutating func close() {
        for topic in order { end(topic, RealtimeFailure(.closed)) }
        actions += [.cancel(.heartbeat), .cancel(.reconnect), .cancel(.unused), .disconnect]
        phase = .closed
    }

    /// Half of the pause is random, so that many clients do not reconnect at the same moment.
    func pause(_ first: Duration, _ failures: Int, atMost longest: Duration) -> Duration {
        min(first * (1 << min(failures - 1, 10)), longest) * (0.5 + jitter() / 2)
    }

    // MARK: Heartbeats and timers

    mutating func fired(_ timer: Timer) {
        switch timer {
        case .heartbeat: beat()
        case .reconnect: if phase == .pausing { connect(polls: false) }
        case .unused:
            guard channels.isEmpty, phase != .idle else { return }
            phase = .idle
            actions += [.cancel(.heartbeat), .cancel(.reconnect), .disconnect]
        case .join(let topic):
            guard let channel = channels[topic], channel.phase == .joining else { return }
            sendLeave(channel, topic)
            troubled(topic, "There was no answer")
        case .rejoin(let topic):
            guard channels[topic]?.phase == .pausing else { return }
            channels[topic]?.phase = .waiting
            joinNext()
        case .confirmation(let topic):
            guard let channel = channels[topic], channel.phase == .joined(isConfirmed: false) else { return }
            actions.append(.deliver(topic, .unconfirmed))
        case .refresh(let topic):
            rejoin(topic)
            joinNext()
        case .push(let ref):
            guard let push = pushes.removeValue(forKey: ref) else { return }
            actions.append(.answer(push.id, .failure(RealtimeFailure(.unanswered))))
        }
    }

    mutating func beat() {
        guard phase == .open else { return }
        if heartbeatRef != nil {
            // The last heartbeat was not answered. The connection is dead, unless a join delays the answer.
            guard channels.values.contains(where: { $0.phase == .joining }), lateBeats < Self.lateBeatsAtMost else {
                actions.append(.disconnect)
                return broken(.seconds(0.5))
            }
            lateBeats += 1
            return actions.append(.schedule(.heartbeat, after: heartbeat))
        }
        fetchToken(isRefused: false)
        beats += 1
        if beats.isMultiple(of: Self.beatsToProbe) { probe() }
        if !polls {
            let ref = nextRef()
            heartbeatRef = ref
            actions.append(.send(RealtimeMessage(ref: ref, topic: "phoenix", event: "heartbeat")))
        } else {
            settle()
        }
        actions.append(.schedule(.heartbeat, after: heartbeat))
    }

    /// Resets the failures of channels that stayed joined for a whole heartbeat.
    mutating func settle() {
        for topic in order {
            guard var channel = channels[topic], case .joined = channel.phase else { continue }
            if channel.hasBeaten {
                channel.failures = 0
                channel.hasTriedNewToken = false
            }
            channel.hasBeaten = true
            channels[topic] = channel
        }
    }
}
