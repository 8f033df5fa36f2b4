package import SwitchyardBytes

#if canImport(Security)
    import Foundation
    import Security
#else
    import CSwitchyardLibraries
#endif

/// A published key for verifying signatures with RS256 or ES256.
package final class TokenKey: Sendable {
    package enum Algorithm: String, Sendable {
        case rs256 = "RS256"
        case es256 = "ES256"
    }

    package let algorithm: Algorithm
    // Neither library modifies a key while verifying, so any number of threads may use it.
    #if canImport(Security)
        private nonisolated(unsafe) let key: SecKey
    #else
        private nonisolated(unsafe) let key: ccrypto_key

        deinit { ccrypto_free(key) }
    #endif

    /// Whether this system can verify signatures.
    package static var isAvailable: Bool {
        #if canImport(Security)
            true
        #else
            ccrypto_is_available()
        #endif
    }

    #if !canImport(Security)
        /// Loads this library instead of the usual ones, before anything else does: for tests of systems without them.
        ///
        /// - Returns: Whether the library exists.
        package static func open(library name: String) -> Bool { ccrypto_open(name) }
    #endif

    /// A key of a JSON web key set; `nil` if it is of another kind or too weak.
    package convenience init?(_ json: JSON) {
        func bytes(_ name: String) -> [UInt8]? { json[name]?.string.flatMap { Base64.decode($0, alphabet: .url) } }
        switch json["kty"]?.string {
        case "RSA":
            guard let modulus = bytes("n"), let exponent = bytes("e"), modulus.drop(while: { $0 == 0 }).count >= 256
            else {
                return nil
            }
            self.init(rsa: DER.encode(.sequence, DER.integer(modulus), DER.integer(exponent)))
        case "EC":
            guard json["crv"]?.string == "P-256", let x = bytes("x"), let y = bytes("y"), x.count == 32, y.count == 32
            else { return nil }
            self.init(p256: [4] + x + y)
        default: return nil
        }
    }

    /// The RSA key of a PEM certificate.
    package convenience init?(certificate pem: String) {
        let lines = pem.split(whereSeparator: \.isNewline)
        guard lines.first?.hasPrefix("-----BEGIN CERTIFICATE") == true,
            let der = Base64.decode(lines.dropFirst().prefix { !$0.hasPrefix("-----") }.joined()),
            let info = DER.publicKey(ofCertificate: der), let parts = DER.elements(info[...])?.first,
            let fields = DER.elements(parts.contents), fields.count == 2,
            fields[0].whole.elementsEqual(Self.rsaAlgorithm), let bits = fields[1].contents.first, bits == 0
        else { return nil }
        self.init(rsa: Array(fields[1].contents.dropFirst()))
    }

    /// The object identifiers of the two kinds of keys.
    static let rsaName: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01]
    static let curveName: [UInt8] = [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01]

    static let rsaAlgorithm = DER.encode(.sequence, DER.encode(.object, rsaName), DER.encode(.null))
    private static let p256Algorithm = DER.encode(
        .sequence, DER.encode(.object, curveName),
        DER.encode(.object, [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07]))

    #if canImport(Security)
        /// - Parameter rsa: The key in PKCS #1 format.
        private init?(rsa: [UInt8]) {
            guard let key = Self.make(Data(rsa), kSecAttrKeyTypeRSA) else { return nil }
            (self.key, algorithm) = (key, .rs256)
        }

        /// - Parameter p256: An uncompressed point.
        private init?(p256: [UInt8]) {
            guard let key = Self.make(Data(p256), kSecAttrKeyTypeECSECPrimeRandom) else { return nil }
            (self.key, algorithm) = (key, .es256)
        }

        private static func make(_ data: Data, _ type: CFString) -> SecKey? {
            SecKeyCreateWithData(
                data as CFData,
                [kSecAttrKeyType as String: type, kSecAttrKeyClass as String: kSecAttrKeyClassPublic] as CFDictionary,
                nil)
        }
    #else
        private convenience init?(rsa: [UInt8]) {
            self.init(DER.encode(.sequence, Self.rsaAlgorithm, DER.encode(.bits, [0], rsa)), .rs256)
        }

        private convenience init?(p256: [UInt8]) {
            self.init(DER.encode(.sequence, Self.p256Algorithm, DER.encode(.bits, [0], p256)), .es256)
        }

        private init?(_ info: [UInt8], _ algorithm: Algorithm) {
            guard let key = ccrypto_public_key(info, info.count) else { return nil }
            (self.key, self.algorithm) = (key, algorithm)
        }
    #endif

    package func verifies(_ signature: [UInt8], of message: [UInt8]) -> Bool {
        guard let signature = algorithm == .rs256 ? signature : Self.der(signature) else { return false }
        #if canImport(Security)
            return SecKeyVerifySignature(
                key, algorithm == .rs256 ? .rsaSignatureMessagePKCS1v15SHA256 : .ecdsaSignatureMessageX962SHA256,
                Data(message) as CFData, Data(signature) as CFData, nil)
        #else
            return ccrypto_verifies(key, signature, signature.count, message, message.count)
        #endif
    }

    /// Converts the ECDSA signature of a token, which is two concatenated numbers.
    private static func der(_ signature: [UInt8]) -> [UInt8]? {
        guard signature.count == 64 else { return nil }
        return DER.encode(.sequence, DER.integer(signature[..<32]), DER.integer(signature[32...]))
    }
}

