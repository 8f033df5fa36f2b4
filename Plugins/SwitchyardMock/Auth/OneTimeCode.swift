import Switchyard
import SwitchyardBytes

/// The codes of authenticator apps (RFC 6238): six digits, a new one every thirty seconds.
enum OneTimeCode {
    static func code(key: [UInt8], at now: Timestamp, stepsAhead: Int64 = 0) -> Secret {
        var counter = UInt64(max(0, now.seconds / 30 + stepsAhead))
        var message = [UInt8](repeating: 0, count: 8)
        for index in (0..<8).reversed() {
            message[index] = UInt8(truncatingIfNeeded: counter)
            counter >>= 8
        }
        let digest = hmac(message, key: key)
        let offset = Int(digest[19] & 15)
        let word = digest[offset..<offset + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) } & 0x7FFF_FFFF
        let digits = String(word % 1_000_000)
        return Secret(String(repeating: "0", count: 6 - digits.count) + digits)
    }

    /// The clocks of person and server may be one step apart.
    static func accepts(_ code: Secret, key: [UInt8], at now: Timestamp) -> Bool {
        (-1...1).contains { OneTimeCode.code(key: key, at: now, stepsAhead: $0) == code }
    }

    static func base32(_ bytes: [UInt8]) -> String {
        let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")
        var text = ""
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
        return text
    }

    /// `nil` for text with other characters.
    static func bytes(base32 text: String) -> [UInt8]? {
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

    private static func hmac(_ message: [UInt8], key: [UInt8]) -> [UInt8] {
        var block = key.count > 64 ? BlockHash<SHA1Function>.digest(of: key) : key
        block += [UInt8](repeating: 0, count: 64 - block.count)
        let inner = BlockHash<SHA1Function>.digest(of: block.map { $0 ^ 0x36 } + message)
        return BlockHash<SHA1Function>.digest(of: block.map { $0 ^ 0x5C } + inner)
    }
}
