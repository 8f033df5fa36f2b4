import SwitchyardTestSupport
import SwitchyardWire
import Testing

/// One case of the public Autobahn catalogue for a client that echoes every message: what the server sends, and what
/// the client has to do. Numbers are the catalogue's, so that results can be compared with those of other clients.
struct CatalogueCase: Sendable, CustomTestStringConvertible {
    enum Reply: Sendable, Hashable {
        case echo(WebSocketMessage)
        case pong([UInt8])
    }

    enum Outcome: Sendable, Hashable {
        /// The server closes in order when it has got all replies.
        case normal
        /// The server closes like this, in the middle of what it sends, and gets a close frame with the same code.
        case closed(WebSocketClose)
        /// The client fails the connection with this violation.
        case failed(WebSocketViolation)
    }

    let number: String
    /// What the server writes, each piece by itself.
    let writes: [[UInt8]]
    /// What the client answers, in order. A failure may come before the last echoes have left.
    let replies: [Reply]
    let outcome: Outcome
    /// Outgoing fragments of the client.
    var fragmentSize: Int?

    var testDescription: String { number }

    init(_ number: String, _ writes: [[UInt8]], _ replies: [Reply], _ outcome: Outcome = .normal) {
        self.number = number
        self.writes = writes
        self.replies = replies
        self.outcome = outcome
    }

    /// The same bytes, one by one.
    func inOctets(_ number: String) -> CatalogueCase {
        CatalogueCase(number, writes.flatMap { $0.map { [$0] } }, replies, outcome)
    }

    /// The same bytes in pieces of this size, or in one piece.
    func inPieces(_ number: String, of size: Int = .max) -> CatalogueCase {
        var all: [UInt8] = []
        for bytes in writes { all += bytes }
        let pieces = stride(from: 0, to: all.count, by: size).map { Array(all[$0..<min($0 + size, all.count)]) }
        return CatalogueCase(number, size == .max ? [all] : pieces, replies, outcome)
    }

    var messages: [WebSocketMessage] {
        replies.compactMap { if case .echo(let message) = $0 { message } else { nil } }
    }

    static let all = framing + pings + reserved + fragments + text + closing
    static let large = limits
}

/// A frame as a server sends it, right or wrong.
func frame(_ opcode: UInt8, _ payload: [UInt8] = [], final isFinal: Bool = true, reserved: UInt8 = 0) -> [UInt8] {
    var bytes = [(isFinal ? 0x80 : 0) | reserved << 4 | opcode]
    switch payload.count {
    case ...125: bytes.append(UInt8(payload.count))
    case ...0xFFFF: bytes += [126, UInt8(payload.count >> 8), UInt8(payload.count & 0xFF)]
    default:
        bytes.append(127)
        bytes += stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: payload.count >> $0) }
    }
    return bytes + payload
}

func frame(_ opcode: UInt8, _ text: String, final isFinal: Bool = true, reserved: UInt8 = 0) -> [UInt8] {
    frame(opcode, Array(text.utf8), final: isFinal, reserved: reserved)
}

/// A close frame with any code.
func closeFrame(_ code: UInt16, _ reason: [UInt8] = []) -> [UInt8] {
    frame(8, [UInt8(code >> 8), UInt8(code & 0xFF)] + reason)
}
