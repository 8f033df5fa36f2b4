/// Bytes as hexadecimal digits.
package enum Hex {
    /// Two lower-case digits per byte.
    package static func encode(_ bytes: some Sequence<UInt8>) -> String {
        var digits: [UInt8] = []
        digits.reserveCapacity(bytes.underestimatedCount * 2)
        for byte in bytes {
            digits.append(digit(byte >> 4))
            digits.append(digit(byte & 15))
        }
        return String(decoding: digits, as: UTF8.self)
    }

    /// Decodes digits in either case; `nil` for an odd number of digits or any other character.
    package static func decode(_ text: some StringProtocol) -> [UInt8]? {
        guard text.utf8.count % 2 == 0 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count / 2)
        var high: UInt8?
        for letter in text.utf8 {
            guard let digit = value(of: letter) else { return nil }
            if let first = high.take() { bytes.append(first << 4 | digit) } else { high = digit }
        }
        return bytes
    }

    @inline(__always)
    package static func value(of letter: UInt8) -> UInt8? {
        switch letter {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): letter - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): letter - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): letter - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    /// The digit for a value below sixteen.
    package static func digit(_ value: UInt8, uppercase: Bool = false) -> UInt8 {
        value < 10
            ? UInt8(ascii: "0") + value : (uppercase ? UInt8(ascii: "A") : UInt8(ascii: "a")) + value - 10
    }
}
