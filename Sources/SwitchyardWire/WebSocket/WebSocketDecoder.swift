/// Decodes the peer's bytes, in pieces of any size, into messages and control frames.
///
/// It keeps no bytes already decoded: a payload goes directly to its message, where it is unmasked and, for text, validated at
/// once, so that invalid text is refused at its first invalid byte.
package struct WebSocketDecoder: Sendable {
    private enum Kind { case text, binary }

    package enum Event: Sendable, Hashable {
        case message(WebSocketMessage)
        case ping([UInt8])
        case pong([UInt8])
        case close(WebSocketClose)
    }

    private let sender: WebSocketRole
    private let limits: WebSocketLimits

    /// The frame in progress: an incomplete header, or a payload of which `remaining` bytes are missing.
    private var header: [UInt8] = []
    private var frame: WebSocketFrameHeader?
    private var remaining = 0
    private var control: [UInt8] = []

    /// The message in progress, over one or more frames.
    private var kind: Kind?
    private var message: [UInt8] = []
    private var validator = UTF8Validator()

    /// Whether a close frame or a violation has ended reading.
    private var isFinished = false

    /// - Parameter role: Our own role; the frames are the peer's.
    package init(role: WebSocketRole, limits: WebSocketLimits = WebSocketLimits()) {
        sender = role == .client ? .server : .client
        self.limits = limits
    }

    /// Whether a frame or a message is incomplete.
    package var isInsideMessage: Bool { frame != nil || !header.isEmpty || kind != nil }

    /// Decodes `bytes` and appends the completed events to `events`; bytes after a close frame are dropped.
    ///
    /// - Throws: The peer's violation. Earlier events are in `events`; the decoder accepts nothing more.
    package mutating func decode(
        _ bytes: UnsafeRawBufferPointer, into events: inout [Event]
    ) throws(WebSocketViolation) {
        var index = 0
        do throws(WebSocketViolation) {
            while !isFinished, index < bytes.count {
                let rest = UnsafeRawBufferPointer(rebasing: bytes[index...])
                index += frame == nil ? try readHeader(rest, into: &events) : try readPayload(rest, into: &events)
            }
        } catch {
            isFinished = true
            message = []
            throw error
        }
    }

    // MARK: Header

    /// Takes header bytes, and the frame's whole payload if that has arrived, too.
    private mutating func readHeader(
        _ bytes: UnsafeRawBufferPointer, into events: inout [Event]
    ) throws(WebSocketViolation) -> Int {
        if header.isEmpty, bytes.count >= 2 {
            let opcode = try WebSocketFrameHeader.check(first: bytes[0])
            try WebSocketFrameHeader.check(second: bytes[1], of: opcode, from: sender)
            let size = WebSocketFrameHeader.size(bytes[1])
            if bytes.count >= size {
                let frame = try WebSocketFrameHeader(bytes, opcode: opcode)
                try begin(frame)
                if !opcode.isControl, frame.isFinal, message.isEmpty, bytes.count - size >= frame.length {
                    let payload = UnsafeRawBufferPointer(rebasing: bytes[size..<size + frame.length])
                    try takeWhole(payload, mask: frame.mask, into: &events)
                    return size + frame.length
                }
                if frame.length == 0 { try endFrame(into: &events) }
                return size
            }
        }
        // The slow path, byte by byte, for a header split between two reads.
        header.append(bytes[0])
        let opcode = try WebSocketFrameHeader.check(first: header[0])
        if header.count == 1 { return 1 }
        if header.count == 2 { try WebSocketFrameHeader.check(second: header[1], of: opcode, from: sender) }
        guard header.count == WebSocketFrameHeader.size(header[1]) else { return 1 }
        let frame = try header.withUnsafeBufferPointer { bytes throws(WebSocketViolation) in
            try WebSocketFrameHeader(UnsafeRawBufferPointer(bytes), opcode: opcode)
        }
        header.removeAll(keepingCapacity: true)
        try begin(frame)
        if frame.length == 0 { try endFrame(into: &events) }
        return 1
    }

    /// Checks whether this frame may come now, and its length.
    private mutating func begin(_ frame: WebSocketFrameHeader) throws(WebSocketViolation) {
        guard frame.length <= limits.frameSize else { throw .frameTooBig }
        switch frame.opcode {
        case .continuation:
            guard kind != nil else { throw .nothingToContinue }
        case .text, .binary:
            guard kind == nil else { throw .interruptedMessage }
            kind = frame.opcode == .text ? .text : .binary
        case .close, .ping, .pong:
            break
        }
        if !frame.opcode.isControl {
            guard frame.length <= limits.messageSize - message.count else { throw .messageTooBig }
            // A header is only a claim, so a long message gets its memory as it arrives.
            if message.isEmpty, frame.length > 4096 { message.reserveCapacity(min(frame.length, 1 << 20)) }
        }
        self.frame = frame
        remaining = frame.length
    }

    // MARK: Payload

    /// Takes a message in one frame and one read, the usual case, without copying it to `message`.
    private mutating func takeWhole(
        _ payload: UnsafeRawBufferPointer, mask: WebSocketMask?, into events: inout [Event]
    ) throws(WebSocketViolation) {
        let kind = kind
        self.kind = nil
        frame = nil
        guard let mask else {
            return events.append(.message(try Self.message(kind, payload)))
        }
        var bytes = [UInt8](payload)
        bytes.withUnsafeMutableBytes { mask.apply(to: $0) }
        if kind == .binary { return events.append(.message(.binary(bytes))) }
        let text = try bytes.withUnsafeBufferPointer { bytes throws(WebSocketViolation) in
            try Self.message(kind, UnsafeRawBufferPointer(bytes))
        }
        events.append(.message(text))
    }

    private static func message(
        _ kind: Kind?, _ bytes: UnsafeRawBufferPointer
    ) throws(WebSocketViolation) -> WebSocketMessage {
        guard kind == .text else { return .binary([UInt8](bytes)) }
        guard let text = String(validating: bytes, as: UTF8.self) else { throw .invalidText }
        return .text(text)
    }

    private mutating func readPayload(
        _ bytes: UnsafeRawBufferPointer, into events: inout [Event]
    ) throws(WebSocketViolation) -> Int {
        guard let frame else { return 0 }
        let count = min(remaining, bytes.count)
        let offset = frame.length - remaining
        let piece = UnsafeRawBufferPointer(rebasing: bytes[..<count])
        if frame.opcode.isControl {
            Self.append(piece, to: &control, mask: frame.mask, offset: offset)
        } else {
            let start = message.count
            Self.append(piece, to: &message, mask: frame.mask, offset: offset)
            if kind == .text { try checkText(from: start) }
        }
        remaining -= count
        if remaining == 0 { try endFrame(into: &events) }
        return count
    }

    private static func append(
        _ piece: UnsafeRawBufferPointer, to bytes: inout [UInt8], mask: WebSocketMask?, offset: Int
    ) {
        let start = bytes.count
        bytes.append(contentsOf: piece)
        guard let mask else { return }
        bytes.withUnsafeMutableBytes {
            mask.apply(to: UnsafeMutableRawBufferPointer(rebasing: $0[start...]), offset: offset)
        }
    }

    private mutating func checkText(from start: Int) throws(WebSocketViolation) {
        let isValid = message.withUnsafeBytes { validator.accept(UnsafeRawBufferPointer(rebasing: $0[start...])) }
        if !isValid { throw .invalidText }
    }

    // MARK: End of frames and messages

    private mutating func endFrame(into events: inout [Event]) throws(WebSocketViolation) {
        guard let frame else { return }
        self.frame = nil
        guard !frame.opcode.isControl else { return try endControl(frame.opcode, into: &events) }
        guard frame.isFinal, let kind else { return }
        let bytes = message
        message = []
        self.kind = nil
        guard kind == .text else { return events.append(.message(.binary(bytes))) }
        guard validator.isComplete else { throw .invalidText }
        validator = UTF8Validator()
        events.append(.message(.text(String(decoding: bytes, as: UTF8.self))))
    }

    private mutating func endControl(
        _ opcode: WebSocketOpcode, into events: inout [Event]
    ) throws(WebSocketViolation) {
        let payload = control
        control = []
        switch opcode {
        case .ping: events.append(.ping(payload))
        case .pong: events.append(.pong(payload))
        default:
            isFinished = true
            events.append(try Self.closeEvent(payload))
        }
    }

    private static func closeEvent(_ payload: [UInt8]) throws(WebSocketViolation) -> Event {
        if payload.isEmpty { return .close(.noCode) }
        guard payload.count >= 2 else { throw .invalidClosePayload }
        var close = WebSocketClose(code: UInt16(payload[0]) << 8 | UInt16(payload[1]))
        guard close.mayBeSent else { throw .invalidCloseCode }
        var validator = UTF8Validator()
        let isText = payload.withUnsafeBytes {
            validator.accept(UnsafeRawBufferPointer(rebasing: $0[2...])) && validator.isComplete
        }
        guard isText else { throw .invalidCloseReason }
        close.reason = String(decoding: payload[2...], as: UTF8.self)
        return .close(close)
    }
}

