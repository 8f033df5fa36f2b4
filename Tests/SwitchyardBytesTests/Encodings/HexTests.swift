import SwitchyardBytes
import Testing

struct HexTests {
    @Test func `Bytes become lower-case digits and come back from either case`() {
        let bytes = (0...255).map { UInt8($0) }
        let text = Hex.encode(bytes)
        #expect(text.hasPrefix("000102") && text.hasSuffix("fdfeff"))
        #expect(Hex.decode(text) == bytes)
        #expect(Hex.decode(text.uppercased()) == bytes)
    }

    @Test(arguments: ["0", "0g", "g0", "0x", " 00", "é"]) func `Anything else is refused`(
        _ text: String
    ) {
        #expect(Hex.decode(text) == nil)
    }
}
