import Switchyard
import SwitchyardBytes
import Synchronization

/// A joined channel, which stays joined until it is left or released.
final class RealtimeChannel: Sendable {
    /// Without the prefix of all topics on the wire.
    let topic: String
    private let socket: RealtimeSocket
    private let inbox: RealtimeInbox

    init(_ topic: String, _ inbox: RealtimeInbox, on socket: RealtimeSocket) {
        self.topic = topic
        self.socket = socket
        self.inbox = inbox
    }

    deinit { leave() }

    /// Whether it was left or has ended, even if the reader does not know yet.
    var isOver: Bool { !socket.holds(topic, inbox) }

    /// The next event on the channel. There can be only one reader at a time.
    ///
    /// - Throws: Once, when the channel has ended for good.
    /// - Returns: `nil` after the channel was left, and for a cancelled task, which ends it as well.
    func next() async throws(RealtimeFailure) -> RealtimeEvent? { try await inbox.next() }

    /// Sends a broadcast to the others on the channel.
    ///
    /// - Throws: `.unavailable` while the channel is not joined. With acknowledgements, also `.tooLarge`, and `.unanswered`,
    ///   which is how a policy refuses. Without them, the outcome is unknown.
    func broadcast(_ event: String, _ payload: JSON) async throws(RealtimeFailure) {
        try await socket.push(
            topic, inbox, event: "broadcast",
            payload: ["type": "broadcast", "event": .string(event), "payload": payload], bytes: nil)
    }

    /// Sends a broadcast of bytes instead of JSON. Readers over long polling do not receive it.
    func broadcast(_ event: String, _ bytes: [UInt8]) async throws(RealtimeFailure) {
        try await socket.push(
            topic, inbox, event: "broadcast", payload: ["type": "broadcast", "event": .string(event)], bytes: bytes)
    }

    func leave() { socket.leave(topic, inbox) }
}

/// The events waiting for a channel's reader, so that the network never waits for it.
final class RealtimeInbox: Sendable {
    private let limit: Int
    private let buffer = StreamBuffer<RealtimeEvent, RealtimeFailure>(.all)
    private let state = Mutex((waiting: 0, hasOverflowed: false))

    init(limit: Int) { self.limit = limit }

    func deliver(_ event: RealtimeEvent) {
        let event: RealtimeEvent? = state.withLock { state in
            guard !state.hasOverflowed else { return nil }
            state.waiting += 1
            guard state.waiting >= limit else { return event }
            state.hasOverflowed = true
            return .overflowed
        }
        if let event { buffer.yield(event) }
    }

    func end(_ failure: RealtimeFailure) {
        buffer.finish(failure.kind == .closed ? .success(()) : .failure(failure))
    }

    func next() async throws(RealtimeFailure) -> RealtimeEvent? {
        let event = try await buffer.next()
        state.withLock { state in
            state.waiting -= 1
            if event == .overflowed { state.hasOverflowed = false }
        }
        return event
    }
}
