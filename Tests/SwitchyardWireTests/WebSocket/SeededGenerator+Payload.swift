import SwitchyardTestSupport

extension SeededGenerator {
    mutating func below(_ bound: Int) -> Int { int(0..<max(bound, 1)) }

    /// Text of characters of every length, or any bytes.
    mutating func payload(limit: Int, isText: Bool) -> [UInt8] {
        let size = below(4) == 0 ? below(limit + 1) : below(20)
        guard isText else { return (0..<size).map { _ in UInt8(below(256)) } }
        let characters: [String] = ["a", "Z", "\0", "ß", "€", "\u{FFFF}", "𐍈", "\u{10FFFF}", " "]
        var bytes: [UInt8] = []
        while bytes.count < size { bytes += characters[below(characters.count)].utf8 }
        return Array(bytes.count <= limit ? bytes : [])
    }
}
