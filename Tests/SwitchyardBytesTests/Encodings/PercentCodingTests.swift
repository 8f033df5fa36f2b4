import SwitchyardBytes
import Testing

struct PercentCodingTests {
    private static let unreserved =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"

    /// RFC 3986, section 2.2: general and sub-delimiters, and what each part of a URL may hold of them (3.3, 3.4, 3.5).
    @Test(arguments: [
        (PercentCoding.Part.strict, ""),
        (.pathSegment, "!$&'()*+,;=:@"),
        (.path, "!$&'()*+,;=:@/"),
        (.queryItem, "!$'()*,:@/?"),
        (.query, "!$&'()*+,;=:@/?"),
        (.fragment, "!$&'()*+,;=:@/?"),
    ]) func `Each part keeps its own letters and codes all others`(
        _ part: PercentCoding.Part, _ kept: String
    ) {
        for byte in UInt8(0)..<128 {
            let letter = String(Unicode.Scalar(byte))
            let coded = "%" + Hex.encode([byte]).uppercased()
            let expected = (Self.unreserved + kept).contains(letter) ? letter : coded
            #expect(PercentCoding.encode(letter, as: part) == expected)
        }
    }

    @Test(arguments: [
        ("ア", "%E3%82%A2"), ("À", "%C3%80"), ("😀", "%F0%9F%98%80"), ("a b", "a%20b"),
        ("100%", "100%25"), ("a/b", "a%2Fb"),
        ("", ""),
    ]) func `Text is coded byte by byte and comes back`(_ plain: String, _ coded: String) {
        #expect(PercentCoding.encode(plain) == coded)
        #expect(PercentCoding.decode(coded) == plain)
    }

    @Test func `Decoding takes either case and leaves what is not coded`() {
        #expect(PercentCoding.decode("%e3%82%A2+x y/é") == "ア+x y/é")
        #expect(PercentCoding.decodeBytes("%00%ff") == [0, 255])
    }

    @Test(arguments: ["%", "%4", "%zz", "a%2", "%%41", "% 41", "%+1"])
    func `A broken code is refused`(_ text: String) {
        #expect(PercentCoding.decodeBytes(text) == nil)
        #expect(PercentCoding.decode(text) == nil)
    }

    @Test func `Bytes that are not UTF-8 are no text`() {
        #expect(PercentCoding.decode("%ff") == nil)
        #expect(PercentCoding.decode("%C0%80") == nil)
    }
}

struct FormCodingTests {
    @Test func `Pairs keep their order and repeats`() {
        let pairs = [("b", "1 + 1"), ("a", "x&y=z"), ("b", "é~"), ("empty", "")]
        #expect(
            FormCoding.encode(pairs.map { (name: $0.0, value: $0.1) })
                == "b=1+%2B+1&a=x%26y%3Dz&b=%C3%A9~&empty=")
        #expect(
            FormCoding.encode(pairs.map { (name: $0.0, value: $0.1) }, space: .percent)
                == "b=1%20%2B%201&a=x%26y%3Dz&b=%C3%A9~&empty=")
    }

    @Test func `Decoding gives the pairs back`() throws {
        let pairs = try #require(FormCoding.decode("b=1+%2B%201&a=x%26y%3Dz&&flag&=v&b=a=b"))
        #expect(pairs.map(\.name) == ["b", "a", "flag", "", "b"])
        #expect(pairs.map(\.value) == ["1 + 1", "x&y=z", "", "v", "a=b"])
        #expect(FormCoding.decode("")?.isEmpty == true)
    }

    @Test(arguments: ["a=%", "a=%ff", "%4=b"]) func `Malformed text is refused`(_ text: String) {
        #expect(FormCoding.decode(text) == nil)
    }
}
