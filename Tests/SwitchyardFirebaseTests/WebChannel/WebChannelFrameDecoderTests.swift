import Testing

@testable import SwitchyardFirebase

@Suite struct WebChannelFrameDecoderTests {
    /// Letters of one to four bytes; lengths are in UTF-16 units.
    static let frames = ["[1]", "[\"é\"]", "[\"～漢字\"]", "[\"🎭🎭\"]", "[]", "[\"a🎭é～\"]"]

    static var body: [UInt8] { Array(frames.map { "\($0.utf16.count)\n\($0)" }.joined().utf8) }

    @Test func `Frames are found wherever the network cuts the bytes`() throws {
        let body = Self.body
        for cut in 0...body.count {
            var decoder = WebChannelFrameDecoder()
            let frames = try decoder.append(Array(body[..<cut])) + decoder.append(Array(body[cut...]))
            #expect(frames.map { String(decoding: $0, as: UTF8.self) } == Self.frames, "cut at \(cut)")
            #expect(!decoder.isInsideFrame)
        }
    }

    @Test func `Frames are found when every byte comes alone`() throws {
        var decoder = WebChannelFrameDecoder()
        var frames: [[UInt8]] = []
        for byte in Self.body { frames += try decoder.append([byte]) }
        #expect(frames.map { String(decoding: $0, as: UTF8.self) } == Self.frames)
    }

    @Test func `A large frame is found in one piece`() throws {
        let text = "[\"" + String(repeating: "🎭é", count: 60_000) + "\"]"
        var decoder = WebChannelFrameDecoder()
        let body = Array("\(text.utf16.count)\n\(text)".utf8)
        var frames: [[UInt8]] = []
        for start in stride(from: 0, to: body.count, by: 4096) {
            frames += try decoder.append(Array(body[start..<min(start + 4096, body.count)]))
        }
        #expect(frames.map(\.count) == [text.utf8.count])
    }

    @Test(arguments: ["x\n[]", "\n[]", "-1\n", "99999999999\n", "12345678901", "999999999\n"])
    func `A length that is none is refused`(_ body: String) {
        var decoder = WebChannelFrameDecoder()
        #expect(throws: WebChannelFrameDecoder.Malformed.self) { try decoder.append(Array(body.utf8)) }
    }

    @Test func `A frame that ends in the middle of a character pair is refused`() {
        var decoder = WebChannelFrameDecoder()
        #expect(throws: WebChannelFrameDecoder.Malformed.self) { try decoder.append(Array("1\n🎭".utf8)) }
    }

    @Test func `A body that stops inside a frame is known to have`() throws {
        var decoder = WebChannelFrameDecoder()
        _ = try decoder.append(Array("10\n[1".utf8))
        #expect(decoder.isInsideFrame)
    }
}
