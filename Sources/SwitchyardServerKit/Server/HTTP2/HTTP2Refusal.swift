import SwitchyardWire

/// Answers the calls of clients that speak gRPC over HTTP/2, in clear text and without asking first: each call is said to be
/// unimplemented, with a message for the developer. Otherwise such clients wait until their deadline.
struct HTTP2Refusal {
    /// The frames in use here, by their numbers.
    private enum Kind {
        static let data: UInt8 = 0
        static let headers: UInt8 = 1
        static let settings: UInt8 = 4
        static let ping: UInt8 = 6
        static let goAway: UInt8 = 7
        static let windowUpdate: UInt8 = 8
        static let continuation: UInt8 = 9
    }

    private enum Flag {
        static let isAnswer: UInt8 = 1
        static let endsStream: UInt8 = 1
        static let endsHeaders: UInt8 = 4
    }

    private static let headSize = 9
    private static let largestFrame = 16384
    /// The opening of a connection, after what looks like the head of a request.
    private static let opening = Array("SM\r\n\r\n".utf8)

    private let fields: [UInt8]
    private var hasOpened = false
    private var input: [UInt8] = []
    /// Streams count upwards, and each is answered once.
    private var lastAnswered: UInt32 = 0
    /// Whether the client broke the protocol; nothing more is read.
    private(set) var isOver = false

    init(message: String) { fields = Self.fields(message) }

    /// Reads what has come, and returns what to send.
    mutating func receive(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
        guard !isOver else { return [] }
        input.append(contentsOf: bytes)
        var output: [UInt8] = []
        if !hasOpened {
            guard input.count >= Self.opening.count else { return [] }
            guard input.starts(with: Self.opening) else { return end(with: []) }
            input.removeFirst(Self.opening.count)
            hasOpened = true
            output += Self.frame(Kind.settings)
        }
        var start = 0
        while input.count - start >= Self.headSize {
            let length = Int(input[start]) << 16 | Int(input[start + 1]) << 8 | Int(input[start + 2])
            guard length <= Self.largestFrame else { return end(with: output) }
            let next = start + Self.headSize + length
            guard input.count >= next else { break }
            output += answer(input[start..<next])
            start = next
        }
        input.removeFirst(start)
        return output
    }

    private mutating func end(with output: [UInt8]) -> [UInt8] {
        isOver = true
        input = []
        let frameSizeError: [UInt8] = [0, 0, 0, 6]
        return output + Self.frame(Kind.goAway, Self.bytes(lastAnswered) + frameSizeError)
    }

    private mutating func answer(_ frame: ArraySlice<UInt8>) -> [UInt8] {
        let head = Array(frame.prefix(Self.headSize))
        let (kind, flags) = (head[3], head[4])
        let stream = head[5...].reduce(UInt32(0)) { $0 << 8 | UInt32($1) } & 0x7FFF_FFFF
        let payload = frame.dropFirst(Self.headSize)
        switch kind {
        case Kind.settings where flags & Flag.isAnswer == 0:
            return Self.frame(Kind.settings, flags: Flag.isAnswer)
        case Kind.ping where flags & Flag.isAnswer == 0:
            return Self.frame(Kind.ping, flags: Flag.isAnswer, Array(payload))
        case Kind.data where !payload.isEmpty:
            // What later calls send must not wait for room on the connection.
            return Self.frame(Kind.windowUpdate, Self.bytes(UInt32(payload.count)))
        case Kind.headers, Kind.continuation:
            guard flags & Flag.endsHeaders != 0, stream > lastAnswered else { return [] }
            lastAnswered = stream
            return Self.frame(Kind.headers, flags: Flag.endsStream | Flag.endsHeaders, stream: stream, fields)
        default: return []
        }
    }

    private static func frame(
        _ kind: UInt8, flags: UInt8 = 0, stream: UInt32 = 0, _ payload: [UInt8] = []
    ) -> [UInt8] {
        bytes(UInt32(payload.count)).dropFirst() + [kind, flags] + bytes(stream) + payload
    }

    private static func bytes(_ number: UInt32) -> [UInt8] { withUnsafeBytes(of: number.bigEndian) { Array($0) } }

    /// An answer that is over with its head, as gRPC has it for calls that fail at once.
    private static func fields(_ message: String) -> [UInt8] {
        let status: UInt8 = 0x88  // “:status: 200” of the table that both sides know
        let unimplemented = "12"
        return [status]
            + [
                ("content-type", "application/grpc"), ("grpc-status", unimplemented),
                ("grpc-message", percentEncoded(message)),
            ].flatMap { [0] + text($0.0) + text($0.1) }  // 0: neither side keeps it
    }

    /// A text without compression, after its length.
    private static func text(_ text: String) -> [UInt8] {
        let bytes = Array(text.utf8)
        var length: [UInt8] = []
        if bytes.count < 127 {
            length = [UInt8(bytes.count)]
        } else {
            var rest = bytes.count - 127
            length = [127]
            while rest >= 128 {
                length.append(UInt8(rest % 128 + 128))
                rest /= 128
            }
            length.append(UInt8(rest))
        }
        return length + bytes
    }

    private static func percentEncoded(_ text: String) -> String {
        var result = ""
        for byte in text.utf8 {
            if (0x20...0x7E).contains(byte), byte != UInt8(ascii: "%") {
                result.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                let digits = String(byte, radix: 16, uppercase: true)
                result += digits.count == 1 ? "%0\(digits)" : "%\(digits)"
            }
        }
        return result
    }
}

/// Sends the answers of ``HTTP2Refusal`` on its connection; everything here runs on the loop thread.
final class HTTP2RefusalSession: RawConnectionHandler, @unchecked Sendable {
    // `@unchecked Sendable`: only the loop thread calls it.
    private static let waitingLimit = 64 * 1024

    private var refusal: HTTP2Refusal
    private var waiting: [UInt8] = []

    init(message: String) { refusal = HTTP2Refusal(message: message) }

    func connected(_ connection: any RawConnection) {}

    func received(_ bytes: UnsafeRawBufferPointer, on connection: any RawConnection) {
        waiting += refusal.receive(bytes)
        send(on: connection)
    }

    func writable(_ connection: any RawConnection) { send(on: connection) }

    func woken(_ connection: any RawConnection) {}

    func closed(_ connection: any RawConnection, error: TransportError?) {}

    private func send(on connection: any RawConnection) {
        if !waiting.isEmpty {
            let taken = waiting.withUnsafeBytes { connection.send($0) }
            waiting.removeFirst(taken)
        }
        if refusal.isOver, waiting.isEmpty { connection.close() }
        // A client that sends without reading has to wait.
        connection.setReceiving(waiting.count < Self.waitingLimit)
    }
}
