import SwitchyardBytes
import SwitchyardTestSupport
import Testing

struct HashTests {
    private static let alphabet = "abcdefghijklmnopqrstuvwxyz"
    private static let mixed = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
    private static let eighty = String(repeating: "1234567890", count: 8)
    private static let twoBlocks = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"

    /// RFC 1321, appendix A.5.
    @Test(arguments: [
        ("", "d41d8cd98f00b204e9800998ecf8427e"), ("a", "0cc175b9c0f1b6a831c399e269772661"),
        ("abc", "900150983cd24fb0d6963f7d28e17f72"), ("message digest", "f96b697d7cb7938d525a2f31aaf161d0"),
        (alphabet, "c3fcd3d76192e4007dfb496cca67e13b"), (mixed, "d174ab98d277d9f5a5611c2c9f419d9f"),
        (eighty, "57edf4a22be3c955ac49da2e2107b67a"),
    ]) func `MD5 has the digests of its standard`(_ text: String, _ digest: String) {
        #expect(Hex.encode(MD5.digest(of: text.utf8)) == digest)
    }

    /// FIPS 180 examples and the empty text.
    @Test(arguments: [
        ("", "da39a3ee5e6b4b0d3255bfef95601890afd80709"), ("abc", "a9993e364706816aba3e25717850c26c9cd0d89d"),
        (twoBlocks, "84983e441c3bd26ebaae4aa1f95129e5e54670f1"),
        // RFC 6455, section 1.3.
        ("dGhlIHNhbXBsZSBub25jZQ==258EAFA5-E914-47DA-95CA-C5AB0DC85B11", "b37a4f2cc0624f1690f64606cf385945b2bec4ea"),
    ]) func `SHA-1 has the digests of its standard`(_ text: String, _ digest: String) {
        #expect(Hex.encode(SHA1.digest(of: text.utf8)) == digest)
    }

    @Test(arguments: [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (twoBlocks, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"),
    ]) func `SHA-256 has the digests of its standard`(_ text: String, _ digest: String) {
        #expect(Hex.encode(SHA256.digest(of: text.utf8)) == digest)
    }

    @Test func `A million letters have the digests of the standards`() {
        let million = [UInt8](repeating: UInt8(ascii: "a"), count: 1_000_000)
        #expect(Hex.encode(MD5.digest(of: million)) == "7707d6ae4e027c70eea2a935c2296f21")
        #expect(Hex.encode(SHA1.digest(of: million)) == "34aa973cd4c4daa4f61eeb2bdbad27316534016f")
        #expect(
            Hex.encode(SHA256.digest(of: million)) == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"
        )
    }

    /// RFC 4231, test cases 1 to 4, 6 and 7.
    private static let codes: [([UInt8], [UInt8], String)] = [
        (
            [UInt8](repeating: 0x0B, count: 20), Array("Hi There".utf8),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
        ),
        (
            Array("Jefe".utf8), Array("what do ya want for nothing?".utf8),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        ),
        (
            [UInt8](repeating: 0xAA, count: 20), [UInt8](repeating: 0xDD, count: 50),
            "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"
        ),
        (
            (1...25).map { UInt8($0) }, [UInt8](repeating: 0xCD, count: 50),
            "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"
        ),
        (
            [UInt8](repeating: 0xAA, count: 131), Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        ),
        (
            [UInt8](repeating: 0xAA, count: 131),
            Array(
                ("This is a test using a larger than block-size key and a larger than block-size data. "
                    + "The key needs to be hashed before being used by the HMAC algorithm.").utf8),
            "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"
        ),
    ]

    @Test(arguments: codes) func `HMAC-SHA-256 has the codes of its standard`(
        _ key: [UInt8], _ text: [UInt8], _ code: String
    ) {
        #expect(Hex.encode(HMACSHA256.code(for: text, key: key)) == code)
        var hmac = HMACSHA256(key: key)
        for byte in text { hmac.update([byte]) }
        #expect(Hex.encode(hmac.code()) == code)
    }

