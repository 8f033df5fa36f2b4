package import Switchyard
package import SwitchyardBytes
import SwitchyardProviderHTTP

/// A private key for signing tokens with RS256, by the system's library.
package struct RSAPrivateKey: Codable, Sendable {
    private let pem: Secret
    private let signer: TokenSigner
    package let publicKey: RSAPublicKey

    /// Creates a key of 2048 bits.
    ///
    /// - Returns: `nil` unless ``isAvailable``.
    package init?() {
        guard let pem = TokenSigner.newRSAKey() else { return nil }
        self.init(pem: pem)
    }

    /// - Parameter pem: An RSA key in PKCS #8 and PEM format.
    /// - Returns: `nil` for any other text, and unless ``isAvailable``.
    package init?(pem: Secret) {
        guard let signer = TokenSigner(pem: pem), let json = signer.publicKey,
            let modulus = json["n"]?.string.flatMap({ Base64.decode($0, alphabet: .url) })
        else { return nil }
        var published = json
        published["kid"] = .string(Hex.encode(Array(SHA256.digest(of: modulus).prefix(10))))
        guard let publicKey = RSAPublicKey(.object(published)) else { return nil }
        (self.pem, self.signer, self.publicKey) = (pem, signer, publicKey)
    }

    /// The key in PKCS #8 and PEM format, to save it.
    package var text: String { pem.reveal() }

    /// Whether this system can sign and verify: on Linux, whether OpenSSL's libcrypto is installed.
    package static var isAvailable: Bool { TokenKey.isAvailable }

    /// Empty if the library cannot sign; no one accepts that.
    package func signature(of text: some StringProtocol) -> [UInt8] { signer.signature(of: Array(text.utf8)) ?? [] }

    // MARK: Coding

    private enum CodingKeys: CodingKey { case pem }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        guard let key = RSAPrivateKey(pem: Secret(try container.decode(String.self, forKey: .pem))) else {
            throw DecodingError.dataCorruptedError(forKey: .pem, in: container, debugDescription: "This is not a key.")
        }
        self = key
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(pem.reveal(), forKey: .pem)
    }
}

/// A public key for verifying RS256 signatures, as published by servers.
package struct RSAPublicKey: Hashable, Sendable {
    /// The key name in tokens.
    package let id: String
    package let json: JSON
    private let key: TokenKey

    /// From an entry of a list of published keys; `nil` for a key of another kind, and for one that is too short to be secure.
    package init?(_ json: JSON) {
        guard json["kty"]?.string == "RSA", let id = json["kid"]?.string, let modulus = json["n"]?.string,
            let exponent = json["e"]?.string, !exponent.isEmpty,
            Base64.decode(modulus, alphabet: .url)?.last.map({ $0 & 1 == 1 }) == true, let key = TokenKey(json)
        else { return nil }
        self.id = id
        self.json = [
            "kty": "RSA", "alg": "RS256", "use": "sig", "kid": .string(id), "n": .string(modulus),
            "e": .string(exponent),
        ]
        self.key = key
    }

    package func verifies(_ signature: [UInt8], of text: some StringProtocol) -> Bool {
        key.verifies(signature, of: Array(text.utf8))
    }

    package static func == (left: RSAPublicKey, right: RSAPublicKey) -> Bool { left.json == right.json }
    package func hash(into hasher: inout Hasher) { hasher.combine(json) }
}
