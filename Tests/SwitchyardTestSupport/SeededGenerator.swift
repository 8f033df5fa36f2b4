/// Random numbers that are the same in every run: a failing case is found again by its seed.
package struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    /// SplitMix64.
    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var result = state
        result = (result ^ (result >> 30)) &* 0xBF58_476D_1CE4_E5B9
        result = (result ^ (result >> 27)) &* 0x94D0_49BB_1331_11EB
        return result ^ (result >> 31)
    }

    package mutating func int(_ range: Range<Int>) -> Int { .random(in: range, using: &self) }
    package mutating func chance(_ percent: Int) -> Bool { int(0..<100) < percent }
    package mutating func pick<Element>(_ elements: [Element]) -> Element { elements[int(0..<elements.count)] }
}
