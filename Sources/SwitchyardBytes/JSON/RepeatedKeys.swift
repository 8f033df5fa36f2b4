/// Tells in a few instructions that a key is new to its object, which is nearly always so.
///
/// One bit for each mixture of length and outer letters met so far. Only where a bit is met again are keys compared.
struct RepeatedKeyFilter {
    private var met: UInt64 = 0

    /// Notes the key. `false` means that no key before was the same.
    @inline(__always)
    mutating func mayRepeat(_ token: JSONStringToken) -> Bool {
        // Written with escapes, a key does not show its letters: from then on every key is compared.
        if token.hasEscapes {
            met = .max
            return true
        }
        let bit: UInt64 = 1 << UInt64(truncatingIfNeeded: token.mixture & 63)
        defer { met |= bit }
        return met & bit != 0
    }
}

/// The keys of an object with so many members that comparing one by one would give a hostile text quadratic time.
struct KnownKeys {
    static let linearLimit = 32
    private var keys: Set<ExactKey> = []
    private var count = 0

    /// Whether one of the members from `start` on has that key; they are those of the last call and perhaps more.
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
