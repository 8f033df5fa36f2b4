/// A JSON text with an index of its values, for readers that make values of their own from it without a tree in between.
///
/// Numbers stand for values: their places in the index. The root is at 0. An object's keys and values take turns, each value
/// after its key. Keys may repeat, and numbers beyond a `Double` are infinite.
package final class IndexedJSON: Sendable {
    package typealias Kind = JSONIndex.Kind

    private let text: [UInt8]
    private let entries: [JSONIndex.Entry]
    private static let options = JSONParsingOptions(duplicateKeys: .keepLast, largeNumbers: .infinite)

    /// Validates the whole text.
    package init(parsing text: [UInt8]) throws(JSONError) {
        self.text = text
        entries = try JSONIndex(text).entries
    }

    // MARK: Navigation

    package func kind(at place: Int) -> Kind { entries[place].kind }
    package func isNull(at place: Int) -> Bool { entries[place].kind == .null }
    package func isArray(at place: Int) -> Bool { entries[place].kind == .array }
    package func isObject(at place: Int) -> Bool { entries[place].kind == .object }

    /// The place after the value at `place` and everything in it. The first of its elements, or keys, is right behind it.
    package func end(of place: Int) -> Int { Int(entries[place].next) }

    /// The place of the value for `key` in an object; of several, the last.
    package func value(of key: String, in object: Int) -> Int? {
        guard entries[object].kind == .object else { return nil }
        var found: Int?
        var place = object + 1
        while place < end(of: object) {
            if holds(key, at: place) { found = place + 1 }
            place = end(of: place + 1)
        }
        return found
    }

    /// The places of an object's keys, if it is one.
    package func keys(of object: Int) -> [Int] {
        guard entries[object].kind == .object else { return [] }
        var places: [Int] = []
        var place = object + 1
        while place < end(of: object) {
            places.append(place)
            place = end(of: place + 1)
        }
        return places
    }

    /// The places of an array's elements, if it is one.
    package func elements(of array: Int) -> [Int] {
        guard entries[array].kind == .array else { return [] }
        var places: [Int] = []
        var place = array + 1
        while place < end(of: array) {
            places.append(place)
            place = end(of: place)
        }
        return places
    }

    /// The places of an object's values, if these are its keys in this order, spelled without escapes.
    package func values(of object: Int, named names: [String]) -> [Int]? {
        guard entries[object].kind == .object else { return nil }
        var places: [Int] = []
        places.reserveCapacity(names.count)
        let end = end(of: object)
        var place = object + 1
        for name in names {
            guard place < end, entries[place].kind == .key, bytes(at: place, { $0.holds(name) }) else { return nil }
            places.append(place + 1)
            place = self.end(of: place + 1)
        }
        return place == end ? places : nil
    }

    /// Finds the values of an object that has the same keys in the same order as another one.
    ///
    /// - Parameters:
    ///   - model: The other one.
    ///   - places: As many as the model has keys; filled with the places of the values.
    /// - Returns: `false` if the keys are others.
    package func findValues(of object: Int, like model: Int, in places: inout [Int]) -> Bool {
        entries.withUnsafeBufferPointer { entries in
            text.withUnsafeBufferPointer { text in
                guard entries[object].kind == .object else { return false }
                let (end, modelEnd) = (Int(entries[object].next), Int(entries[model].next))
                var (key, other, index) = (object + 1, model + 1, 0)
                while key < end {
                    guard other < modelEnd, index < places.count, entries[key].isSameKey(as: entries[other], in: text)
                    else { return false }
                    places[index] = key + 1
                    index += 1
                    key = Int(entries[key + 1].next)
                    other = Int(entries[other + 1].next)
                }
                return index == places.count
            }
        }
    }

    private func holds(_ key: String, at place: Int) -> Bool {
        entries[place].kind == .key ? bytes(at: place) { $0.holds(key) } : ExactKey.areEqual(string(at: place), key)
    }

    // MARK: Values

    /// The bytes of a literal: those of a string without its quotation marks, and with its escapes.
    @inline(__always)
    private func bytes<Result>(at place: Int, _ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        let entry = entries[place]
        return text.withUnsafeBufferPointer { text in
            body(UnsafeBufferPointer(rebasing: text[Int(entry.offset)..<Int(entry.offset + entry.length)]))
        }
    }

    /// The text of a key or string, or the literal of another value.
    package func string(at place: Int) -> String {
        let isEscaped = entries[place].kind == .escapedString || entries[place].kind == .escapedKey
        return bytes(at: place) { isEscaped ? JSONEscapes.unescaped($0) : String(decoding: $0, as: UTF8.self) }
    }

    /// The text of a string; `nil` for any other value.
    package func text(at place: Int) -> String? { isString(at: place) ? string(at: place) : nil }

    package func isString(at place: Int) -> Bool {
        entries[place].kind == .string || entries[place].kind == .escapedString
    }

    /// A string that is a time; `nil` for any other value.
    package func moment(at place: Int) -> RFC3339.Moment? {
        if entries[place].kind == .string { return bytes(at: place) { RFC3339.parse($0) } }
        return text(at: place).flatMap { RFC3339.parse($0) }
    }

    /// A whole number as it is written, if it fits; `nil` for any other value.
    package func integer(at place: Int) -> Int64? {
        guard entries[place].kind == .number else { return nil }
        return bytes(at: place) { JSONWalker.number(in: $0)?.int64 }
    }

    /// A number, infinite if it is too large; `nil` for any other value.
    package func double(at place: Int) -> Double? {
        guard entries[place].kind == .number else { return nil }
        return bytes(at: place) { bytes in
            JSONWalker.number(in: bytes).map { $0.double ?? ($0.isNegative ? -.infinity : .infinity) }
        }
    }

    /// The value with everything in it.
    package func json(at place: Int) -> JSON {
        switch entries[place].kind {
        case .null: return .null
        case .yes: return .bool(true)
        case .no: return .bool(false)
        case .string, .escapedString, .key, .escapedKey: return .string(string(at: place))
        case .number:
            return bytes(at: place) { bytes in
                guard let token = JSONWalker.number(in: bytes) else { return .null }
                if let integer = token.int64 { return .integer(integer) }
                return .number(token.double ?? (token.isNegative ? -.infinity : .infinity))
            }
        case .array, .object:
            return bytes(at: place) { bytes in
                // It was validated with the whole text.
                (try? JSON(parsing: bytes, options: Self.options)) ?? .null
            }
        }
    }
}

extension JSONIndex.Entry {
    /// Whether both are keys of the same spelling.
    @inline(__always)
    fileprivate func isSameKey(as other: Self, in text: UnsafeBufferPointer<UInt8>) -> Bool {
        guard length == other.length, kind == other.kind else { return false }
        let (start, otherStart) = (Int(offset), Int(other.offset))
        for index in 0..<Int(length) where text[start + index] != text[otherStart + index] { return false }
        return true
    }
}
