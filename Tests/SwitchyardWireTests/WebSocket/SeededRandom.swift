/// Random numbers that are the same in every run.
struct SeededRandom: RandomNumberGenerator {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 &+ 1 }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }

    mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(max(bound, 1))) }

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
