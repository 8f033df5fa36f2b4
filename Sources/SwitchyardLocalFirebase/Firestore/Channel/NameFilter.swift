import SwitchyardBytes
import SwitchyardFirestoreFormat

/// A Bloom filter of the names of all documents of a target, with which a client finds its outdated ones.
enum NameFilter {
    /// The false positive rate is about one percent.
    private static let bitsPerName = 10
    private static let hashCount = 7

    static func make(_ names: [String]) -> FirestoreListenResponse.UnchangedNames? {
        guard !names.isEmpty else { return nil }
        let bits = names.count * bitsPerName
        var bitmap = [UInt8](repeating: 0, count: (bits + 7) / 8)
        for name in names {
            let digest = MD5.digest(of: Array(name.utf8))
            let first = word(digest[0..<8])
            let second = word(digest[8..<16])
            for index in 0..<UInt64(hashCount) {
                let bit = Int((first &+ index &* second) % UInt64(bits))
                bitmap[bit / 8] |= 1 << (bit % 8)
            }
        }
        return FirestoreListenResponse.UnchangedNames(
            bitmap: bitmap, padding: bitmap.count * 8 - bits, hashCount: hashCount)
    }

    private static func word(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
}
