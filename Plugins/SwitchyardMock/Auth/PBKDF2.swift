import SwitchyardBytes

/// Derives a key from a password slowly, as in RFC 8018, with HMAC-SHA-256.
enum PBKDF2 {
    static func key(_ password: [UInt8], salt: [UInt8], rounds: Int, length: Int) -> [UInt8] {
        let keyed = HMACSHA256(key: password)
        func code(_ bytes: [UInt8]) -> [UInt8] {
            var hmac = keyed
            hmac.update(bytes)
            return hmac.code()
        }
        var key: [UInt8] = []
        var number: UInt32 = 0
        while key.count < length {
            number += 1
            var last = code(salt + (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) })
            var block = last
            for _ in 0..<max(0, rounds - 1) {
                last = code(last)
                for index in block.indices { block[index] ^= last[index] }
            }
            key += block
        }
        return Array(key.prefix(length))
    }
}
