import SwitchyardBytes
import SwitchyardTestSupport

/// Values made up from a generator.
enum JSONSamples {
    static func value(_ random: inout SeededGenerator, depth: Int = 4) -> JSON {
        switch Int.random(in: 0..<(depth > 0 ? 8 : 6), using: &random) {
        case 0: return .null
        case 1: return .bool(.random(using: &random))
        case 2: return .integer(Int64(truncatingIfNeeded: random.next()) >> Int64.random(in: 0..<64, using: &random))
        case 3: return .number(double(&random))
        case 4, 5: return .string(string(&random))
        case 6: return .array((0..<Int.random(in: 0...5, using: &random)).map { _ in value(&random, depth: depth - 1) })
        default:
            let pairs = (0..<Int.random(in: 0...5, using: &random)).map { _ in
                (key: string(&random), value: value(&random, depth: depth - 1))
            }
            return .object(JSONObject(pairs))
        }
    }

    /// Any finite bit pattern.
    static func double(_ random: inout SeededGenerator) -> Double {
        while true {
            let value = Double(bitPattern: random.next())
            if value.isFinite { return value }
        }
    }

    static func string(_ random: inout SeededGenerator) -> String {
        var text = ""
        for _ in 0..<Int.random(in: 0...20, using: &random) {
            let range: ClosedRange<UInt32> = [
                0x20...0x7E, 0x20...0x7E, 0...0x1F, 0x22...0x22, 0x5C...0x5C, 0x80...0x7FF, 0x800...0xFFFF,
                0x10000...0x10FFFF,
            ]
            .randomElement(using: &random)!
            if let scalar = Unicode.Scalar(UInt32.random(in: range, using: &random)) {
                text.unicodeScalars.append(scalar)
            }
        }
        return text
    }
}
