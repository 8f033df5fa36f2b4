package import SwitchyardBytes

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
