import SwitchyardBytes
import SwitchyardFirestoreFormat

/// Splits the body of a back channel into frames: a decimal length, a line feed, and that many UTF-16 units of JSON.
///
/// Lengths count UTF-16 units while the network splits bytes anywhere, so bytes are decoded only when a frame is complete.
struct WebChannelFrameDecoder {
    /// Larger than any frame that a server sends; a larger length is invalid.
    static let maximumLength = 256 << 20

    private var buffer: [UInt8] = []
    /// The start of the first frame in the buffer, and the progress of its scan.
    private var position = 0
    private var length: Int?
    private var units = 0

    /// Whether the body so far ends inside a frame.
    var isInsideFrame: Bool { length != nil || position < buffer.count }

    struct Malformed: Error {}

    /// Appends bytes and returns the frames that they complete, as JSON text.
    mutating func append(_ bytes: [UInt8]) throws(Malformed) -> [[UInt8]] {
        buffer += bytes
        var frames: [[UInt8]] = []
        while let frame = try next() { frames.append(frame) }
        return frames
    }

    private mutating func next() throws(Malformed) -> [UInt8]? {
        if length == nil {
            guard let lineEnd = buffer[position...].firstIndex(of: UInt8(ascii: "\n")) else {
                guard buffer.count - position <= 10 else { throw Malformed() }
                return nil
            }
            let digits = buffer[position..<lineEnd]
            guard !digits.isEmpty, digits.count <= 10, digits.allSatisfy({ (48...57).contains($0) }) else {
                throw Malformed()
            }
            let number = digits.reduce(0) { $0 * 10 + Int($1 - 48) }
            guard number <= WebChannelFrameDecoder.maximumLength else { throw Malformed() }
            buffer.removeFirst(lineEnd + 1)
            (position, units, length) = (0, 0, number)
        }
        guard let length else { return nil }
        while units < length {
            guard position < buffer.count else { return nil }
            let lead = buffer[position]
            let (size, width) = WebChannelFrameDecoder.sequence(lead)
            guard size > 0 else { throw Malformed() }
            guard position + size <= buffer.count else { return nil }
            position += size
            units += width
        }
        guard units == length else { throw Malformed() }
        let frame = Array(buffer[..<position])
        buffer.removeFirst(position)
        (position, units, self.length) = (0, 0, nil)
        return frame
    }

    /// The number of bytes and UTF-16 units of the character that begins with `lead`.
    private static func sequence(_ lead: UInt8) -> (bytes: Int, units: Int) {
        switch lead {
        case 0x00..<0x80: (1, 1)
        case 0xC2..<0xE0: (2, 1)
        case 0xE0..<0xF0: (3, 1)
        case 0xF0..<0xF5: (4, 2)
        default: (0, 0)
        }
    }
}

/// Why a channel has ended.
enum WebChannelClose: Error, Equatable {
    /// The server ended the stream regularly.
    case byServer
    /// This client ended it.
    case byClient
    /// The server answered with an error of the service.
    case failure(FirestoreFailure)
    /// The server no longer knows the session: open a new one.
    case sessionGone
    /// The channel itself failed, and quick retries did not help.
    case broken(String)

    /// The failure for the streams above, in the service's terms.
    var asFailure: FirestoreFailure {
        switch self {
        case .failure(let failure): failure
        case .byServer, .byClient: FirestoreFailure(.unavailable, "The server closed the stream.")
        case .sessionGone: FirestoreFailure(.unavailable, "The server no longer knows the stream.")
        case .broken(let reason): FirestoreFailure(.unavailable, "The stream broke down: \(reason).")
        }
    }
}

/// The input and output of a channel's machine.
extension WebChannelMachine {
    enum Event {
        /// A message for the server, as JSON text.
        case send([UInt8])
        case handshakeAnswered(status: Int, stickySession: String?, body: [UInt8])
        case handshakeFailed(String)
        case forwardAnswered(status: Int, body: [UInt8])
        case forwardFailed(String)
        /// A POST was not answered within the deadline.
        case forwardUnanswered
        case backChannelOpened(status: Int)
        case backChannelBytes([UInt8])
        /// The GET ended regularly.
        case backChannelEnded
        case backChannelFailed(String)
        case timer(Timer)
        case terminate
    }

    enum Action: Equatable {
        case handshake(query: [Parameter], body: [UInt8])
        case forward(query: [Parameter], body: [UInt8])
        case openBackChannel(query: [Parameter])
        case cancelBackChannel
        /// Best effort; nothing waits for it.
        case terminate(query: [Parameter])
        case deliver(JSON)
        case schedule(Timer, after: Duration)
        case cancel(Timer)
        /// The last action of a session.
        case close(WebChannelClose)
    }

    struct Parameter: Equatable {
        let name: String
        let value: String
        init(_ name: String, _ value: String) { (self.name, self.value) = (name, value) }
    }

    enum Timer: Hashable {
        /// Nothing has arrived on the back channel for too long: it may have died silently.
        case silence
        /// The back channel is old enough that the server must know it.
        case settling
        /// The server has sent more than has arrived.
        case overdue
        case retryForward
        case retryBackChannel
    }
}
