/// Tells in a few instructions that a key is new to its object, which is nearly always so.
///
/// One bit for each mixture of length and outer letters met so far; where a bit is met again, the members are compared.
/// Objects beyond `linearLimit` members get a set, so that a hostile text cannot buy quadratic time.
struct RepeatedKeyFilter {
    static let linearLimit = 32
    private var met: UInt64 = 0
    /// The keys of the first `knownCount` members, gathered once there are many.
    fileprivate var known: Set<ExactKey> = []
    fileprivate var knownCount = 0

    /// Notes the key. `false` means that no key before was the same.
    @inline(__always)
    mutating func mayRepeat(_ token: JSONStringToken) -> Bool {
        let bytes = token.bytes
        // Written with escapes, a key does not show its letters: from then on every key is compared.
        if token.hasEscapes {
            met = .max
            return true
        }
        var mixture = UInt64(truncatingIfNeeded: bytes.count)
        if let first = bytes.first {
            mixture ^= UInt64(first) &* 5 ^ UInt64(bytes[bytes.count - 1]) &* 11
        }
        let bit: UInt64 = 1 << (mixture & 63)
        defer { met |= bit }
        return met & bit != 0
    }
}

extension MoveStack<JSONObject.Member> {
    /// Whether one of the members from `start` on has that key.
    func contains(_ key: String, from start: Int, filter: inout RepeatedKeyFilter) -> Bool {
        if count - start <= RepeatedKeyFilter.linearLimit {
            for index in start..<count where ExactKey.areEqual(self[index].key, key) { return true }
            return false
        }
        for index in (start + filter.knownCount)..<count {
            filter.known.insert(ExactKey(self[index].key))
        }
        filter.knownCount = count - start
        return filter.known.contains(ExactKey(key))
    }
}

extension JSONObject {
    func withoutRepeatedKeys(keepingFirst: Bool) -> JSONObject {
        let pairs = members.map { (key: $0.key, value: $0.value) }
        guard keepingFirst else { return JSONObject(pairs) }
        var known: Set<ExactKey> = []
        return JSONObject(pairs.filter { known.insert(ExactKey($0.key)).inserted })
    }
}
