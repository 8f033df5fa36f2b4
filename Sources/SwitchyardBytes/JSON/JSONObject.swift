/// The members of a JSON object in their original order, with unique keys.
///
/// Keys are compared by their bytes, as in JSON, not by canonical equivalence. Lookup is linear: objects are usually small, and
/// hashing all keys would cost half of the parsing time. For many lookups, build a dictionary.
package struct JSONObject: Hashable, Sendable {
    package struct Member: Hashable, Sendable {
        package let key: String
        package var value: JSON

        package init(key: String, value: JSON) {
            self.key = key
            self.value = value
        }
    }

    package private(set) var members: [Member]

    package init() { members = [] }

    /// For a duplicate key, the last value is used, at the position of the first.
    package init(_ pairs: some Sequence<(key: String, value: JSON)>) {
        members = []
        members.reserveCapacity(pairs.underestimatedCount)
        var places: [ExactKey: Int] = [:]
        for (key, value) in pairs {
            if let place = places.updateValue(members.count, forKey: ExactKey(key)) {
                places[ExactKey(key)] = place
                members[place].value = value
            } else {
                members.append(Member(key: key, value: value))
            }
        }
    }

    /// For the parser and for encoders, which have ensured that the keys differ.
    package init(distinct members: [Member]) { self.members = members }

    /// Setting `nil` removes the member; a new key is added at the end.
    package subscript(key: String) -> JSON? {
        get { place(of: key).map { members[$0].value } }
        set {
            switch (place(of: key), newValue) {
            case (let place?, let value?): members[place].value = value
            case (let place?, nil): members.remove(at: place)
            case (nil, let value?): members.append(Member(key: key, value: value))
            case (nil, nil): break
            }
        }
    }

    private func place(of key: String) -> Int? {
        members.firstIndex { ExactKey.areEqual($0.key, key) }
    }

    package var keys: [String] { members.map(\.key) }
    package var dictionary: [String: JSON] {
        Dictionary(members.map { ($0.key, $0.value) }, uniquingKeysWith: { _, last in last })
    }
}

extension JSONObject: RandomAccessCollection {
    package var startIndex: Int { 0 }
    package var endIndex: Int { members.count }
    package subscript(position: Int) -> Member { members[position] }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
    package init(dictionaryLiteral elements: (String, JSON)...) {
        self.init(elements.map { (key: $0.0, value: $0.1) })
    }
}

/// A key compared by its bytes: `String` considers a composed and a decomposed é equal.
struct ExactKey: Hashable {
    let key: String

    init(_ key: String) { self.key = key }

    static func == (a: Self, b: Self) -> Bool { areEqual(a.key, b.key) }

    func hash(into hasher: inout Hasher) {
        var key = key
        key.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }

    static func areEqual(_ a: String, _ b: String) -> Bool {
        // Unequal strings have different bytes, and for short ones this comparison takes only two words.
        a.utf8.count == b.utf8.count && a == b && a.utf8.elementsEqual(b.utf8)
    }
}

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
