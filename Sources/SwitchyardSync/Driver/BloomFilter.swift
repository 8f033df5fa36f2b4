public import Switchyard
import SwitchyardBytes

/// A set of names that may claim to contain a name it does not, but never the other way round.
public struct BloomFilter: Sendable, Hashable {
    private let bitmap: [UInt8]
    private let bitCount: Int
    private let hashCount: Int
    private let prefix: String

    /// - Parameters:
    ///   - bitmap: The bits, the lowest of each byte first.
    ///   - padding: How many bits at the end of `bitmap` do not count, 0 to 7.
    ///   - hashCount: How many bits each name has set.
    ///   - prefix: What to put before a document's path to get the name that the filter was made of.
    /// - Returns: `nil` if the numbers contradict each other; then ignore the server's filter.
    public init?(bitmap: [UInt8], padding: Int, hashCount: Int, prefix: String) {
        guard (0...7).contains(padding), hashCount >= 0 else { return nil }
        guard bitmap.isEmpty ? padding == 0 : hashCount > 0 else { return nil }
        self.bitmap = bitmap
        bitCount = bitmap.count * 8 - padding
        self.hashCount = hashCount
        self.prefix = prefix
    }

    /// Whether the filter is empty, which says nothing about the target's contents.
    public var isEmpty: Bool { bitCount == 0 }

    public func mightContain(_ path: StoragePath) -> Bool { mightContain(name: prefix + path.rawValue) }

    package func mightContain(name: String) -> Bool {
        guard bitCount > 0 else { return false }
        let digest = MD5.digest(of: name.utf8)
        let first = BloomFilter.word(digest, at: 0)
        let second = BloomFilter.word(digest, at: 8)
        for index in 0..<hashCount {
            let bit = Int((first &+ UInt64(index) &* second) % UInt64(bitCount))
            guard bitmap[bit / 8] & (1 << UInt8(bit % 8)) != 0 else { return false }
        }
        return true
    }

    private static func word(_ digest: [UInt8], at offset: Int) -> UInt64 {
        (0..<8).reduce(0) { $0 | UInt64(digest[offset + $1]) << UInt64(8 * $1) }
    }
}