    /// RFC 2202, section 3.
    private static let olderCodes: [([UInt8], [UInt8], String)] = [
        ([UInt8](repeating: 0x0B, count: 20), Array("Hi There".utf8), "b617318655057264e28bc0b6fb378c8ef146be00"),
        (Array("Jefe".utf8), Array("what do ya want for nothing?".utf8), "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79"),
        (
            [UInt8](repeating: 0xAA, count: 80), Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8),
            "aa4ae5e15272d00e95705637ce8a3b55ed402112"
        ),
    ]

    @Test(arguments: olderCodes) func `HMAC-SHA-1 has the codes of its standard`(
        _ key: [UInt8], _ text: [UInt8], _ code: String
    ) { #expect(Hex.encode(HMACSHA1.code(for: text, key: key)) == code) }

    @Test func `The codes of authenticator apps are those of RFC 6238`() {
        let key = Array("12345678901234567890".utf8)
        let vectors: [(Int64, String)] = [
            (59, "287082"), (1_111_111_109, "081804"), (1_234_567_890, "005924"), (20_000_000_000, "353130"),
        ]
        for (seconds, code) in vectors {
            let step = OneTimeCode.step(at: seconds)
            #expect(OneTimeCode.code(key: key, step: step) == code)
            for late in [-30, 0, 30] as [Int64] {
                #expect(OneTimeCode.step(of: code, key: key, at: seconds + late) == step)
            }
            #expect(OneTimeCode.step(of: code, key: key, at: seconds + 90) == nil)
        }
    }

    @Test func `Codes are equal only byte for byte`() {
        #expect(HMACSHA256.areEqual([1, 2, 3] as [UInt8], [1, 2, 3]))
        #expect(!HMACSHA256.areEqual([1, 2, 3] as [UInt8], [1, 2, 4]))
        #expect(!HMACSHA256.areEqual([1, 2, 3] as [UInt8], [1, 2]))
    }

    /// RFC 3720, appendix B.4, and the usual check value.
    private static let checksums: [([UInt8], UInt32)] = [
        (Array("123456789".utf8), UInt32(0xE306_9283)), ([UInt8](repeating: 0, count: 32), 0x8A91_36AA),
        ([UInt8](repeating: 0xFF, count: 32), 0x62A8_AB43), ((0..<32).map { UInt8($0) }, 0x46DD_794E),
        ((0..<32).map { UInt8(31 - $0) }, 0x113F_DB5C), ([], 0),
    ]

    @Test(arguments: checksums) func `CRC32C has the values of its standard`(_ bytes: [UInt8], _ value: UInt32) {
        #expect(CRC32C.checksum(of: bytes) == value)
    }

    @Test func `Tables come to the same checksum as the processor's instruction`() {
        var generator = SeededGenerator(seed: 32)
        for count in Array(0..<70) + [1000, 4096, 65_537] {
            let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
            var (crc, byTables) = (CRC32C(), CRC32C())
            crc.update(bytes)
            bytes.withUnsafeBytes { byTables.updateByTables($0) }
            #expect(crc == byTables)
        }
    }

    @Test func `The checksum is written most significant byte first`() {
        var crc = CRC32C()
        crc.update(Array("123456789".utf8))
        #expect(crc.bytes == [0xE3, 0x06, 0x92, 0x83])
    }

    @Test func `Where the input is cut makes no difference`() {
        let bytes = (0..<300).map { UInt8(truncatingIfNeeded: $0 * 31) }
        let whole = (MD5.digest(of: bytes), SHA1.digest(of: bytes), SHA256.digest(of: bytes))
        for cut in 0...300 {
            var (md5, sha1, sha256, crc) = (MD5(), SHA1(), SHA256(), CRC32C())
            for part in [bytes[..<cut], bytes[cut...]] {
                md5.update(part)
                sha1.update(part)
                sha256.update(part)
                crc.update(part)
            }
            #expect((md5.digest(), sha1.digest(), sha256.digest()) == whole)
            #expect(crc.value == CRC32C.checksum(of: bytes))
        }
    }

    @Test func `Updates may follow a digest, and a copy goes its own way`() {
        var hash = SHA256()
        hash.update(Array("ab".utf8))
        var copy = hash
        copy.update(Array("x".utf8).span)
        #expect(hash.digest() == SHA256.digest(of: "ab".utf8))
        hash.update(AnyCollection(Array("c".utf8)))
        #expect(hash.digest() == SHA256.digest(of: "abc".utf8))
        #expect(copy.digest() == SHA256.digest(of: "abx".utf8))
    }
}
