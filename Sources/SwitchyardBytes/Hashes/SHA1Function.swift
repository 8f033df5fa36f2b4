/// FIPS 180-4, section 6.1. For the WebSocket handshake and the like; not for anything that must resist forgery.
package struct SHA1Function: BlockHashFunction {
    private var state: (UInt32, UInt32, UInt32, UInt32, UInt32) =
        (0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476, 0xC3D2_E1F0)

    package init() {}

    package static var isBigEndian: Bool { true }

    package var words: [UInt32] { [state.0, state.1, state.2, state.3, state.4] }

    package mutating func mix(_ block: UnsafeBufferPointer<UInt32>) {
        withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 80) { schedule in
            for index in 0..<16 { schedule[index] = block[index] }
            for index in 16..<80 {
                let sum = schedule[index - 3] ^ schedule[index - 8] ^ schedule[index - 14] ^ schedule[index - 16]
                schedule[index] = sum.rotatedLeft(1)
            }
            var (a, b, c, d, e) = state
            for step in 0..<80 {
                let (mixed, constant): (UInt32, UInt32) =
                    switch step / 20 {
                    case 0: (b & c | ~b & d, 0x5A82_7999)
                    case 1: (b ^ c ^ d, 0x6ED9_EBA1)
                    case 2: (b & c | b & d | c & d, 0x8F1B_BCDC)
                    default: (b ^ c ^ d, 0xCA62_C1D6)
                    }
                let sum = a.rotatedLeft(5) &+ mixed &+ e &+ constant &+ schedule[step]
                (a, b, c, d, e) = (sum, a, b.rotatedLeft(30), c, d)
            }
            state.0 &+= a
            state.1 &+= b
            state.2 &+= c
            state.3 &+= d
            state.4 &+= e
        }
    }
}
