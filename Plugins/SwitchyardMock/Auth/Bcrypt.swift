import SwitchyardBytes

/// The hash with which most services store passwords: `$2b$10$`, 22 characters of salt and 31 of the hash.
struct Bcrypt: Sendable {
    private let cost: Int
    private let salt: [UInt8]
    private let digest: [UInt8]

    /// - Parameter text: Begins with `2a`, `2b` or `2y`, which are equivalent except for historical bugs.
    /// - Returns: `nil` if the text is not such a hash.
    init?(_ text: String) {
        let parts = text.split(separator: "$", omittingEmptySubsequences: false)
        guard parts.count == 4, parts[0].isEmpty, ["2a", "2b", "2y"].contains(parts[1]), parts[2].utf8.count == 2,
            let cost = Int(parts[2]), (4...31).contains(cost), parts[3].utf8.count == 53,
            let salt = Self.decode(parts[3].utf8.prefix(22)), let digest = Self.decode(parts[3].utf8.dropFirst(22))
        else { return nil }
        self.cost = cost
        self.salt = salt
        self.digest = digest
    }

    func accepts(_ password: [UInt8]) -> Bool { HMACSHA256.areEqual(digest, key(password)) }

    /// Ignores all bytes of a password after the 72nd.
    private func key(_ password: [UInt8]) -> [UInt8] {
        let password = Array((password + [0]).prefix(72))
        var cipher = Blowfish()
        cipher.expand(key: password, salt: salt)
        for _ in 0..<(1 << cost) {
            cipher.expand(key: password)
            cipher.expand(key: salt)
        }
        var words = Blowfish.words(Array("OrpheanBeholderScryDoubt".utf8), count: 6)
        for pair in stride(from: 0, to: 6, by: 2) {
            for _ in 0..<64 { (words[pair], words[pair + 1]) = cipher.encrypt(words[pair], words[pair + 1]) }
        }
        let bytes = words.flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word >> (24 - 8 * $0)) } }
        // The original implementation omitted the last byte, and so do all others.
        return Array(bytes.dropLast())
    }

    /// Base64 with a different alphabet and without padding.
    private static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
        var (bytes, bits, count) = ([UInt8](), UInt32(0), 0)
        for letter in text {
            let value: UInt8
            switch letter {
            case 46, 47: value = letter - 46
            case 65...90: value = letter - 65 + 2
            case 97...122: value = letter - 97 + 28
            case 48...57: value = letter - 48 + 54
            default: return nil
            }
            bits = bits << 6 | UInt32(value)
            count += 6
            guard count >= 8 else { continue }
            count -= 8
            bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
        }
        return bytes
    }
}

/// The cipher, as far as ``Bcrypt`` needs it.
struct Blowfish {
    private var state = Blowfish.start

    /// Mixes in a key, then replaces the state by repeatedly encrypting a salt or zeros.
    mutating func expand(key: [UInt8], salt: [UInt8] = []) {
        for (index, word) in Self.words(key, count: 18).enumerated() { state[index] ^= word }
        let salt = salt.isEmpty ? [0, 0, 0, 0] : Self.words(salt, count: 4)
        state.withUnsafeMutableBufferPointer { state in
            var (left, right, place) = (UInt32(0), UInt32(0), 0)
            for index in stride(from: 0, to: state.count, by: 2) {
                left ^= salt[place]
                right ^= salt[place + 1]
                place ^= 2
                (left, right) = Self.encrypt(left, right, UnsafePointer(state.baseAddress!))
                state[index] = left
                state[index + 1] = right
            }
        }
    }

    func encrypt(_ left: UInt32, _ right: UInt32) -> (UInt32, UInt32) {
        state.withUnsafeBufferPointer { Self.encrypt(left, right, $0.baseAddress!) }
    }

    private static func encrypt(
        _ left: UInt32, _ right: UInt32, _ state: UnsafePointer<UInt32>
    ) -> (UInt32, UInt32) {
        var (left, right, round) = (left, right, 0)
        while round < 16 {
            left ^= state[round]
            let high = state[18 + Int(left >> 24)] &+ state[274 + Int((left >> 16) & 255)]
            right ^= (high ^ state[530 + Int((left >> 8) & 255)]) &+ state[786 + Int(left & 255)]
            (left, right, round) = (right, left, round + 1)
        }
        return (right ^ state[17], left ^ state[16])
    }

    /// The first `count` words of the repeated bytes.
    static func words(_ bytes: [UInt8], count: Int) -> [UInt32] {
        var place = 0
        return (0..<count).map { _ in
            var word: UInt32 = 0
            for _ in 0..<4 {
                word = word << 8 | UInt32(bytes[place])
                place = (place + 1) % bytes.count
            }
            return word
        }
    }
}
