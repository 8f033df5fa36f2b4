import SwitchyardBytes

/// One socket to the service and the channels on it: event in, actions out.
///
/// The socket is open while there are channels, and a little longer. Whatever breaks is repaired, with pauses that grow;
/// a channel ends only when it is left, or when the server says that it can never be.
struct RealtimeMachine {
    enum Event: Equatable {
        case join(String, RealtimeConfiguration)
        case leave(String)
        /// Something has happened that no channel has told of.
        case rejoin
        case push(Push)
        /// Whose token joins channels from now on; `nil` for nobody's.
        ///
        /// - Parameter isAnswer: Whether it is what came of `fetchToken`, which one of these three answers; others come as well.
        case token(String?, isAnswer: Bool = false)
        /// There is none to be had at the moment.
        case tokenDelayed(isAnswer: Bool = false)
        /// There will be none for whoever is signed in.
        case tokenDenied(RealtimeFailure, isAnswer: Bool = false)
        /// A way to the server is open and nothing is joined on it. Also of a session that follows another on its own.
        case opened(polls: Bool)
        /// The way was refused with a status; the reason is the service's, if it was the service that refused.
        case refused(status: Int, reason: String?)
        /// The way could not be opened, has broken down, or was closed by the server.
        case broken
        case received(RealtimeMessage)
        case timer(Timer)
        case close
    }

    enum Action: Equatable {
        /// Asks for a token, as by `fetchToken`, and opens a way with it.
        case connect(polls: Bool)
        case disconnect
        /// - Parameter isRefused: Whether the present one was.
        case fetchToken(isRefused: Bool)
        case send(RealtimeMessage)
        case deliver(String, RealtimeEvent)
        /// The last of a channel.
        case end(String, RealtimeFailure)
        case answer(Int, Result<JSON, RealtimeFailure>)
        case schedule(Timer, after: Duration)
        case cancel(Timer)
    }

    enum Timer: Hashable {
        case heartbeat
        case reconnect
        /// There are no channels any more.
        case unused
        case join(String)
        case rejoin(String)
        case confirmation(String)
        /// A channel that replays is joined anew, in case that something was lost without a word.
        case refresh(String)
        case push(String)
    }

    /// A message of a channel on its way out. Answered once, by `Action.answer`.
    struct Push: Equatable {
        let id: Int
        let topic: String
        let event: String
        let payload: JSON
        var bytes: [UInt8]? = nil
    }

    enum Phase { case idle, connecting, open, pausing, closed }

    /// The server holds refusals back for some seconds.
    static let joinDeadline = Duration.seconds(20)
    static let confirmationDeadline = Duration.seconds(15)
    static let pushDeadline = Duration.seconds(10)
    /// How many joins may be unanswered: a project bears so many a second.
    static let joinsAtOnce = 8
    /// How many heartbeats in a row may be late while the server is at work on joins.
    static let lateBeatsAtMost = 3
    /// With every how many heartbeats something is said that wakes a service without its database: each time costs that a look
    /// at its policies.
    static let beatsToProbe = 4
    /// How many topics that were refused are remembered.
    static let refusalsAtMost = 1000
    static let refreshPeriod = Duration.seconds(300)
    /// By how much this device's time of day may be ahead of the server's, in milliseconds, without anything being missed.
    static let replayMargin: Int64 = 600_000

    /// How often the server is greeted, and the token looked after.
    let heartbeat: Duration
    /// Whether no web socket is tried.
    private let alwaysPolls: Bool
    /// Whether long polling is tried where no web socket comes through.
    private let mayPoll: Bool
    var phase = Phase.idle
    var polls = false
    var channels: [String: Channel] = [:]
    /// Topics in the order in which they shall be joined.
    var order: [String] = []
    var token: String?
    /// While a token is being fetched: whether that is because the one before was refused.
    var fetchIsForRefusal: Bool?
    var failures = 0
    var heartbeatRef: String?
    var lateBeats = 0
    private var beats = 0
    /// How often in a row each topic was refused, also of channels that have ended since.
    var refusals: [String: Int] = [:]
    var pushes: [String: Push] = [:]
    var lastRef = 0
    private let jitter: @Sendable () -> Double
    /// The time of day in milliseconds since 1970.
    let now: @Sendable () -> Int64
    var actions: [Action] = []

    /// - Parameters:
    ///   - heartbeat: How often the server is greeted.
    ///   - alwaysPolls: Whether to try no web socket.
    ///   - mayPoll: Whether to try long polling where no web socket comes through.
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

    // MARK: The way to the server

    mutating func connect(polls: Bool) {
        let polls = polls || alwaysPolls
        phase = .connecting
        self.polls = polls
        actions.append(.connect(polls: polls))
    }

    mutating func opened(_ polls: Bool) {
        guard phase == .connecting || phase == .open else { return }
        if phase == .open {
            // Where nothing was joined since the last trouble, the next session may be forgotten as soon.
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

    /// - Parameter first: How long the pause is after the first failure in a row.
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
            // Somebody on the way does not let web sockets through; the other way is tried once before the pause.
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

    /// A channel is not joined any more for a reason that is not its own.
    mutating func lose(_ topic: String) {
        guard var channel = channels[topic] else { return }
        failPushes(of: topic, RealtimeFailure(.unavailable))
        switch channel.phase {
        // These have something else to wait for.
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

    /// Half of it is left to chance, so that many clients do not come back at the same moment.
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
            // The last one was not answered: nobody is there, unless the answer has to wait for that to a join.
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

    /// What has stood for a whole heartbeat is well again: its next trouble is a first one.
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
