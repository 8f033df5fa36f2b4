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
