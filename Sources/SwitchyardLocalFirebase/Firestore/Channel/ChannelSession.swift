import SwitchyardBytes
import Synchronization

/// The stream in a session: receives the client's messages, in order and once.
protocol ChannelStream: AnyObject, Sendable {
    func receive(_ message: JSON)
    /// Ends the stream: no more messages arrive, and none can be sent.
    func end()
}

/// A WebChannel session: orders the client's messages, and keeps its own until they are acknowledged.
final class ChannelSession: Sendable {
    private struct State {
        /// Message numbers cover the whole session; each message is taken once, in order.
        var nextMessage = 0
        var early: [Int: JSON] = [:]
        var isDelivering = false
        var stream: (any ChannelStream)?

        var nextArray = 1
        /// The unacknowledged messages with their numbers.
        var arrays: [(id: Int, payload: [UInt8])] = []
        /// The last number written to the current back channel.
        var sent = 0
        /// Counts back channels; only the newest one gets messages.
        var channel = 0
        var isChannelOpen = false
        var waiting: CheckedContinuation<Void, Never>?
        var isClosed = false
        var seenAt = ContinuousClock.now

        mutating func takeWaiting() -> CheckedContinuation<Void, Never>? {
            defer { waiting = nil }
            return waiting
        }
    }

    /// The approximate maximum size of a piece of the back channel.
    private static let frameSize = 64 * 1024
    /// How far ahead of its turn a message is held.
    private static let window = 10_000

    let id: String
    /// The client has to repeat it if it asked for it; otherwise `nil`.
    let stickiness: String?
    private let faults: StreamFaults
    private let state = Mutex(State())

    init(isSticky: Bool, faults: StreamFaults) {
        id = RandomID.make(length: 22) + "=="
        stickiness = isSticky ? RandomID.make(length: 24) : nil
        self.faults = faults
    }

    func attach(_ stream: any ChannelStream) { state.withLock { $0.stream = stream } }

    /// The time since the last request; zero while a back channel is open.
    var idleTime: Duration {
        state.withLock { $0.isChannelOpen ? .zero : $0.seenAt.duration(to: .now) }
    }

    // MARK: From the client

    /// Takes messages; known ones are dropped, and early ones are held until their turn.
    ///
    /// - Returns: Whether their numbers are near enough for that.
    @discardableResult
    func receive(_ messages: [JSON], from first: Int) -> Bool {
        let isNear = state.withLock { state in
            state.seenAt = .now
            guard first <= state.nextMessage + Self.window else { return false }
            for (index, message) in messages.enumerated() where first + index >= state.nextMessage {
                state.early[first + index] = message
            }
            return true
        }
        deliver()
        return isNear
    }

    private func deliver() {
        while true {
            let next = state.withLock { state -> (JSON, any ChannelStream)? in
                // Only one task delivers at a time, and also takes messages that arrive meanwhile.
                guard !state.isDelivering, !state.isClosed, let stream = state.stream,
                    let message = state.early.removeValue(forKey: state.nextMessage)
                else { return nil }
                state.isDelivering = true
                state.nextMessage += 1
                return (message, stream)
            }
            guard let (message, stream) = next else { return }
            stream.receive(message)
            state.withLock { $0.isDelivering = false }
        }
    }

    /// The answer to a forward request: whether there is a back channel, the last number, and the bytes in flight.
    var status: JSON {
        state.withLock { state in
            guard state.isChannelOpen else { return [0, .integer(Int64(state.nextArray - 1)), 0] }
            let bytes = state.arrays.reduce(0) { $0 + $1.payload.count }
            return [1, .integer(Int64(state.nextArray - 1)), .integer(Int64(bytes))]
        }
    }

    // MARK: To the client

