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
