import SwitchyardBytes
import SwitchyardWire
import Synchronization

/// A token with its text, as stored by sessions and channels.
struct RealtimeToken: Sendable {
    let text: String
    let token: SupabaseToken

    /// In seconds since 1970.
    var end: Int64 { token.claims["exp"]?.int64 ?? .max }
}

/// A connected client, by web socket or polling.
final class RealtimeSession: Sendable {
    let id: String
    let form: RealtimeFrame.Form
    /// The connection's token; channels may have others.
    let token: RealtimeToken
    /// Whether faults do not count for it.
    let isExempt: Bool
    let outbox = RealtimeOutbox()
    private let state: Mutex<(channels: [String: LocalChannel], lastMessage: ContinuousClock.Instant)>

    init(form: RealtimeFrame.Form, token: RealtimeToken, isExempt: Bool = false) {
        self.isExempt = isExempt
        id = RandomID.make(length: 40)
        self.form = form
        self.token = token
        state = Mutex(([:], .now))
    }

    func send(_ frame: RealtimeFrame) {
        if let message = frame.message(in: form) { outbox.put(message) }
    }

    /// Meanwhile nothing is sent, and nothing more is received, since messages are processed in order.
    func holdUp(for pause: Duration) async {
        guard pause > .zero else { return }
        outbox.isHeld = true
        // The pause is the fault itself, in real time; a cancelled one ends early.
        try? await Task.sleep(for: pause)
        outbox.isHeld = false
    }

    // MARK: Channels

    var channels: [LocalChannel] { state.withLock { Array($0.channels.values) } }

    func channel(_ topic: String) -> LocalChannel? { state.withLock { $0.channels[topic] } }

    /// - Returns: The previous channel, if any.
    func put(_ channel: LocalChannel) -> LocalChannel? {
        state.withLock { $0.channels.updateValue(channel, forKey: channel.topic) }
    }

    /// - Returns: Whether it was joined.
    func remove(_ channel: LocalChannel) -> Bool {
        state.withLock { state in
            guard state.channels[channel.topic] === channel else { return false }
            state.channels[channel.topic] = nil
            return true
        }
    }

    // MARK: Silence

    func noteMessage() { state.withLock { $0.lastMessage = .now } }

    var silence: Duration { state.withLock { $0.lastMessage.duration(to: .now) } }
}

/// A channel that a client has joined.
final class LocalChannel: Sendable {
    struct State: Sendable {
        var token: RealtimeToken
        var rights: RealtimeRights
        /// The start of its wait for messages of the database.
        var awaitsDatabaseSince: ContinuousClock.Instant?
        var hasPresence: Bool
        /// Whether it receives row changes: only after its bindings were validated.
        var receivesChanges = false
    }

    /// With the prefix used on the wire.
    let topic: String
    let joinRef: String?
    let join: RealtimeJoin
    let session: RealtimeSession
    let state: Mutex<State>
    let presenceCalls = RealtimeMeter(perSecond: 5, over: 30)

    init(
        _ frame: RealtimeFrame, _ join: RealtimeJoin, on session: RealtimeSession, _ token: RealtimeToken,
        _ rights: RealtimeRights
    ) {
        topic = frame.topic
        joinRef = frame.joinRef ?? frame.ref
        self.join = join
        self.session = session
        state = Mutex(State(token: token, rights: rights, hasPresence: join.hasPresence))
    }

    /// Without the prefix.
    var name: String { String(topic.dropFirst(Self.prefix.count)) }
    static let prefix = "realtime:"

    var rights: RealtimeRights { state.withLock(\.rights) }
    var token: RealtimeToken { state.withLock(\.token) }

    /// Public and private channels of the same name are separate.
    var key: RealtimeHub.ChannelKey { RealtimeHub.ChannelKey(name: name, isPrivate: join.isPrivate) }

    /// Sends a message of the channel itself.
    func send(_ event: String, _ payload: JSON) {
        session.send(RealtimeFrame(joinRef: joinRef, topic: topic, event: event, payload: payload))
    }

    func system(_ part: String, _ status: String, _ message: String) {
        send(
            "system",
            [
                "extension": .string(part), "status": .string(status), "message": .string(message),
                "channel": .string(name),
            ])
    }
}

/// A client's rights on a channel.
struct RealtimeRights: Hashable, Sendable {
    var readsBroadcasts: Bool
    var readsPresence: Bool
    var sendsBroadcasts: Bool
    var tracksPresence: Bool

    /// The rights on public channels.
    static let all = RealtimeRights(["read:broadcast", "read:presence", "write:broadcast", "write:presence"])

    init(_ names: Set<String>) {
        readsBroadcasts = names.contains("read:broadcast")
        readsPresence = names.contains("read:presence")
        sendsBroadcasts = names.contains("write:broadcast")
        tracksPresence = names.contains("write:presence")
    }

    var mayJoin: Bool { readsBroadcasts || readsPresence }
}
