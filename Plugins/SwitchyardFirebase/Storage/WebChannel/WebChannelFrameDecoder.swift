/// Splits the body of a back channel into frames: a decimal length, a line feed, and that many UTF-16 units of JSON.
///
/// Lengths count UTF-16 units while the network splits bytes anywhere, so bytes are decoded only when a frame is complete.
struct WebChannelFrameDecoder {
    /// Larger than any frame that a server sends; a larger length is invalid.
    static let maximumLength = 256 << 20

    private var buffer: [UInt8] = []
    /// The start of the first frame in the buffer, and the progress of its scan.
    private var position = 0
    private var length: Int?
    private var units = 0

    /// Whether the body so far ends inside a frame.
    var isInsideFrame: Bool { length != nil || position < buffer.count }

    struct Malformed: Error {}

    /// Appends bytes and returns the frames that they complete, as JSON text.
    mutating func append(_ bytes: [UInt8]) throws(Malformed) -> [[UInt8]] {
        buffer += bytes
        var frames: [[UInt8]] = []
        while let frame = try next() { frames.append(frame) }
        return frames
    }

    private mutating func next() throws(Malformed) -> [UInt8]? {
        if length == nil {
            guard let lineEnd = buffer[position...].firstIndex(of: UInt8(ascii: "\n")) else {
                guard buffer.count - position <= 10 else { throw Malformed() }
                return nil
            }
            let digits = buffer[position..<lineEnd]
            guard !digits.isEmpty, digits.count <= 10, digits.allSatisfy({ (48...57).contains($0) }) else {
                throw Malformed()
            }
            let number = digits.reduce(0) { $0 * 10 + Int($1 - 48) }
            guard number <= WebChannelFrameDecoder.maximumLength else { throw Malformed() }
            buffer.removeFirst(lineEnd + 1)
            (position, units, length) = (0, 0, number)
        }
        guard let length else { return nil }
        while units < length {
            guard position < buffer.count else { return nil }
            let lead = buffer[position]
            let (size, width) = WebChannelFrameDecoder.sequence(lead)
            guard size > 0 else { throw Malformed() }
            guard position + size <= buffer.count else { return nil }
            position += size
            units += width
        }
        guard units == length else { throw Malformed() }
        let frame = Array(buffer[..<position])
        buffer.removeFirst(position)
        (position, units, self.length) = (0, 0, nil)
        return frame
    }

    /// The number of bytes and UTF-16 units of the character that begins with `lead`.
    private static func sequence(_ lead: UInt8) -> (bytes: Int, units: Int) {
        switch lead {
        case 0x00..<0x80: (1, 1)
        case 0xC2..<0xE0: (2, 1)
        case 0xE0..<0xF0: (3, 1)
        case 0xF0..<0xF5: (4, 2)
        default: (0, 0)
        }
    }
}
