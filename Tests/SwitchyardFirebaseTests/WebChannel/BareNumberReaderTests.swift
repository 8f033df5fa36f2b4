import SwitchyardTestSupport
import Testing

/// The reader that measurements compare with.
@Suite struct BareNumberReaderTests {
    private static func frame(_ text: String) -> [UInt8] { Array("\(text.utf8.count)\n\(text)".utf8) }

    private static let bytes =
        frame(#"[[1,[{"documentChange":{"document":{"fields":{"number":{"integerValue":"1234"}}}}}]]]"#)
        + frame(#"[[2,[{"targetChange":{"resumeToken":"AA==","readTime":"x"}}]]]"#) + frame("[[3,[\"noop\"]]]")
        + frame(
            #"[[4,[{"documentChange":{"document":{"fields":{"number":{"integerValue":"5678"}}}}}]],[5,[{"targetChange":{"resumeToken":"AB=="}}]]]"#
        )

    @Test func `Each number is found wherever the network cuts`() {
        for cut in 0...Self.bytes.count {
            var reader = BareNumberReader()
            let found = [Self.bytes[..<cut], Self.bytes[cut...]].compactMap { reader.take(Array($0)) }
            #expect(found.last == 5678, "cut at \(cut)")
        }
        var reader = BareNumberReader()
        #expect(Self.bytes.compactMap { reader.take([$0]) } == [1234, 5678])
    }

    @Test func `A change counts only with its snapshot`() {
        var reader = BareNumberReader()
        #expect(reader.take(Self.frame(#"[[1,[{"x":{"integerValue":"7"}}]]]"#)) == nil)
    }
}
