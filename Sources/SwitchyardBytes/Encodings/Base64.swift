/// Base64 according to RFC 4648, with both alphabets.
///
/// Decoding is strict: no white space, no other characters, no leftover bits that are not zero. So, apart from padding, each
/// sequence of bytes has only one accepted text.
package enum Base64 {
    package enum Alphabet: Sendable {
        case standard
        /// `-` and `_` instead of `+` and `/`.
        case url
    }

    package enum Padding: Sendable {
        case required
        case absent
        /// Accepted when decoding, and written when encoding.
        case optional
    }

    /// - Parameter padding: By default, as usual for each alphabet: written in the standard one, omitted in URLs.
    package static func encode(
        _ bytes: some Collection<UInt8>, alphabet: Alphabet = .standard, padding: Padding? = nil
    ) -> String {
        var output: [UInt8] = []
        append(bytes, to: &output, alphabet: alphabet, padding: padding)
        return String(decoding: output, as: UTF8.self)
    }

    package static func append(
        _ bytes: some Collection<UInt8>, to output: inout [UInt8], alphabet: Alphabet = .standard,
        padding: Padding? = nil
    ) {
        let isPadded = (padding ?? (alphabet == .standard ? .required : .absent)) != .absent
        let letters = alphabet == .standard ? standardLetters : urlLetters
        output.reserveCapacity(output.count + (bytes.count + 2) / 3 * 4)
        var word: UInt32 = 0
        var pending = 0
        for byte in bytes {
            word = word << 8 | UInt32(byte)
            pending += 1
            if pending == 3 {
                output.append(letters[Int(word >> 18)])
                output.append(letters[Int(word >> 12 & 63)])
                output.append(letters[Int(word >> 6 & 63)])
                output.append(letters[Int(word & 63)])
                (word, pending) = (0, 0)
            }
        }
        guard pending > 0 else { return }
        word <<= pending == 1 ? 16 : 8
        output.append(letters[Int(word >> 18)])
        output.append(letters[Int(word >> 12 & 63)])
        if pending == 2 { output.append(letters[Int(word >> 6 & 63)]) }
        if isPadded { output.append(contentsOf: repeatElement(UInt8(ascii: "="), count: 3 - pending)) }
    }

    /// The bytes of `text`, or `nil` if it is malformed.
    ///
    /// - Parameter padding: By default, required for the standard alphabet and optional for URLs.
    package static func decode(
        _ text: some Collection<UInt8>, alphabet: Alphabet = .standard, padding: Padding? = nil
    ) -> [UInt8]? {
        let padding = padding ?? (alphabet == .standard ? .required : .optional)
        let values = alphabet == .standard ? standardValues : urlValues
        // A single implementation, however the text is stored.
        return text.withContiguousStorageIfAvailable { decode($0, values, padding) }
            ?? Array(text).withUnsafeBufferPointer { decode($0, values, padding) }
    }

    private static func decode(_ text: UnsafeBufferPointer<UInt8>, _ values: [UInt8], _ padding: Padding) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count / 4 * 3 + 2)
        var word: UInt32 = 0
        var pending = 0
        var pads = 0
        for letter in text {
            if letter == UInt8(ascii: "=") {
                pads += 1
                continue
            }
            let value = values[Int(letter)]
            guard value < 64, pads == 0 else { return nil }
            word = word << 6 | UInt32(value)
            pending += 1
            if pending == 4 {
                bytes.append(UInt8(truncatingIfNeeded: word >> 16))
                bytes.append(UInt8(truncatingIfNeeded: word >> 8))
                bytes.append(UInt8(truncatingIfNeeded: word))
                (word, pending) = (0, 0)
            }
        }
        switch pending {
        case 0: break
        case 2 where word & 0x0F == 0:
            bytes.append(UInt8(truncatingIfNeeded: word >> 4))
        case 3 where word & 0x03 == 0:
            bytes.append(UInt8(truncatingIfNeeded: word >> 10))
            bytes.append(UInt8(truncatingIfNeeded: word >> 2))
        default: return nil
        }
        let due = (4 - pending) % 4
        let isPaddingRight =
            switch padding {
            case .required: pads == due
            case .absent: pads == 0
            case .optional: pads == 0 || pads == due
            }
        return isPaddingRight ? bytes : nil
    }

    package static func decode(
        _ text: some StringProtocol, alphabet: Alphabet = .standard, padding: Padding? = nil
    ) -> [UInt8]? {
        decode(text.utf8, alphabet: alphabet, padding: padding)
    }

    private static let standardLetters = letters(endingIn: "+/")
    private static let urlLetters = letters(endingIn: "-_")
    private static let standardValues = values(of: standardLetters)
    private static let urlValues = values(of: urlLetters)

    private static func letters(endingIn lastTwo: String) -> [UInt8] {
        Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789\(lastTwo)".utf8)
    }

    /// The value of each byte as a digit, or 255 for none.
    private static func values(of letters: [UInt8]) -> [UInt8] {
        var values = [UInt8](repeating: 255, count: 256)
        for (value, letter) in letters.enumerated() { values[Int(letter)] = UInt8(value) }
        return values
    }
}

/// The encoding of authenticator keys (RFC 4648, section 6), without padding.
package enum Base32 {
    private static let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".utf8)

    package static func encode(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        var word = 0
        var bits = 0
        for byte in bytes {
            word = word << 8 | Int(byte)
            bits += 8
            while bits >= 5 {
                bits -= 5
                text.append(letters[word >> bits & 31])
            }
            word &= (1 << bits) - 1
        }
        if bits > 0 { text.append(letters[word << (5 - bits) & 31]) }
        return String(decoding: text, as: UTF8.self)
    }

    /// `nil` for text with other characters.
    package static func decode(_ text: String) -> [UInt8]? {
        var bytes: [UInt8] = []
        var word = 0
        var bits = 0
        for letter in text.utf8 {
            let value: Int
            switch letter {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): value = Int(letter) - 65
            case UInt8(ascii: "2")...UInt8(ascii: "7"): value = Int(letter) - 50 + 26
            default: return nil
            }
            word = word << 5 | value
            bits += 5
            if bits >= 8 {
                bits -= 8
                bytes.append(UInt8(truncatingIfNeeded: word >> bits))
            }
            word &= (1 << bits) - 1
        }
        return bytes
    }
}

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
