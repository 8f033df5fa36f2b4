/// Converts number literals to values.
extension JSONNumberToken {
    /// The exact integer, if the literal is one that fits. `-0` is not, since only a `Double` keeps its sign.
    @inline(__always)
    var int64: Int64? {
        guard isInteger, let mantissa else { return nil }
        if isNegative {
            return mantissa == 0 ? nil : Int64(exactly: mantissa).map { -$0 } ?? Self.minimum(mantissa)
        }
        return Int64(exactly: mantissa)
    }

    private static func minimum(_ mantissa: UInt64) -> Int64? {
        mantissa == Int64.min.magnitude ? Int64.min : nil
    }

    /// The exact integer, also for literals like `1.0` and `1e3`, if the type can represent it.
    @inline(__always)
    func integer<T: FixedWidthInteger>(as type: T.Type) -> T? {
        guard isInteger else { return double.flatMap(T.init(exactly:)) }
        guard let mantissa else { return T(String(decoding: bytes, as: UTF8.self)) }
        guard isNegative else { return T(exactly: mantissa) }
        return mantissa == 0 ? 0 : T(exactly: -Int128(mantissa))
    }

    /// The nearest `Double`; `nil` if the number is too large.
    @inline(__always)
    var double: Double? {
        // Both factors are exact here, so the single operation rounds once, correctly.
        if let mantissa, mantissa < 1 << 53, abs(exponent) <= 22 {
            let power = Self.exactPowers[abs(exponent)]
            let magnitude = exponent < 0 ? Double(mantissa) / power : Double(mantissa) * power
            return isNegative ? -magnitude : magnitude
        }
        return slowDouble
    }

    private var slowDouble: Double? {
        guard let value = Double(String(decoding: bytes, as: UTF8.self)), value.isFinite else {
            return nil
        }
        return value
    }

    private static let exactPowers: [Double] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
        1e17, 1e18, 1e19,
        1e20, 1e21, 1e22,
    ]
}

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
