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
