import Switchyard
import SwitchyardBytes
import Synchronization

/// A channel that is joined, and stays so until it is left or nobody holds it any more.
final class RealtimeChannel: Sendable {
    /// Without the prefix that all topics have on the wire.
    let topic: String
    private let socket: RealtimeSocket
    private let inbox: RealtimeInbox

    init(_ topic: String, _ inbox: RealtimeInbox, on socket: RealtimeSocket) {
        self.topic = topic
        self.socket = socket
        self.inbox = inbox
    }

    deinit { leave() }

    /// Whether it was left or has ended, which its reader may learn later.
    var isOver: Bool { !socket.holds(topic, inbox) }

    /// What happens on the channel. One reader at a time.
    ///
    /// - Throws: Once, when the server says that the channel can never be.
    /// - Returns: `nil` after it was left, and to a task that was cancelled; that is an end, too.
    func next() async throws(RealtimeFailure) -> RealtimeEvent? { try await inbox.next() }

    /// Sends a broadcast to the others on the channel.
    ///
    /// - Throws: `.unavailable` while the channel is not joined; with acknowledgements also `.unanswered`, which is how a
    ///   policy refuses, and `.tooLarge`. Without them, nothing says what became of it.
    func broadcast(_ event: String, _ payload: JSON) async throws(RealtimeFailure) {
        try await socket.push(
            topic, inbox, event: "broadcast",
            payload: ["type": "broadcast", "event": .string(event), "payload": payload], bytes: nil)
    }

    /// The same with bytes that are not JSON. Readers over long polling do not get them.
    func broadcast(_ event: String, _ bytes: [UInt8]) async throws(RealtimeFailure) {
        try await socket.push(
            topic, inbox, event: "broadcast", payload: ["type": "broadcast", "event": .string(event)], bytes: bytes)
    }

    func leave() { socket.leave(topic, inbox) }
}

/// What waits for a channel's reader, which the network never waits for.
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
