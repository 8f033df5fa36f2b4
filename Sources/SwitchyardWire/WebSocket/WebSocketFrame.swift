/// The kind of a frame.
package enum WebSocketOpcode: UInt8, Sendable {
    case continuation = 0
    case text = 1
    case binary = 2
    case close = 8
    case ping = 9
    case pong = 10

    var isControl: Bool { rawValue >= 8 }
}

/// A frame's header, read from at most fourteen bytes.
struct WebSocketFrameHeader {
    static let maximumSize = 14
    static let controlPayloadLimit = 125

    let isFinal: Bool
    let opcode: WebSocketOpcode
    let length: Int
    let mask: WebSocketMask?

    /// The size of a header with this second byte.
    static func size(_ second: UInt8) -> Int {
        let extended =
            switch second & 0x7F {
            case 126: 2
            case 127: 8
            default: 0
            }
        return 2 + extended + (second & 0x80 == 0 ? 0 : 4)
    }

    /// Validates a header's first byte, to refuse it before the second one arrives.
    static func check(first: UInt8) throws(WebSocketViolation) -> WebSocketOpcode {
        guard first & 0x70 == 0 else { throw .reservedBits }
        guard let opcode = WebSocketOpcode(rawValue: first & 0x0F) else { throw .reservedOpcode }
        guard !opcode.isControl || first & 0x80 != 0 else { throw .fragmentedControlFrame }
        return opcode
    }

    static func check(second: UInt8, of opcode: WebSocketOpcode, from role: WebSocketRole) throws(WebSocketViolation) {
        switch (role, second & 0x80 != 0) {
        case (.server, true): throw .maskedByServer
        case (.client, false): throw .unmaskedByClient
        default: break
        }
        guard !opcode.isControl || Int(second & 0x7F) <= controlPayloadLimit else { throw .longControlFrame }
    }

    /// Reads a complete header; `bytes` must have at least its `size`.
    init(_ bytes: UnsafeRawBufferPointer, opcode: WebSocketOpcode) throws(WebSocketViolation) {
        isFinal = bytes[0] & 0x80 != 0
        self.opcode = opcode
        var index = 2
        switch bytes[1] & 0x7F {
        case 126:
            length = Int(UInt16(bigEndian: bytes.loadUnaligned(fromByteOffset: 2, as: UInt16.self)))
            guard length > 125 else { throw .lengthNotMinimal }
            index = 4
        case 127:
            let wide = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 2, as: UInt64.self))
            guard wide > 0xFFFF else { throw .lengthNotMinimal }
            guard let length = Int(exactly: wide) else { throw .lengthOutOfRange }
            self.length = length
            index = 10
        case let short:
            length = Int(short)
        }
        mask =
            bytes[1] & 0x80 == 0
            ? nil
            : WebSocketMask(UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt32.self)))
    }
}
