import SwitchyardTestSupport
import Testing

@testable import SwitchyardWire

/// The decoder by itself: cut anywhere, held back anywhere, damaged anywhere.
@Suite struct ContentDecoderTests {
    private static let text = Array(
        (0..<9_000).map { "\($0 * $0 % 7919) and \($0 % 13), " }.joined().utf8)

    /// Offers `packed` in random pieces to a sink that refuses at random, as libcurl would: what is refused is offered again,
    /// cut otherwise. `nil` for damage.
    private func decode(
        _ packed: [UInt8], _ coding: ContentDecoder.Coding, _ random: inout SeededGenerator
    ) throws -> (bytes: [UInt8], isComplete: Bool)? {
        let decoder = try #require(ContentDecoder(coding))
        var bytes: [UInt8] = []
        var position = 0
        var refusals = 0
        while position < packed.count {
            let end = min(packed.count, position + 1 + random.below(random.below(3) == 0 ? 10 : 20_000))
            let refuses = random.below(3) == 0 && refusals < 50
            let outcome = packed[position..<end].withUnsafeBytes { piece in
                decoder.decode(piece) { output in
                    if refuses { return .none }
                    bytes += output
                    return .all
                }
            }
            switch outcome {
            case .all: position = end
            case .none: refusals += 1
            case .damaged: return nil
            case .abort, .outOfMemory: Issue.record("neither was asked for")
            }
        }
        return (bytes, decoder.isComplete)
    }

    @Test(.needs(.python), arguments: ContentDecoder.Coding.allCases)
    func `However a body is cut and held back, it is the same`(
        coding: ContentDecoder.Coding
    ) throws {
        let packed = try CompressedSamples.pack(String(decoding: Self.text, as: UTF8.self), coding.rawValue)
        for seed in 0..<200 {
            var random = SeededGenerator(seed: UInt64(seed))
            let decoded = try #require(try decode(packed, coding, &random), "seed \(seed)")
            #expect(decoded.bytes == Self.text && decoded.isComplete, "seed \(seed)")
        }
    }

    @Test(.needs(.python), arguments: ContentDecoder.Coding.allCases)
    func `Damaged bodies are noticed or harmless, never worse`(
        coding: ContentDecoder.Coding
    ) throws {
        let short = Array(Self.text.prefix(3000))
        let packed = try CompressedSamples.pack(String(decoding: short, as: UTF8.self), coding.rawValue)
        var whole = 0
        for seed in 0..<RandomRun.rounds(2000) {
            var random = SeededGenerator(seed: UInt64(seed) &+ 5_000_000)
            var bytes = packed
            for _ in 0...random.below(3) where !bytes.isEmpty {
                let place = random.below(bytes.count)
                switch random.below(4) {
                case 0: bytes[place] ^= 1 << UInt8(random.below(8))
                case 1: bytes.remove(at: place)
                case 2: bytes.insert(UInt8(random.below(256)), at: place)
                default: bytes.removeSubrange(place...)
                }
            }
            guard let decoded = try decode(bytes, coding, &random), decoded.isComplete, !bytes.isEmpty else { continue }
            whole += 1
            // A checksum sees what Brotli, which has none, cannot; but no one gets the end of a body that was cut.
            if coding == .gzip { #expect(decoded.bytes == short, "seed \(seed)") }
        }
        // Changes in a field of the head that no one reads are all that gzip lets pass.
        if coding == .gzip { #expect(whole < RandomRun.rounds(2000) / 10) }
    }
}
