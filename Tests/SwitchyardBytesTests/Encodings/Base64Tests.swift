import SwitchyardBytes
import Testing

struct Base64Tests {
    /// RFC 4648, section 10.
    private static let vectors = [
        ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="),
        ("fooba", "Zm9vYmE="),
        ("foobar", "Zm9vYmFy"),
    ]

    @Test(arguments: vectors) func `The vectors of the standard`(_ plain: String, _ coded: String) {
        let unpadded = String(coded.prefix { $0 != "=" })
        #expect(Base64.encode(plain.utf8) == coded)
        #expect(Base64.encode(plain.utf8, padding: .absent) == unpadded)
        #expect(Base64.encode(plain.utf8, alphabet: .url) == unpadded)
        #expect(Base64.encode(plain.utf8, alphabet: .url, padding: .required) == coded)
        #expect(Base64.decode(coded) == Array(plain.utf8))
        #expect(Base64.decode(coded, alphabet: .url) == Array(plain.utf8))
        #expect(Base64.decode(unpadded, alphabet: .url) == Array(plain.utf8))
        #expect(Base64.decode(unpadded, padding: .optional) == Array(plain.utf8))
        #expect((Base64.decode(unpadded) == nil) == (unpadded != coded))
        #expect((Base64.decode(coded, alphabet: .url, padding: .absent) == nil) == (unpadded != coded))
    }

    @Test func `The alphabets differ in two letters and do not mix`() {
        let bytes: [UInt8] = [0xFB, 0xFF, 0xBF]
        #expect(Base64.encode(bytes) == "+/+/")
        #expect(Base64.encode(bytes, alphabet: .url) == "-_-_")
        #expect(Base64.decode("-_-_") == nil)
        #expect(Base64.decode("+/+/", alphabet: .url) == nil)
    }

    @Test(arguments: [
        "Z", "Zg", "Zg=", "Zg===", "Zm9", "Zm9=v", "=", "====", "Zm9v=", "Zg==Zg==", "Zm 9v", "Zm9v\n",
        "Zm9v!", "Zh==", "Zm9=",
        "Zm9vé", "Z===",
    ]) func `Malformed text is refused`(_ text: String) {
        #expect(Base64.decode(text) == nil)
    }

    @Test func `Bits left over must be zero`() {
        #expect(Base64.decode("Zh", alphabet: .url) == nil)
        #expect(Base64.decode("Zm9", alphabet: .url) == nil)
        #expect(Base64.decode("Zm8", alphabet: .url) == Array("fo".utf8))
    }

    @Test func `All bytes of all lengths come back`() {
        for length in 0..<80 {
            let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ length) }
            #expect(Base64.decode(Base64.encode(bytes)) == bytes)
            #expect(Base64.decode(Base64.encode(bytes, alphabet: .url), alphabet: .url) == bytes)
        }
    }

    @Test func `Appending leaves what is there`() {
        var output: [UInt8] = [UInt8(ascii: ":")]
        Base64.append("fo".utf8, to: &output)
        #expect(output == Array(":Zm8=".utf8))
    }
}
