/// Appends frames to one output buffer, so that many messages are sent with one write.
package struct WebSocketEncoder: Sendable {
    private let role: WebSocketRole
    private let fragmentSize: Int?
    private var masks: WebSocketMaskSource

    package init(role: WebSocketRole, fragmentSize: Int? = nil, masks: WebSocketMaskSource = .system) {
        self.role = role
        self.fragmentSize = fragmentSize.map { max($0, 1) }
        self.masks = masks
    }

    package mutating func append(_ message: WebSocketMessage, to output: inout [UInt8]) {
        switch message {
        case .binary(let bytes):
            bytes.withUnsafeBytes { append(.binary, $0, to: &output) }
        case .text(var text):
            text.withUTF8 { append(.text, UnsafeRawBufferPointer($0), to: &output) }
        }
    }

    private mutating func append(
        _ opcode: WebSocketOpcode, _ bytes: UnsafeRawBufferPointer, to output: inout [UInt8]
    ) {
        guard let fragmentSize, bytes.count > fragmentSize else {
            return frame(opcode, isFinal: true, bytes, to: &output)
        }
        var start = 0
        while start < bytes.count {
            let end = min(start + fragmentSize, bytes.count)
            frame(
                start == 0 ? opcode : .continuation, isFinal: end == bytes.count,
                UnsafeRawBufferPointer(rebasing: bytes[start..<end]), to: &output)
            start = end
        }
    }

    /// Appends a ping or pong. A payload above 125 bytes is truncated, since control frames cannot carry more.
    package mutating func append(_ control: WebSocketOpcode, payload: [UInt8], to output: inout [UInt8]) {
        payload.withUnsafeBytes {
            frame(
                control, isFinal: true, .init(rebasing: $0.prefix(WebSocketFrameHeader.controlPayloadLimit)),
                to: &output)
        }
    }

    /// Appends a close frame. It is empty if the code may not be sent; a reason above 123 bytes is truncated between two
    /// characters.
    package mutating func append(_ close: WebSocketClose, to output: inout [UInt8]) {
        var payload: [UInt8] = []
        if close.mayBeSent {
            payload = [UInt8(close.code >> 8), UInt8(close.code & 0xFF)]
            for scalar in close.reason.unicodeScalars {
                let encoded = Array(String(scalar).utf8)
                if payload.count + encoded.count > WebSocketFrameHeader.controlPayloadLimit { break }
                payload += encoded
            }
        }
        append(.close, payload: payload, to: &output)
    }

    private mutating func frame(
        _ opcode: WebSocketOpcode, isFinal: Bool, _ payload: UnsafeRawBufferPointer, to output: inout [UInt8]
    ) {
        let maskBit: UInt8 = role == .client ? 0x80 : 0
        output.append((isFinal ? 0x80 : 0) | opcode.rawValue)
        switch payload.count {
        case ...125:
            output.append(maskBit | UInt8(payload.count))
        case ...0xFFFF:
            output.append(maskBit | 126)
            output.append(UInt8(truncatingIfNeeded: payload.count >> 8))
            output.append(UInt8(truncatingIfNeeded: payload.count))
        default:
            output.append(maskBit | 127)
            for shift in stride(from: 56, through: 0, by: -8) {
                output.append(UInt8(truncatingIfNeeded: payload.count >> shift))
            }
        }
        guard role == .client else { return output.append(contentsOf: payload) }
        let mask = masks.next()
        for shift in stride(from: 0, through: 24, by: 8) {
            output.append(UInt8(truncatingIfNeeded: mask.value >> UInt32(shift)))
        }
        let start = output.count
        output.append(contentsOf: payload)
        output.withUnsafeMutableBytes { mask.apply(to: UnsafeMutableRawBufferPointer(rebasing: $0[start...])) }
    }
}