/// The parts of ASN.1's distinguished encoding that keys and certificates need.
enum DER {
    enum Tag: UInt8 {
        case integer = 0x02
        case bits = 0x03
        case octets = 0x04
        case null = 0x05
        case object = 0x06
        case sequence = 0x30
        /// The version, at the beginning of a certificate's content.
        case version = 0xA0
        /// The public key within a private EC key.
        case publicHalf = 0xA1
    }

    static func encode(_ tag: Tag, _ contents: [UInt8]...) -> [UInt8] {
        let contents = contents.flatMap { $0 }
        return [tag.rawValue] + length(contents.count) + contents
    }

    /// A positive number.
    static func integer(_ bytes: some Collection<UInt8>) -> [UInt8] {
        let digits = Array(bytes.drop { $0 == 0 })
        guard let first = digits.first else { return encode(.integer, [0]) }
        return encode(.integer, first >= 0x80 ? [0] : [], digits)
    }

    private static func length(_ count: Int) -> [UInt8] {
        guard count >= 0x80 else { return [UInt8(count)] }
        var rest = count
        var bytes: [UInt8] = []
        while rest > 0 {
            bytes.insert(UInt8(rest & 0xFF), at: 0)
            rest >>= 8
        }
        return [0x80 | UInt8(bytes.count)] + bytes
    }

    /// The elements in `bytes`, each with its tag, its contents and as a whole; `nil` if the bytes are not a sequence of
    /// elements.
    static func elements(_ bytes: ArraySlice<UInt8>) -> [(
        tag: UInt8, contents: ArraySlice<UInt8>, whole: ArraySlice<UInt8>
    )]? {
        var found: [(tag: UInt8, contents: ArraySlice<UInt8>, whole: ArraySlice<UInt8>)] = []
        var rest = bytes
        while let tag = rest.first {
            var place = rest.startIndex + 1
            guard place < rest.endIndex else { return nil }
            var count = Int(rest[place])
            place += 1
            if count >= 0x80 {
                let digits = count & 0x7F
                guard (1...4).contains(digits), rest.endIndex - place >= digits else { return nil }
                count = rest[place..<(place + digits)].reduce(0) { $0 << 8 | Int($1) }
                place += digits
            }
            guard rest.endIndex - place >= count else { return nil }
            found.append((tag, rest[place..<(place + count)], rest[rest.startIndex..<(place + count)]))
            rest = rest[(place + count)...]
        }
        return found
    }

    /// The public key of a certificate. The certificate's signature is not verified, since it comes from the published keys.
    static func publicKey(ofCertificate der: [UInt8]) -> [UInt8]? {
        guard let outer = elements(der[...]), outer.count == 1, outer[0].tag == Tag.sequence.rawValue,
            let parts = elements(outer[0].contents), let inside = parts.first, let fields = elements(inside.contents)
        else { return nil }
        // The version is optional. Number, algorithm, issuer, validity, subject and key follow.
        let place = fields.first?.tag == Tag.version.rawValue ? 6 : 5
        guard fields.count > place, fields[place].tag == Tag.sequence.rawValue else { return nil }
        return Array(fields[place].whole)
    }
}
