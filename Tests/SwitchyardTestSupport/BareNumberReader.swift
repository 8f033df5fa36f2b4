/// Reads the numbers that a live query of Firestore reports, from the bytes of its channel and with as little work as possible.
///
/// The network cuts anywhere, also inside a frame's length and inside a number, so only complete frames are read.
package struct BareNumberReader {
    private static let number = Array(#""integerValue":""#.utf8)
    /// Earlier events become the current state only with a snapshot for all targets.
    private static let snapshot = Array(#"{"targetChange":{"resumeToken""#.utf8)

    private var rest: [UInt8] = []
    private var newest: Int?

    package init() {}

    /// - Parameter bytes: ASCII, so that a length counts bytes.
    /// - Returns: The number in the newest snapshot that `bytes` completes, if any.
    package mutating func take(_ bytes: [UInt8]) -> Int? {
        rest += bytes
        var found: Int?
        while let line = rest.firstIndex(of: UInt8(ascii: "\n")),
            let length = Int(String(decoding: rest[..<line], as: UTF8.self)), rest.count - line - 1 >= length
        {
            let frame = rest[(line + 1)..<(line + 1 + length)]
            var behind = frame
            while let mark = behind.firstRange(of: Self.number) {
                behind = behind[mark.upperBound...]
                newest = Int(String(decoding: behind.prefix { (48...57).contains($0) }, as: UTF8.self)) ?? newest
            }
            if frame.firstRange(of: Self.snapshot) != nil { found = newest ?? found }
            rest.removeFirst(line + 1 + length)
        }
        return found
    }
}
