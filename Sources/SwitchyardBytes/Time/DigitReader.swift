/// Reads the fixed-width parts of a date. The buffer is borrowed during one parse.
struct DigitReader {
    private let bytes: UnsafeBufferPointer<UInt8>
    private var position = 0

    init(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

    var isAtEnd: Bool { position == bytes.count }

    /// Exactly `count` digits.
    @inline(__always)
    mutating func number(_ count: Int) -> Int? {
        guard position + count <= bytes.count else { return nil }
        var value = 0
        for index in position..<(position + count) {
            let digit = bytes[index] &- UInt8(ascii: "0")
            guard digit < 10 else { return nil }
            value = value * 10 + Int(digit)
        }
        position += count
        return value
    }

    @inline(__always)
    mutating func skip(_ text: StaticString) -> Bool {
        guard position + text.utf8CodeUnitCount <= bytes.count else { return false }
        for index in 0..<text.utf8CodeUnitCount where bytes[position + index] != text.utf8Start[index] { return false }
        position += text.utf8CodeUnitCount
        return true
    }

    /// One or more digits as a fraction, in billionths.
    mutating func fraction() -> Int32? {
        let start = position
        var value: Int32 = 0
        while position < bytes.count {
            let digit = bytes[position] &- UInt8(ascii: "0")
            guard digit < 10 else { break }
            if position - start < 9 { value = value * 10 + Int32(digit) }
            position += 1
        }
        guard position > start else { return nil }
        for _ in 0..<max(0, 9 - (position - start)) { value *= 10 }
        return value
    }

    /// `Z` or `±hh:mm`, as seconds east of Greenwich.
    mutating func offset() -> Int? {
        if skip("Z") || skip("z") { return 0 }
        let sign = skip("+") ? 1 : skip("-") ? -1 : 0
        guard sign != 0, let hours = number(2), hours < 24, skip(":"), let minutes = number(2), minutes < 60 else {
            return nil
        }
        return sign * (hours * 3600 + minutes * 60)
    }
}
