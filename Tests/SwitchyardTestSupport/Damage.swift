/// Small damage to a text, as a careless or hostile sender does it.
package enum Damage {
    package static func apply(
        to text: [UInt8],
        structural: [UInt8] = Array("{}[],:\"\\u0019eE+-._=tfn \n\u{1}dD8cAQ".utf8)
            + [0x80, 0xBF, 0xC0, 0xC3, 0xED, 0xF0, 0xF4, 0xFF],
        _ random: inout SeededGenerator
    ) -> [UInt8] {
        var text = text
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            let place = Int.random(in: 0...text.count, using: &random)
            switch Int.random(in: 0..<6, using: &random) {
            case 0: text.insert(structural[Int.random(in: structural.indices, using: &random)], at: place)
            case 1 where place < text.count: text.remove(at: place)
            case 2 where place < text.count:
                text[place] = structural[Int.random(in: structural.indices, using: &random)]
            case 3 where place < text.count: text[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            case 4: text.removeLast(min(text.count, Int.random(in: 0...3, using: &random)))
            default:
                let end = min(text.count, place + Int.random(in: 0...8, using: &random))
                text.insert(contentsOf: Array(text[place..<end]), at: Int.random(in: 0...text.count, using: &random))
            }
        }
        return text
    }
}
