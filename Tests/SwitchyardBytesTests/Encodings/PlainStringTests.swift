import SwitchyardBytes
import Testing

@Suite struct PlainStringTests {
    @Test(arguments: [
        ("", "", true), ("a", "", true), ("", "a", false), ("abc", "abc", true), ("abc", "abcd", false),
        ("aab", "ab", true), ("abab", "ba", true), ("abc", "ac", false), ("Köln am Rhein", "öln", true),
    ])
    func `A text includes another if its bytes are in it`(whole: String, part: String, isIn: Bool) {
        #expect(whole.includes(part) == isIn)
        #expect(Substring("<\(whole)>").dropFirst().dropLast().includes(part) == isIn)
    }

    @Test(
        arguments: [
            ("a/b/c", "/", "b/c"), ("a", "a", ""), ("a", "b", nil), ("", "", ""), ("Köln am Rhein", "n ", "am Rhein"),
        ] as [(String, String, String?)])
    func `The part after a text begins where its first occurrence ends`(whole: String, text: String, part: String?) {
        #expect(whole.part(after: text).map(String.init) == part)
    }

    @Test(arguments: [
        ("", ""), (" \r\n\t", ""), ("a", "a"), ("  a b\u{A0}\n", "a b"), ("\r\ntoken\r\n", "token"),
    ])
    func `White space and line breaks at the ends are cut off`(text: String, kept: String) {
        #expect(text.trimmed == kept)
    }
}
