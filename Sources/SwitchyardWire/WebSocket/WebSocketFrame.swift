#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Android)
    import Android
#endif

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

/// A masking key: four bytes, with the first as the lowest byte of `value`.
package struct WebSocketMask: Sendable, Hashable {
    package let value: UInt32

    package init(_ value: UInt32) { self.value = value }

    /// Masks or unmasks `bytes` in place, eight at a time.
    ///
    /// - Parameter offset: The number of bytes before these in the same frame.
    package func apply(to bytes: UnsafeMutableRawBufferPointer, offset: Int = 0) {
        // The key, rotated so that its lowest byte applies to the first of `bytes`.
        let turn = UInt32(truncatingIfNeeded: offset & 3) &* 8
        let key = turn == 0 ? value : value &>> turn | value &<< (32 &- turn)
        let wide = (UInt64(key) | UInt64(key) << 32).littleEndian
        guard let base = bytes.baseAddress else { return }
        let count = bytes.count
        var index = 0
        while index &+ 8 <= count {
            let word = base.loadUnaligned(fromByteOffset: index, as: UInt64.self)
            base.storeBytes(of: word ^ wide, toByteOffset: index, as: UInt64.self)
            index &+= 8
        }
        while index < count {
            let byte = UInt8(truncatingIfNeeded: key &>> (UInt32(truncatingIfNeeded: index & 3) &* 8))
            bytes[index] ^= byte
            index &+= 1
        }
    }
}

/// The source of masking keys: the system's entropy, fetched for many frames at once, or a fixed key in tests.
///
/// Keys must not be predictable for the author of the payload, who could otherwise make the bytes on the wire look like a
/// request to a proxy that misreads them. So a cheap generator is not an option.
package struct WebSocketMaskSource: Sendable {
    private let fixed: WebSocketMask?
    private var pool: [UInt32] = []

    package static var system: Self { Self(fixed: nil) }

    /// The same key for every frame, for tests that compare bytes.
    package static func fixed(_ value: UInt32) -> Self { Self(fixed: WebSocketMask(value)) }

    private init(fixed: WebSocketMask?) { self.fixed = fixed }

    package mutating func next() -> WebSocketMask {
        if let fixed { return fixed }
        if pool.isEmpty { refill() }
        return WebSocketMask(pool.removeLast())
    }

    private mutating func refill() {
        pool = [UInt32](repeating: 0, count: 64)  // 256 bytes: what one call gives at most
        let isFilled = pool.withUnsafeMutableBytes { getentropy($0.baseAddress!, $0.count) == 0 }
        if isFilled { return }
        var generator = SystemRandomNumberGenerator()
        for index in pool.indices { pool[index] = generator.next() }
    }
}

extension WebSocketClose {
    package static let protocolError = WebSocketClose(code: 1002)
    package static let unsupportedData = WebSocketClose(code: 1003)
    package static let invalidPayload = WebSocketClose(code: 1007)
    package static let policyViolation = WebSocketClose(code: 1008)
    package static let messageTooBig = WebSocketClose(code: 1009)
    package static let internalError = WebSocketClose(code: 1011)

    /// Represents a close frame without a code; never sent.
    package static let noCode = WebSocketClose(code: 1005)

    /// Whether the code may be sent: the codes defined by the protocol and its registry, and the ranges for libraries (3000)
    /// and applications (4000). The codes that only represent "none" or "cut off" may not.
    package var mayBeSent: Bool {
        switch code {
        case 1000...1003, 1007...1014, 3000...4999: true
        default: false
        }
    }
}
