package import SwitchyardBytes

/// A private key for signing with RS256. Only for tokens of servers on this machine, since its timing is not constant.
package struct RSAPrivateKey: Codable, Sendable {
    private let p: [UInt8]
    private let q: [UInt8]
    package let publicKey: RSAPublicKey

    private static let exponent: UInt64 = 65_537
    private static let primeBits = 1024

    /// Creates a key of 2048 bits.
    package init() {
        let first = Self.prime()
        var second = Self.prime()
        while second == first { second = Self.prime() }
        let (p, q) = second < first ? (first, second) : (second, first)
        self.init(p: p.bytes(Self.primeBits / 8), q: q.bytes(Self.primeBits / 8))
    }

    /// - Parameter p: The larger prime.
    package init(p: [UInt8], q: [UInt8]) {
        (self.p, self.q) = (p, q)
        let modulus = Magnitude(bytes: p).multiplied(by: Magnitude(bytes: q)).bytes(2 * p.count)
        let id = Hex.encode(Array(SHA256.digest(of: modulus).prefix(10)))
        publicKey = RSAPublicKey(id: id, modulus: modulus, exponent: [1, 0, 1])
    }

    package func signature(of text: some StringProtocol) -> [UInt8] {
        let number = Magnitude(bytes: RSAPublicKey.padded(text, p.count + q.count))
        let (p, q) = (Modulus(Magnitude(bytes: p)), Modulus(Magnitude(bytes: q)))
        let byP = p.power(p.rest(of: number), Self.inverse(p.value))
        let byQ = q.power(q.rest(of: number), Self.inverse(q.value))
        // The inverse of `q`, by Fermat's little theorem.
        var fermat = p.value
        fermat.subtract(Magnitude(2))
        let factor = p.multiply(p.difference(byP, byQ), p.power(q.value, fermat))
        var result = factor.multiplied(by: q.value)
        result.add(byQ)
        return result.bytes(self.p.count + self.q.count)
    }

    /// The inverse of the public exponent, modulo one prime minus one.
    private static func inverse(_ prime: Magnitude) -> Magnitude {
        var order = prime
        order.subtract(Magnitude(1))
        let rest = order.divided(by: exponent).rest
        // The smallest factor that makes the order one less than a multiple of the exponent, which is prime.
        let factor = exponent - power(rest, exponent - 2)
        var product = order.multiplied(by: Magnitude(factor))
        product.add(Magnitude(1))
        return product.divided(by: exponent).quotient
    }

    private static func power(_ base: UInt64, _ power: UInt64) -> UInt64 {
        var (result, base, power) = (UInt64(1), base % exponent, power)
        while power > 0 {
            if power & 1 == 1 { result = result * base % exponent }
            base = base * base % exponent
            power >>= 1
        }
        return result
    }

    // MARK: Primes

    private static let smallPrimes: [UInt64] = (3..<2000).filter { number in
        number % 2 == 1 && !stride(from: 3, to: number, by: 2).contains { $0 * $0 <= number && number % $0 == 0 }
    }

    private static func prime() -> Magnitude {
        var generator = SystemRandomNumberGenerator()
        while true {
            var candidate = Magnitude(words: (0..<(primeBits / 64)).map { _ in generator.next() })
            candidate.words[0] |= 1
            // So that the product of two primes has the full length.
            candidate.words[candidate.words.count - 1] |= 3 << 62
            guard smallPrimes.allSatisfy({ candidate.divided(by: $0).rest != 0 }) else { continue }
            var order = candidate
            order.subtract(Magnitude(1))
            guard order.divided(by: exponent).rest != 0 else { continue }
            if isProbablyPrime(candidate, order) { return candidate }
        }
    }

    /// The Miller-Rabin test, for random numbers of this length.
    private static func isProbablyPrime(_ candidate: Magnitude, _ order: Magnitude) -> Bool {
        let modulus = Modulus(candidate)
        let twos = (0..<order.bitCount).first { order.bit($0) } ?? 0
        var odd = order
        for _ in 0..<twos { odd = odd.divided(by: 2).quotient }
        return ([2, 3, 5, 7] as [UInt64]).allSatisfy { base in
            var power = modulus.power(Magnitude(base), odd)
            if power == Magnitude(1).padded(power.words.count) || power == order { return true }
            for _ in 1..<max(twos, 1) {
                power = modulus.multiply(power, power)
                if power == order { return true }
            }
            return false
        }
    }

    // MARK: Coding

    private enum CodingKeys: CodingKey { case p, q }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let (p, q) = (try container.decode([UInt8].self, forKey: .p), try container.decode([UInt8].self, forKey: .q))
        guard p.count == Self.primeBits / 8, q.count == p.count, Magnitude(bytes: q) < Magnitude(bytes: p) else {
            throw DecodingError.dataCorruptedError(forKey: .p, in: container, debugDescription: "This is not a key.")
        }
        self.init(p: p, q: q)
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(p, forKey: .p)
        try container.encode(q, forKey: .q)
    }
}

/// A public key for verifying RS256 signatures, as published by servers.
package struct RSAPublicKey: Hashable, Sendable {
    /// The key name in tokens.
    package let id: String
    private let modulus: [UInt8]
    private let exponent: [UInt8]

    init(id: String, modulus: [UInt8], exponent: [UInt8]) {
        self.id = id
        self.modulus = modulus
        self.exponent = exponent
    }

    /// From an entry of a list of published keys; `nil` for a key of another kind, and for one that is too short to be secure.
    package init?(_ json: JSON) {
        guard json["kty"]?.string == "RSA", let id = json["kid"]?.string,
            let modulus = json["n"]?.string.flatMap({ Base64.decode($0, alphabet: .url) }),
            let exponent = json["e"]?.string.flatMap({ Base64.decode($0, alphabet: .url) })
        else { return nil }
        let trimmed = Array(modulus.drop { $0 == 0 })
        guard (256...1024).contains(trimmed.count), trimmed.count % 8 == 0, trimmed[trimmed.count - 1] & 1 == 1,
            (1...8).contains(exponent.count)
        else { return nil }
        self.init(id: id, modulus: trimmed, exponent: exponent)
    }

    package var json: JSON {
        [
            "kty": "RSA", "alg": "RS256", "use": "sig", "kid": .string(id),
            "n": .string(Base64.encode(modulus, alphabet: .url)),
            "e": .string(Base64.encode(exponent, alphabet: .url)),
        ]
    }

    package func verifies(_ signature: [UInt8], of text: some StringProtocol) -> Bool {
        guard signature.count == modulus.count else { return false }
        let number = Magnitude(bytes: signature)
        let modulus = Magnitude(bytes: modulus)
        guard number < modulus else { return false }
        let opened = Modulus(modulus).power(number, Magnitude(bytes: exponent))
        return HMACSHA256.areEqual(opened.bytes(signature.count), Self.padded(text, signature.count))
    }

    /// The signed bytes: the hash of the text, padded as in PKCS #1.
    static func padded(_ text: some StringProtocol, _ count: Int) -> [UInt8] {
        let algorithm: [UInt8] = [
            0x30, 0x31, 0x30, 0x0d, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01, 0x05, 0x00, 0x04,
            0x20,
        ]
        let end = algorithm + SHA256.digest(of: Array(text.utf8))
        return [0, 1] + [UInt8](repeating: 0xff, count: count - end.count - 3) + [0] + end
    }
}
