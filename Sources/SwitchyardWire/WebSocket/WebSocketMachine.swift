/// One side of a web socket after the upgrade, without I/O: takes bytes and times, returns events and bytes.
///
/// It answers pings and close frames by itself. The last event is `closed` or `failed`. After that, the machine accepts no
/// input; send the remaining `output`, then end the connection once `isDone`.
package struct WebSocketMachine: Sendable {
    package typealias Instant = ContinuousClock.Instant

    package enum Event: Sendable, Hashable {
        case message(WebSocketMessage)
        case pong([UInt8])
        /// Both sides have sent a close frame.
        case closed(WebSocketClose)
        case failed(WebSocketFailure)
    }

    private enum Phase {
        case open
        /// Our close frame is sent, and the peer's is awaited.
        case closing(until: Instant)
        /// Both close frames are sent; a client waits a while for the server to end the connection.
        case lingering(until: Instant)
        /// Only `output` must still be sent, as long as the peer accepts it.
        case done(until: Instant)
        case dropped
    }

    /// With more unsent answers than this many bytes, only the newest ping is answered, as the protocol allows; otherwise a
    /// peer that sends pings and reads nothing could fill the memory.
    private static let answerBacklog = 64 * 1024

    /// The bytes for the peer, in order.
    package private(set) var output: [UInt8] = []

    private let role: WebSocketRole
    private let keepAlive: WebSocketKeepAlive
    private var decoder: WebSocketDecoder
    private var encoder: WebSocketEncoder
    private var decoded: [WebSocketDecoder.Event] = []
    private var phase = Phase.open
    private var latePong: [UInt8]?

    private var isReceiving = true
    private var lastReceived: Instant
    private var pingSent: Instant?

    package init(
        role: WebSocketRole, limits: WebSocketLimits = WebSocketLimits(),
        keepAlive: WebSocketKeepAlive = WebSocketKeepAlive(), masks: WebSocketMaskSource = .system, at now: Instant
    ) {
        self.role = role
        self.keepAlive = keepAlive
        decoder = WebSocketDecoder(role: role, limits: limits)
        encoder = WebSocketEncoder(role: role, fragmentSize: limits.fragmentSize, masks: masks)
        lastReceived = now
    }

    /// Whether messages may still be sent.
    package var isOpen: Bool { if case .open = phase { true } else { false } }

    /// Whether to end the connection once `output` is sent.
    package var isDone: Bool {
        switch phase {
        case .done, .dropped: true
        default: false
        }
    }

    /// Whether to end the connection at once, even with unsent bytes.
    package var isDropped: Bool { if case .dropped = phase { true } else { false } }

    // MARK: Output

    /// - Returns: `false`, without any effect, if the socket is no longer open.
    package mutating func send(_ message: WebSocketMessage) -> Bool {
        guard isOpen else { return false }
        encoder.append(message, to: &output)
        return true
    }

    package mutating func ping(_ payload: [UInt8], at now: Instant) -> Bool {
        guard isOpen else { return false }
        encoder.append(.ping, payload: payload, to: &output)
        if pingSent == nil { pingSent = now }
        return true
    }

    /// Starts the closing handshake. A code that may not be sent becomes an empty close frame.
    package mutating func close(_ close: WebSocketClose, at now: Instant) {
        guard isOpen else { return }
        encoder.append(close, to: &output)
        phase = .closing(until: now + keepAlive.closeWithin)
    }

    /// Returns the bytes to send now, and empties `output`.
    package mutating func takeOutput() -> [UInt8] {
        if let payload = latePong {
            latePong = nil
            if isOpen { encoder.append(.pong, payload: payload, to: &output) }
        }
        defer { output = [] }
        return output
    }

    // MARK: Input

    package mutating func receive(_ bytes: UnsafeRawBufferPointer, at now: Instant, into events: inout [Event]) {
        lastReceived = now
        pingSent = nil
        switch phase {
        case .open, .closing: break
        case .lingering, .done, .dropped: return
        }
        var violation: WebSocketViolation?
        do throws(WebSocketViolation) {
            try decoder.decode(bytes, into: &decoded)
        } catch {
            violation = error
        }
        for event in decoded { take(event, at: now, into: &events) }
        decoded.removeAll(keepingCapacity: true)
        if let violation {
            // In the closing phase our close frame is already sent; a second one is not allowed.
            if isOpen { encoder.append(violation.close, to: &output) }
            phase = .done(until: now + keepAlive.closeWithin)
            events.append(.failed(.violation(violation)))
        }
    }

    private mutating func take(_ event: WebSocketDecoder.Event, at now: Instant, into events: inout [Event]) {
        switch event {
        case .message(let message): events.append(.message(message))
        case .pong(let payload): events.append(.pong(payload))
        case .ping(let payload):
            guard isOpen else { return }
            if output.count > Self.answerBacklog {
                latePong = payload
            } else {
                encoder.append(.pong, payload: payload, to: &output)
            }
        case .close(let close):
            if isOpen { encoder.append(WebSocketClose(code: close.code), to: &output) }
            let end = now + keepAlive.closeWithin
            phase = role == .server ? .done(until: end) : .lingering(until: end)
            events.append(.closed(close))
        }
    }

    /// The peer has ended its side of the connection.
    package mutating func end(into events: inout [Event]) {
        switch phase {
        case .open, .closing: events.append(.failed(.cutOff))
        case .lingering, .done, .dropped: break
        }
        phase = .dropped
    }

    // MARK: Time

    /// While the owner does not read, silence does not mean a dead peer.
    package mutating func setReceiving(_ receiving: Bool, at now: Instant) {
        guard receiving != isReceiving else { return }
        isReceiving = receiving
        lastReceived = now
        pingSent = nil
    }

    /// When to call `tick` next, unless something else happens before.
    package var deadline: Instant? {
        switch phase {
        case .closing(let end), .lingering(let end), .done(let end): return end
        case .dropped: return nil
        case .open:
            guard isReceiving else { return nil }
            if let pingSent { return pingSent + keepAlive.answerWithin }
            return keepAlive.pingAfter.map { lastReceived + $0 }
        }
    }

    /// Does what is due: sends a ping, or gives up on the peer. Does nothing if called early.
    package mutating func tick(at now: Instant, into events: inout [Event]) {
        guard let deadline, deadline <= now else { return }
        switch phase {
        case .open where pingSent != nil:
            encoder.append(.goingAway, to: &output)
            phase = .dropped
            events.append(.failed(.unanswered))
        case .open:
            _ = ping([], at: now)
        case .closing:
            phase = .dropped
            events.append(.failed(.closeUnanswered))
        case .lingering, .done:
            phase = .dropped
        case .dropped:
            break
        }
    }
}
