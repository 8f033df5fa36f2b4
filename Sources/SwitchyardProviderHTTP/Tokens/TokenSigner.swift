package import Switchyard
package import SwitchyardBytes

#if canImport(Security)
    import Foundation
    import Security
#else
    import CSwitchyardLibraries
#endif

/// A private key for signing tokens, with RS256 or ES256 depending on its kind.
package final class TokenSigner: Sendable {
    package let algorithm: TokenKey.Algorithm
    // Neither library modifies a key while signing, so any number of threads may use it.
    #if canImport(Security)
        private nonisolated(unsafe) let key: SecKey
    #else
        private nonisolated(unsafe) let key: ccrypto_key

        deinit { ccrypto_free(key) }
    #endif

    /// - Parameter pem: An RSA or P-256 key in PKCS #8 and PEM format, as in key files.
    /// - Returns: `nil` if it is not such a key, and unless ``TokenKey/isAvailable``.
    package init?(pem: Secret) {
        let lines = pem.reveal().split(whereSeparator: \.isNewline).drop { !$0.hasPrefix("-----BEGIN PRIVATE KEY") }
        guard !lines.isEmpty,
            let der = Base64.decode(lines.dropFirst().prefix { !$0.hasPrefix("-----") }.joined()),
            let outer = DER.elements(der[...]), outer.count == 1, outer[0].tag == DER.Tag.sequence.rawValue,
            let parts = DER.elements(outer[0].contents), parts.count >= 3,
            let kind = DER.elements(parts[1].contents)?.first, parts[2].tag == DER.Tag.octets.rawValue
        else { return nil }
        if kind.contents.elementsEqual(TokenKey.rsaName) {
            algorithm = .rs256
        } else if kind.contents.elementsEqual(TokenKey.curveName) {
            algorithm = .es256
        } else {
            return nil
        }
        #if canImport(Security)
            let inside = Array(parts[2].contents)
            guard let data = algorithm == .rs256 ? inside : Self.point(inside),
                let key = SecKeyCreateWithData(
                    Data(data) as CFData,
                    [
                        kSecAttrKeyType as String: algorithm == .rs256
                            ? kSecAttrKeyTypeRSA : kSecAttrKeyTypeECSECPrimeRandom,
                        kSecAttrKeyClass as String: kSecAttrKeyClassPrivate,
                    ] as CFDictionary, nil)
            else { return nil }
            self.key = key
        #else
            guard let key = ccrypto_private_key(der, der.count) else { return nil }
            self.key = key
        #endif
    }

    /// Creates an RSA key of 2048 bits, in PKCS #8 and PEM format; `nil` unless ``TokenKey/isAvailable``.
    package static func newRSAKey() -> Secret? {
        #if canImport(Security)
            let attributes: [String: Any] = [
                kSecAttrKeyType as String: kSecAttrKeyTypeRSA, kSecAttrKeySizeInBits as String: 2048,
            ]
            guard let key = SecKeyCreateRandomKey(attributes as CFDictionary, nil), let inside = der(of: key) else {
                return nil
            }
        #else
            guard let key = ccrypto_new_rsa_key() else { return nil }
            defer { ccrypto_free(key) }
            guard let inside = der(of: key) else { return nil }
        #endif
        let file = DER.encode(.sequence, DER.integer([0]), TokenKey.rsaAlgorithm, DER.encode(.octets, inside))
        return Secret("-----BEGIN PRIVATE KEY-----\n\(Base64.encode(file))\n-----END PRIVATE KEY-----")
    }

    /// The public half of an RSA key as a JSON web key without a name; `nil` for a key of another kind.
    package var publicKey: JSONObject? {
        // The version, the modulus and the public exponent come first.
        guard algorithm == .rs256, let numbers = Self.der(of: key).flatMap({ DER.elements($0[...]) })?.first,
            let parts = DER.elements(numbers.contents), parts.count > 3
        else { return nil }
        func text(_ part: Int) -> JSON {
            .string(Base64.encode(Array(parts[part].contents.drop { $0 == 0 }), alphabet: .url))
        }
        return ["kty": "RSA", "n": text(1), "e": text(2)]
    }

    #if canImport(Security)
        /// The key in PKCS #1 format.
        private static func der(of key: SecKey) -> [UInt8]? {
            (SecKeyCopyExternalRepresentation(key, nil) as Data?).map { Array($0) }
        }
    #else
        /// The key in PKCS #1 format, or as an `ECPrivateKey`.
        private static func der(of key: ccrypto_key) -> [UInt8]? {
            var bytes = [UInt8](repeating: 0, count: 8192)
            let count = ccrypto_der(key, &bytes, bytes.count)
            return count > 0 ? Array(bytes.prefix(count)) : nil
        }
    #endif

    /// Creates a token with these claims.
    ///
    /// - Parameter keyID: The name by which the verifier finds the public key.
    package func token(_ claims: JSONObject, keyID: String?) -> Secret? {
        var header: JSONObject = ["alg": .string(algorithm.rawValue), "typ": "JWT"]
        header["kid"] = keyID.map { .string($0) }
        let parts = [header, claims].map { Base64.encode(JSON.object($0).bytes(), alphabet: .url) }
        let signed = parts.joined(separator: ".")
        return signature(of: Array(signed.utf8)).map { Secret("\(signed).\(Base64.encode($0, alphabet: .url))") }
    }

    package func signature(of message: [UInt8]) -> [UInt8]? {
        #if canImport(Security)
            let made =
                SecKeyCreateSignature(
                    key, algorithm == .rs256 ? .rsaSignatureMessagePKCS1v15SHA256 : .ecdsaSignatureMessageX962SHA256,
                    Data(message) as CFData, nil) as Data?
            guard let signature = made.map({ Array($0) }) else { return nil }
        #else
            // The size of an RSA signature with 8192 bits.
            var signature = [UInt8](repeating: 0, count: 1024)
            let count = ccrypto_sign(key, message, message.count, &signature, signature.count)
            guard count > 0 else { return nil }
            signature.removeLast(signature.count - count)
        #endif
        return algorithm == .rs256 ? signature : Self.plain(signature)
    }

    /// Converts an ECDSA signature to a token's format, which is two concatenated numbers.
    private static func plain(_ der: [UInt8]) -> [UInt8]? {
        guard let numbers = DER.elements(der[...])?.first.flatMap({ DER.elements($0.contents) }), numbers.count == 2
        else { return nil }
        return numbers.flatMap { number in
            let digits = number.contents.drop { $0 == 0 }
            return [UInt8](repeating: 0, count: max(32 - digits.count, 0)) + digits
        }
    }

    #if canImport(Security)
        /// The key in X9.63 format, with the public key before the private one, from an `ECPrivateKey`.
        private static func point(_ der: [UInt8]) -> [UInt8]? {
            guard let parts = DER.elements(der[...])?.first.flatMap({ DER.elements($0.contents) }), parts.count >= 2,
                let bits = parts.first(where: { $0.tag == DER.Tag.publicHalf.rawValue }),
                let half = DER.elements(bits.contents)?.first?.contents.dropFirst(), half.count == 65
            else { return nil }
            return Array(half) + parts[1].contents
        }
    #endif
}
