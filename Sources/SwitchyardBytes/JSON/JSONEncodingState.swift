/// A JSON text while an `Encoder` writes it, level by level, and the rules for the order of an encoder's calls.
package struct JSONEncodingState {
    /// A value being written.
    package struct Level {
        package enum Kind { case untouched, object, array, single }
        var kind = Kind.untouched
        var count = 0
        var keys = RepeatedKeyFilter()
        let firstKey: Int
    }

    /// An error if a container is used against the rules of `Encoder`.
    package enum EncodingMistake: String, Error {
        case notOpen = "A container was used after its value had been written, or with another beside it."
        case secondValue = "A second value was written in the place of one."
        case repeatedKey = "A key was written twice."
    }

    package var text: [UInt8] = []
    package private(set) var levels: [Level] = []
    /// The keys of all open levels in the text, without quotation marks.
    private(set) var keys: [Range<Int>] = []
    /// By level, the keys of large levels, where comparing one by one would take long.
    private var knownKeys: [Int: (keys: Set<ExactKey>, count: Int)] = [:]

    package init() { text.reserveCapacity(512) }

    package mutating func beginLevel() -> Int {
        levels.append(Level(firstKey: keys.count))
        return levels.count
    }

    package mutating func endLevel() {
        let level = levels.removeLast()
        if keys.count > level.firstKey { keys.removeLast(keys.count - level.firstKey) }
        if !knownKeys.isEmpty { knownKeys[levels.count] = nil }
        switch level.kind {
        case .object: text.append(UInt8(ascii: "}"))
        case .array: text.append(UInt8(ascii: "]"))
        case .single: break
        // A member that wrote nothing is an empty object; at the top level, the caller decides.
        case .untouched: if !levels.isEmpty { JSONText.append(literal: "{}", to: &text) }
        }
    }

    package func count(at level: Int) -> Int { level == levels.count ? levels[level - 1].count : 0 }

    /// Makes the value of `level` an object or an array, unless it is one already.
    package mutating func open(_ kind: Level.Kind, at level: Int) {
        guard level == levels.count, levels[level - 1].kind == .untouched else { return }
        levels[level - 1].kind = kind
        text.append(kind == .object ? UInt8(ascii: "{") : UInt8(ascii: "["))
    }

    /// Starts the next element of the array at `level`.
    package mutating func beginElement(at level: Int) throws(EncodingMistake) {
        guard level == levels.count, levels[level - 1].kind == .array else { throw .notOpen }
        if levels[level - 1].count > 0 { text.append(UInt8(ascii: ",")) }
        levels[level - 1].count += 1
    }

    /// Starts the member `name` of the object at `level`.
    package mutating func beginMember(_ name: String, at level: Int) throws(EncodingMistake) {
        guard level == levels.count, levels[level - 1].kind == .object else { throw .notOpen }
        if levels[level - 1].count > 0 { text.append(UInt8(ascii: ",")) }
        levels[level - 1].count += 1
        let start = text.count + 1
        JSONText.append(name, to: &text)
        try noteKey(start..<(text.count - 1))
        text.append(UInt8(ascii: ":"))
    }

    @inline(__always)
    private mutating func noteKey(_ key: Range<Int>) throws(EncodingMistake) {
        let top = levels.count - 1
        let mayRepeat = text.withUnsafeBufferPointer { text in
            let bytes = UnsafeBufferPointer(rebasing: text[key])
            return levels[top].keys.mayRepeat(JSONStringToken(bytes: bytes, offset: key.lowerBound, hasEscapes: false))
        }
        if mayRepeat, repeats(key, at: top) { throw .repeatedKey }
        keys.append(key)
    }

    private mutating func repeats(_ key: Range<Int>, at top: Int) -> Bool {
        let first = levels[top].firstKey
        if keys.count - first <= KnownKeys.linearLimit {
            return text.withUnsafeBufferPointer { text in
                keys[first...].contains { $0.count == key.count && text[$0].elementsEqual(text[key]) }
            }
        }
        var known = knownKeys.removeValue(forKey: top) ?? ([], 0)
        for other in keys[(first + known.count)...] { known.keys.insert(exactKey(other)) }
        known.count = keys.count - first
        defer { knownKeys[top] = known }
        return known.keys.contains(exactKey(key))
    }

    /// The key as written, since escaping is always the same.
    private func exactKey(_ key: Range<Int>) -> ExactKey { ExactKey(String(decoding: text[key], as: UTF8.self)) }

    /// Records that the value of `level` is a single value.
    package mutating func beginSingle(at level: Int) throws(EncodingMistake) {
        guard level == levels.count, levels[level - 1].kind == .untouched else { throw .secondValue }
        levels[level - 1].kind = .single
    }

    /// The path to the value being written.
    package var path: [any CodingKey] {
        levels.indices.compactMap { index in
            let level = levels[index]
            guard level.count > 0 else { return nil }
            if level.kind == .array { return JSONKey(index: level.count - 1) }
            let end = index + 1 < levels.count ? levels[index + 1].firstKey : keys.count
            guard level.kind == .object, end > level.firstKey else { return nil }
            let key = keys[end - 1]
            return JSONKey((try? JSON(parsing: text[(key.lowerBound - 1)...key.upperBound]))?.string ?? "")
        }
    }
}
