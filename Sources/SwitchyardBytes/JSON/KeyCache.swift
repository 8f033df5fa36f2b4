/// Recently used key strings: the objects of one text usually share their keys, and comparing a few bytes is cheaper than
/// creating a string, which for a long key also allocates memory. A stream keeps it from one value to the next.
struct KeyCache: Sendable {
    /// Empty before the first key.
    private var keys: [String] = []
    private static let size = 128

    @inline(__always)
    mutating func text(of token: JSONStringToken) -> String {
        guard !token.hasEscapes else { return token.text() }
        if keys.isEmpty { keys = [String](repeating: "", count: Self.size) }
        let place = token.mixture & (Self.size - 1)
        if token.bytes.holds(keys[place]) { return keys[place] }
        let key = token.text()
        keys[place] = key
        return key
    }
}

extension JSONStringToken {
    /// A cheap hash, which differs for most different keys.
    @inline(__always)
    var mixture: Int {
        let count = bytes.count
        guard count > 0 else { return 0 }
        return count ^ Int(bytes[0]) &* 5 ^ Int(bytes[count - 1]) &* 11 ^ Int(bytes[count >> 1]) &* 23
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// Whether these are the bytes of `text`.
    @inline(__always)
    func holds(_ text: String) -> Bool {
        let units = text.utf8
        guard units.count == count else { return false }
        return units.withContiguousStorageIfAvailable { other in
            for index in 0..<count where self[index] != other[index] { return false }
            return true
        } ?? units.elementsEqual(self)
    }
}
