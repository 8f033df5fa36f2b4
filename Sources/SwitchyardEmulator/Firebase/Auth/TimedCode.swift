import SwitchyardBytes

/// The codes of authenticator apps (RFC 6238): six digits, a new one every thirty seconds.
enum TimedCode {
    static let period: Int64 = 30

    /// The time step whose code this is; the clocks of person and server may be one step apart.
    static func step(of code: String, key: [UInt8], at seconds: Int64) -> Int64? {
        let now = seconds / period
        return (now - 1...now + 1).first { TimedCode.code(key: key, step: $0) == code }
    }

    static func code(key: [UInt8], step: Int64) -> String {
        let message = (0..<8).reversed().map { UInt8(truncatingIfNeeded: step >> ($0 * 8)) }
        let digest = code(for: message, key: key)
        let offset = Int(digest[19] & 15)
        let word = digest[offset..<offset + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) } & 0x7FFF_FFFF
        let digits = String(word % 1_000_000)
        return String(repeating: "0", count: 6 - digits.count) + digits
    }

    /// HMAC-SHA-1 (RFC 2104), which authenticator apps insist on.
    private static func code(for message: [UInt8], key: [UInt8]) -> [UInt8] {
        var block = key.count > 64 ? BlockHash<SHA1Function>.digest(of: key) : key
        block += [UInt8](repeating: 0, count: 64 - block.count)
        let inner = BlockHash<SHA1Function>.digest(of: block.map { $0 ^ 0x36 } + message)
        return BlockHash<SHA1Function>.digest(of: block.map { $0 ^ 0x5C } + inner)
    }

    static func base32(_ bytes: [UInt8]) -> String {
        let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".utf8)
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
}
