/// Unique identifiers.
package enum RandomID {
    /// Letters and digits, twenty by default (119 bits), like document IDs.
    package static func make(length: Int = 20) -> String {
        var generator = SystemRandomNumberGenerator()
        return make(length: length, using: &generator)
    }

    package static func make(length: Int = 20, using generator: inout some RandomNumberGenerator) -> String {
        String(unsafeUninitializedCapacity: length) { text in
            // Ten letters per random number, since each one is a system call.
            var bits: UInt64 = 0
            var bitsLeft = 0
            var count = 0
            while count < length {
                if bitsLeft < 6 { (bits, bitsLeft) = (generator.next(), 64) }
                let letter = Int(bits & 63)
                (bits, bitsLeft) = (bits >> 6, bitsLeft - 6)
                guard letter < letters.count else { continue }
                text[count] = letters[letter]
                count += 1
            }
            return length
        }
    }

    /// A version 4 UUID in lower case.
    package static func uuid() -> String {
        var generator = SystemRandomNumberGenerator()
        return uuid(using: &generator)
    }

    package static func uuid(using generator: inout some RandomNumberGenerator) -> String {
        let high = UInt64.random(in: 0...UInt64.max, using: &generator) & ~0xF000 | 0x4000
        let low = UInt64.random(in: 0...UInt64.max, using: &generator) & ~(0b11 << 62) | 0b10 << 62
        var digits = Hex.encode([high, low].flatMap { word in withUnsafeBytes(of: word.bigEndian) { Array($0) } })
        for place in [20, 16, 12, 8] {
            digits.insert("-", at: digits.utf8.index(digits.startIndex, offsetBy: place))
        }
        return digits
    }

    private static let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)
}
