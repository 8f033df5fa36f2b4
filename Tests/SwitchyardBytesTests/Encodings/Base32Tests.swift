import SwitchyardBytes
import Testing

@Suite struct Base32Tests {
    /// RFC 4648, section 10, without the padding.
    private static let vectors = [
        ("", ""), ("f", "MY"), ("fo", "MZXQ"), ("foo", "MZXW6"), ("foob", "MZXW6YQ"), ("fooba", "MZXW6YTB"),
        ("foobar", "MZXW6YTBOI"),
    ]

    @Test(arguments: vectors) func `The examples of the standard, both ways`(_ plain: String, _ text: String) {
        #expect(Base32.encode(Array(plain.utf8)) == text)
        #expect(Base32.decode(text) == Array(plain.utf8))
    }

    @Test(arguments: ["a", "MZXQ=", "M1", "M Z", "ß"]) func `Other characters are refused`(_ text: String) {
        #expect(Base32.decode(text) == nil)
    }

    @Test func `The key of an authenticator app`() {
        #expect(Base32.encode(Array("12345678901234567890".utf8)) == "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ")
    }
}
