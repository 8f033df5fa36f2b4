import SwitchyardBytes
import SwitchyardWire

/// Category 6: text that is UTF-8, and text that is not.
extension CatalogueCase {
    private static let kosme: [UInt8] = [0xCE, 0xBA, 0xE1, 0xBD, 0xB9, 0xCF, 0x83, 0xCE, 0xBC, 0xCE, 0xB5]
    private static let edited = Array("edited".utf8)

    private static func text(_ number: String, _ bytes: [UInt8], pieces: [Range<Int>]? = nil) -> CatalogueCase {
        let pieces = pieces ?? [0..<bytes.count]
        let writes = pieces.enumerated().map { index, range in
            frame(index == 0 ? 1 : 0, Array(bytes[range]), final: index == pieces.count - 1)
        }
        if let text = String(validating: bytes, as: UTF8.self) {
            return CatalogueCase(number, writes, [.echo(.text(text))])
        }
        return CatalogueCase(number, writes, [], .failed(.invalidText))
    }

    private static func octets(_ bytes: [UInt8]) -> [Range<Int>] { bytes.indices.map { $0..<($0 + 1) } }

    static let text: [CatalogueCase] = fragmentsOfText + failFast + sequences

    private static let fragmentsOfText: [CatalogueCase] = {
        let hello = Array("Hello-µ@ßöäüàá-UTF-8!!".utf8)
        let boundary = Array("Hello-µ@ß".utf8).count
        let surrogate = kosme + [0xED, 0xA0, 0x80] + edited
        let middle = Array("middle frame payload".utf8)
        return [
            CatalogueCase("6.1.1", [frame(1)], [.echo(.text(""))]),
            text("6.1.2", [], pieces: [0..<0, 0..<0, 0..<0]),
            text("6.1.3", middle, pieces: [0..<0, 0..<middle.count, middle.count..<middle.count]),
            text("6.2.1", hello),
            text("6.2.2", hello, pieces: [0..<boundary, boundary..<hello.count]),
            text("6.2.3", hello, pieces: octets(hello)),
            text("6.2.4", kosme, pieces: octets(kosme)),
            text("6.3.1", surrogate),
            text("6.3.2", surrogate, pieces: octets(surrogate)),
        ]
    }()

    /// The rest of the message never comes: the client has to refuse what it has seen.
    private static let failFast: [CatalogueCase] = {
        let bad: [UInt8] = [0xF4, 0x90, 0x80, 0x80]
        let whole = kosme + bad + edited
        let header = Array(frame(1, whole).prefix(2))
        return [
            CatalogueCase(
                "6.4.1", [frame(1, kosme, final: false), frame(0, bad, final: false)], [], .failed(.invalidText)),
            CatalogueCase(
                "6.4.2", [frame(1, kosme + [0xF4], final: false), frame(0, [0x90], final: false)], [],
                .failed(.invalidText)),
            CatalogueCase("6.4.3", [header + kosme, bad], [], .failed(.invalidText)),
            CatalogueCase("6.4.4", [header + kosme + [0xF4], [0x90]], [], .failed(.invalidText)),
        ]
    }()

    /// Whole messages, by the kinds of Markus Kuhn's list of UTF-8 stress tests: the groups from 6.5 on, in hex.
    private static let sequences: [CatalogueCase] = {
        let word = "68656c6c6f"
        let end = "776f726c64"
        let prefixes = (1...kosme.count).map { Hex.encode(kosme.prefix($0)) }
        let incomplete = "c0 e080 f08080 f8808080 fc80808080 df efbf f7bfbf fbbfbfbf fdbfbfbfbf"
        var nonCharacters = ["efbfbe", "efbfbf"]
        for plane: UInt8 in 1...16 {
            for last: UInt8 in [0xBE, 0xBF] {
                let bytes: [UInt8] = [0xF0 | plane >> 2, 0x8F | (plane & 3) << 4, 0xBF, last]
                nonCharacters.append(Hex.encode(bytes))
            }
        }
        let groups: [String] = [
            // 6.5 valid sequences, 6.6 all prefixes of a valid text
            "\(word)24\(end) \(word)c2a2\(end) \(word)e282ac\(end) \(word)f0a4ada2\(end) \(Hex.encode(kosme))",
            prefixes.joined(separator: " "),
            // 6.7 first of each length, 6.8 of the lengths that are too long
            "00 c280 e0a080 f0908080", "f888808080 fc8480808080",
            // 6.9 last of each length, 6.10 of the lengths that are too long
            "7f dfbf efbfbf f48fbfbf", "f7bfbfbf fbbfbfbfbf fdbfbfbfbfbf",
            // 6.11 other boundaries
            "ed9fbf ee8080 efbfbd f48fbfbf f4908080",
            // 6.12 continuation bytes without a start
            "80 bf 80bf 80bf80 80bf80bf 80bf80bf80 80bf80bf80bf \(Hex.encode(Array(0x80..<0xBF)))",
            // 6.13 starts without continuation bytes
            "\(lonely(0xC0..<0xDF)) \(lonely(0xE0..<0xEF)) \(lonely(0xF0..<0xF7)) \(lonely(0xF8..<0xFB)) "
                + lonely(0xFC..<0xFD),
            // 6.14 the last continuation byte missing, 6.15 all of these together
            incomplete, String(incomplete.filter { $0 != " " }),
            // 6.16 impossible bytes
            "fe ff fefeffff",
            // 6.17 to 6.19 overlong: a solidus, the greatest of each length, NUL
            "c0af e080af f08080af f8808080af fc80808080af", "c1bf e09fbf f08fbfbf f887bfbfbf fc83bfbfbfbf",
            "c080 e08080 f0808080 f880808080 fc8080808080",
            // 6.20 surrogates alone, 6.21 in pairs
            "eda080 edadbf edae80 edafbf edb080 edbe80 edbfbf",
            "eda080edb080 eda080edbfbf edadbfedb080 edadbfedbfbf edae80edb080 edae80edbfbf edafbfedb080 edafbfedbfbf",
            // 6.22 code points that are no characters, 6.23 specials: all of them valid
            nonCharacters.joined(separator: " "), "efbfb9 efbfba efbfbb efbfbc efbfbd efbfbe efbfbf",
        ]
        var cases: [CatalogueCase] = []
        for (group, members) in groups.enumerated() {
            for (index, hex) in members.split(separator: " ").enumerated() {
                cases.append(text("6.\(group + 5).\(index + 1)", Hex.decode(hex) ?? []))
            }
        }
        return cases
    }()

    private static func lonely(_ starts: Range<UInt8>) -> String { starts.map { Hex.encode([$0, 0x20]) }.joined() }
}