    func send(_ payloads: [JSON]) {
        let encoded = payloads.map { $0.bytes() }
        let waiting = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard !state.isClosed else { return nil }
            for payload in encoded {
                state.arrays.append((state.nextArray, payload))
                state.nextArray += 1
            }
            return state.takeWaiting()
        }
        waiting?.resume()
    }

    /// Opens a back channel, which ends the previous one; messages after `acknowledged` are sent again.
    ///
    /// - Returns: Its number, for ``nextFrame(of:)``.
    func openChannel(acknowledged: Int, greets: Bool) -> Int {
        let (number, former) = state.withLock { state in
            state.seenAt = .now
            state.channel += 1
            state.isChannelOpen = true
            state.arrays.removeAll { $0.id <= acknowledged }
            state.sent = acknowledged
            return (state.channel, state.takeWaiting())
        }
        former?.resume()
        // The first bytes show the client that no proxy is buffering.
        if greets { send([["noop"]]) }
        return number
    }

    func closeChannel(_ number: Int) {
        state.withLock { state in
            guard state.channel == number else { return }
            state.isChannelOpen = false
            state.seenAt = .now
        }
    }

    /// The next piece for this back channel, waiting until there is one; `nil` when the channel has ended.
    func nextFrame(of channel: Int) async -> [UInt8]? {
        while !Task.isCancelled {
            let (frame, isOver) = state.withLock { state -> ([(id: Int, payload: [UInt8])], Bool) in
                guard state.channel == channel, !state.isClosed || state.arrays.contains(where: { $0.id > state.sent })
                else { return ([], true) }
                var size = 0
                let frame = state.arrays.drop { $0.id <= state.sent }.prefix { array in
                    defer { size += array.payload.count }
                    return size < ChannelSession.frameSize
                }
                if let last = frame.last { state.sent = last.id }
                return (Array(frame), false)
            }
            if isOver { return nil }
            if !frame.isEmpty { return encode(frame) }
            await waitForMore(channel)
        }
        return nil
    }

    private func waitForMore(_ channel: Int) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let passes = state.withLock { state in
                    if Task.isCancelled || state.channel != channel || state.isClosed
                        || (state.arrays.last?.id ?? 0) > state.sent
                    {
                        return true
                    }
                    state.waiting = continuation
                    return false
                }
                if passes { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.channel == channel ? $0.takeWaiting() : nil }?.resume()
        }
    }

    private func encode(_ arrays: [(id: Int, payload: [UInt8])]) -> [UInt8] {
        let (duplicates, reorders) = faults.nextFrameFaults(isReorderable: arrays.count > 1)
        var arrays = arrays
        if duplicates { arrays += arrays }
        if reorders { arrays.reverse() }
        var text: [UInt8] = [UInt8(ascii: "[")]
        for (index, array) in arrays.enumerated() {
            if index > 0 { text.append(UInt8(ascii: ",")) }
            text += "[\(array.id),".utf8
            text += array.payload
            text.append(UInt8(ascii: "]"))
        }
        text.append(UInt8(ascii: "]"))
        return ChannelFrame.encode(text)
    }

    // MARK: The end

    /// Ends the session; queued messages are still sent on an open back channel.
    func close() {
        let (stream, waiting) = state.withLock { state in
            defer { state.stream = nil }
            state.isClosed = true
            return (state.stream, state.takeWaiting())
        }
        waiting?.resume()
        stream?.end()
    }

    var isClosed: Bool { state.withLock { $0.isClosed } }
}

/// A piece of a back channel: its length in UTF-16 units, a line break, and the text.
enum ChannelFrame {
    static func encode(_ text: [UInt8]) -> [UInt8] {
        let units = text.reduce(0) { count, byte in
            // Each sequence has one byte that is not a continuation; the longest sequences are two units.
            count + (byte & 0xC0 == 0x80 ? 0 : byte >= 0xF0 ? 2 : 1)
        }
        return Array("\(units)\n".utf8) + text
    }
}

/// The sessions of a server. A session without requests for a while is removed, as with the vendor.
final class ChannelTable: Sendable {
    static let patience = Duration.seconds(120)

    private let sessions = Mutex<[String: ChannelSession]>([:])

    func add(_ session: ChannelSession) {
        let forgotten = sessions.withLock { sessions in
            let forgotten = sessions.values.filter { $0.isClosed || $0.idleTime > ChannelTable.patience }
            for session in forgotten { sessions[session.id] = nil }
            sessions[session.id] = session
            return forgotten
        }
        for session in forgotten { session.close() }
    }

    subscript(id: String) -> ChannelSession? { sessions.withLock { $0[id] } }

    func remove(_ session: ChannelSession) {
        sessions.withLock { $0[session.id] = nil }
        session.close()
    }

    func closeAll() {
        let all = sessions.withLock { sessions in
            defer { sessions = [:] }
            return sessions.values
        }
        for session in all { session.close() }
    }

    var count: Int { sessions.withLock { $0.count } }
}
