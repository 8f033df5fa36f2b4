import SwitchyardBytes
import Synchronization

/// The members of each channel, and messages to all of them.
final class RealtimeHub: Sendable {
    struct ChannelKey: Hashable, Sendable {
        let name: String
        let isPrivate: Bool
    }

    private struct State {
        var sessions: [String: RealtimeSession] = [:]
        var channels: [ChannelKey: [LocalChannel]] = [:]
        var presence: [ChannelKey: PresenceState] = [:]
    }

    private let state = Mutex(State())
    let faults: RealtimeFaults

    init(_ faults: RealtimeFaults) { self.faults = faults }

    // MARK: Sessions

    var sessions: [RealtimeSession] { state.withLock { Array($0.sessions.values) } }
    func session(_ id: String) -> RealtimeSession? { state.withLock { $0.sessions[id] } }

    /// - Returns: Whether there was room.
    func add(_ session: RealtimeSession, limit: Int) -> Bool {
        state.withLock { state in
            guard state.sessions.count < limit else { return false }
            state.sessions[session.id] = session
            return true
        }
    }

    func remove(_ session: RealtimeSession) {
        state.withLock { _ = $0.sessions.removeValue(forKey: session.id) }
        for channel in session.channels where session.remove(channel) { remove(channel) }
        session.outbox.close()
    }

    // MARK: Channels

    var channels: [LocalChannel] { state.withLock { $0.channels.values.flatMap(\.self) } }

    /// - Parameter answer: Confirms the join. It runs in the same step, so that the client gets the confirmation first and
    ///   misses nothing after it.
    func add(_ channel: LocalChannel, answer: () -> Void) {
        state.withLock { state in
            answer()
            state.channels[channel.key, default: []].append(channel)
        }
    }

    func remove(_ channel: LocalChannel) {
        state.withLock { state in
            state.channels[channel.key]?.removeAll { $0 === channel }
            if state.channels[channel.key]?.isEmpty == true { state.channels[channel.key] = nil }
        }
        changePresence(of: channel) { book in book.untrack(channel.join.presenceKey, ObjectIdentifier(channel)) }
    }

    private func members(of key: ChannelKey) -> [LocalChannel] { state.withLock { $0.channels[key] ?? [] } }

    /// The users who listen to a channel, by their IDs.
    func users(at key: ChannelKey) -> [String] {
        members(of: key).map { $0.state.withLock { $0.token.token.claims["sub"]?.string ?? "anon" } }
    }

    // MARK: Broadcasts

    /// - Parameter sender: The sender, which receives it only if it asked to.
    /// - Returns: The number of recipients.
    @discardableResult
    func broadcast(
        _ frame: RealtimeFrame, to key: ChannelKey, from sender: LocalChannel? = nil
    ) -> Int {
        var count = 0
        for channel in members(of: key) where channel.rights.readsBroadcasts {
            if channel === sender, !channel.join.receivesOwnMessages { continue }
            faults.deliver(frame, to: channel.session)
            count += 1
        }
        return count
    }

    func send(_ change: JSON, to channel: LocalChannel) {
        faults.deliver(
            RealtimeFrame(topic: channel.topic, event: "postgres_changes", payload: change), to: channel.session)
    }

    // MARK: Presence

    func presence(at key: ChannelKey) -> JSON { state.withLock { $0.presence[key]?.state ?? [:] } }

    /// Changes a channel's presence and notifies its subscribers.
    func changePresence(of channel: LocalChannel, _ change: (inout PresenceState) -> JSON?) {
        let key = channel.key
        let difference = state.withLock { state -> JSON? in
            var book = state.presence[key] ?? PresenceState()
            let difference = change(&book)
            state.presence[key] = book.isEmpty ? nil : book
            return difference
        }
        guard let difference else { return }
        for member in members(of: key) where member.state.withLock({ $0.hasPresence && $0.rights.readsPresence }) {
            member.session.send(RealtimeFrame(topic: member.topic, event: "presence_diff", payload: difference))
        }
    }
}

/// The presence state of a channel. Pure: tracked entries in, notifications out.
struct PresenceState {
    /// The entries of each key, with the channel that tracks each one.
    private var entries: [String: [(owner: ObjectIdentifier, meta: JSONObject)]] = [:]

    var isEmpty: Bool { entries.isEmpty }

    /// The whole state, for a new client.
    var state: JSON {
        .object(
            JSONObject(
                entries.sorted { $0.key < $1.key }.map { (key: $0.key, value: Self.metas($0.value.map(\.meta))) }))
    }

    /// - Returns: The notification to send; `nil` if nothing has changed.
    mutating func track(_ key: String, _ owner: ObjectIdentifier, _ fields: JSONObject, ref: String) -> JSON? {
        var list = entries[key] ?? []
        var meta = fields
        var leaves = JSONObject()
        if let index = list.firstIndex(where: { $0.owner == owner }) {
            let old = list.remove(at: index).meta
            var bare = old
            bare["phx_ref"] = nil
            bare["phx_ref_prev"] = nil
            if bare == fields { return nil }
            meta["phx_ref_prev"] = old["phx_ref"]
            leaves[key] = Self.metas([old])
        }
        meta["phx_ref"] = .string(ref)
        list.append((owner, meta))
        entries[key] = list
        return ["joins": .object([key: Self.metas([meta])]), "leaves": .object(leaves)]
    }

    mutating func untrack(_ key: String, _ owner: ObjectIdentifier) -> JSON? {
        guard var list = entries[key], let index = list.firstIndex(where: { $0.owner == owner }) else { return nil }
        let old = list.remove(at: index).meta
        entries[key] = list.isEmpty ? nil : list
        return ["joins": [:], "leaves": .object([key: Self.metas([old])])]
    }

    private static func metas(_ list: [JSONObject]) -> JSON { ["metas": .array(list.map { .object($0) })] }
}
