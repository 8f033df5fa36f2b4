#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Android)
    import Android
#endif

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
