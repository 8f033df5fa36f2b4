/// Detects in a few instructions that a key is new to its object, as is nearly always the case.
///
/// There is one bit for each combination of length and outer characters. Keys are compared only if their bit is set already.
struct RepeatedKeyFilter {
    private var met: UInt64 = 0

    /// Records the key. Returns `false` if no earlier key was the same.
    @inline(__always)
    mutating func mayRepeat(_ token: JSONStringToken) -> Bool {
        // A key with escapes does not show its characters, so from then on every key is compared.
        if token.hasEscapes {
            met = .max
            return true
        }
        let bit: UInt64 = 1 << UInt64(truncatingIfNeeded: token.mixture & 63)
        defer { met |= bit }
        return met & bit != 0
    }
}

/// The keys of an object with many members, where comparing one by one would allow an attacker to cause quadratic time.
struct KnownKeys {
    static let linearLimit = 32
    private var keys: Set<ExactKey> = []
    private var count = 0

    /// Whether one of the members from `start` on has that key. The members include those of the last call.
    mutating func contains(_ key: String, among members: borrowing MoveStack<JSONObject.Member>, from start: Int)
        -> Bool
    {
        for index in (start + count)..<members.count { keys.insert(ExactKey(members[index].key)) }
        count = members.count - start
        return keys.contains(ExactKey(key))
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
