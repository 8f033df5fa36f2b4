/// Eight bytes examined together.
///
/// Each test marks a matching byte in its highest bit. The subtraction may also mark bytes *above* a match, never below
/// one, so the lowest mark is exact.
struct ByteWord {
    private let bits: UInt64
    private static let ones: UInt64 = 0x0101_0101_0101_0101
    private static let high: UInt64 = 0x8080_8080_8080_8080

    /// `pointer` must have eight readable bytes.
    @inline(__always)
    init(loading pointer: UnsafePointer<UInt8>) {
        bits = UInt64(littleEndian: UnsafeRawPointer(pointer).loadUnaligned(as: UInt64.self))
    }

    /// The number of bytes before the first `"`, `\` or control character; 8 if there is none.
    @inline(__always)
    var firstQuoteBackslashOrControl: Int {
        let quote = bits ^ (Self.ones &* 0x22)
        let backslash = bits ^ (Self.ones &* 0x5C)
        let marks =
            ((quote &- Self.ones) & ~quote)
            | ((backslash &- Self.ones) & ~backslash)
            | ((bits &- (Self.ones &* 0x20)) & ~bits)
        return (marks & Self.high).trailingZeroBitCount >> 3
    }

    /// Whether the first `count` bytes are ASCII.
    @inline(__always)
    func isASCII(upTo count: Int) -> Bool {
        let mask = count < 8 ? (1 << UInt64(count * 8)) &- 1 : UInt64.max
        return bits & Self.high & mask == 0
    }
}