/// Validates UTF-8 in pieces of any size, and refuses at the first invalid byte.
///
/// Overlong forms, surrogates and values above U+10FFFF are refused at their second byte, since no continuation can make them
/// valid.
package struct UTF8Validator: Sendable {
    /// The number of continuation bytes missing in the current character.
    private var due = 0
    /// The bounds of the next continuation byte; narrower than 80...BF only right after some lead bytes.
    private var low: UInt8 = 0x80
    private var high: UInt8 = 0xBF

    package init() {}

    /// Whether the bytes so far end between two characters.
    package var isComplete: Bool { due == 0 }

    /// Takes the next bytes; returns `false` if the text is invalid.
    package mutating func accept(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var index = 0
        let count = bytes.count
        while index < count {
            if due == 0 {
                // ASCII, sixteen bytes at a time.
                while index + 16 <= count {
                    let words =
                        bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)
                        | bytes.loadUnaligned(fromByteOffset: index + 8, as: UInt64.self)
                    if words & 0x8080_8080_8080_8080 != 0 { break }
                    index += 16
                }
                if index == count { break }
                let byte = bytes[index]
                index += 1
                if byte < 0x80 { continue }
                guard begin(byte) else { return false }
            } else {
                let byte = bytes[index]
                index += 1
                guard byte >= low, byte <= high else { return false }
                due -= 1
                low = 0x80
                high = 0xBF
            }
        }
        return true
    }

    private mutating func begin(_ lead: UInt8) -> Bool {
        switch lead {
        case 0xC2...0xDF: due = 1
        case 0xE0...0xEF:
            due = 2
            if lead == 0xE0 { low = 0xA0 }
            if lead == 0xED { high = 0x9F }
        case 0xF0...0xF4:
            due = 3
            if lead == 0xF0 { low = 0x90 }
            if lead == 0xF4 { high = 0x8F }
        default: return false
        }
        return true
    }
}
