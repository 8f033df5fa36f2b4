/// A text with its index, shared by all containers of one decoding: what is where, and the values of Swift's own types.
///
/// Coding paths are not tracked while decoding; they are computed from the index if an error needs one.
package final class JSONDecodingDocument {
    private let text: [UInt8]
    private let entries: [JSONIndex.Entry]
    /// The key found last, and its object: usually the next key requested is the same or the following one.
    private var last = (object: -1, key: -1)

    /// Validates the whole text.
    package init(_ text: [UInt8]) throws(JSONError) {
        self.text = text
        entries = try JSONIndex(text).entries
    }

    // MARK: Navigation

    package func kind(at place: Int) -> JSONIndex.Kind { entries[place].kind }

    /// The place after the value at `place` and everything in it.
    package func end(of place: Int) -> Int { Int(entries[place].next) }

    /// The places of an array's elements.
    package func elements(of array: Int) -> [Int] {
        var places: [Int] = []
        var place = array + 1
        while place < end(of: array) {
            places.append(place)
            place = end(of: place)
        }
        return places
    }

    /// The places of an object's keys; each value follows its key.
    package func keys(of object: Int) -> [Int] {
        var places: [Int] = []
        var place = object + 1
        while place < end(of: object) {
            places.append(place)
            place = end(of: place + 1)
        }
        return places
    }

    /// The place of the value for `name` in the object.
    package func value(of name: String, in object: Int) -> Int? {
        let end = end(of: object)
        let last = last
        if last.object == object {
            if matches(name, last.key) { return last.key + 1 }
            let following = self.end(of: last.key + 1)
            if following < end, matches(name, following) { return found(following, in: object) }
        }
        var place = object + 1
        while place < end {
            if matches(name, place) { return found(place, in: object) }
            place = self.end(of: place + 1)
        }
        return nil
    }

    @inline(__always)
    private func found(_ key: Int, in object: Int) -> Int {
        last = (object, key)
        return key + 1
    }

    /// Restores the position after decoding a value, which has looked up keys in its own objects.
    package func returned(from value: Int, in object: Int) {
        last = (object, value - 1)
    }

    @inline(__always)
    private func matches(_ name: String, _ key: Int) -> Bool {
        entries[key].kind == .key ? bytes(at: key) { $0.holds(name) } : ExactKey.areEqual(string(at: key), name)
    }

    @inline(__always)
    func bytes<Result>(at place: Int, _ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        let entry = entries[place]
        return text.withUnsafeBufferPointer { text in
            body(UnsafeBufferPointer(rebasing: text[Int(entry.offset)..<Int(entry.offset + entry.length)]))
        }
    }

    /// The text of a key or string.
    package func string(at place: Int) -> String {
        let isEscaped = entries[place].kind == .escapedString || entries[place].kind == .escapedKey
        return bytes(at: place) { isEscaped ? JSONEscapes.unescaped($0) : String(decoding: $0, as: UTF8.self) }
    }

    /// All bytes of a value.
    func wholeText(at place: Int) -> ArraySlice<UInt8> {
        let start = Int(entries[place].offset)
        switch entries[place].kind {
        case .string, .escapedString, .key, .escapedKey:
            return text[(start - 1)..<(start + Int(entries[place].length) + 1)]
        case .null, .yes, .no, .number, .array, .object: return text[start..<(start + Int(entries[place].length))]
        }
    }

    // MARK: Values

    package func bool(at place: Int) throws -> Bool {
        switch entries[place].kind {
        case .yes: true
        case .no: false
        default: throw mismatch(Bool.self, at: place)
        }
    }

    package func string(_ type: Any.Type, at place: Int) throws -> String {
        guard entries[place].kind == .string || entries[place].kind == .escapedString else {
            throw mismatch(type, at: place)
        }
        return string(at: place)
    }

    /// The exact integer, as wide as any type that could be asked for; `nil` if the number is none, or beyond all of them.
    package func wideInteger(_ type: Any.Type, at place: Int) throws -> Int128? {
        guard entries[place].kind == .number else { throw mismatch(type, at: place) }
        return bytes(at: place) { JSONWalker.number(in: $0)?.integer(as: Int128.self) }
    }

    /// A number as it is written.
    package func literal(ofNumber type: Any.Type, at place: Int) throws -> String {
        guard entries[place].kind == .number else { throw mismatch(type, at: place) }
        return bytes(at: place) { String(decoding: $0, as: UTF8.self) }
    }

    package func timestamp(_ type: Any.Type, at place: Int) throws -> RFC3339.Moment {
        let isPlain = kind(at: place) == .string
        guard let moment = isPlain ? bytes(at: place, RFC3339.parse) : RFC3339.parse(try string(type, at: place)) else {
            throw corrupted("Not a timestamp.", at: place)
        }
        return moment
    }

    package func json(at place: Int) throws -> JSON {
        do throws(JSONError) {
            return try JSON(parsing: wholeText(at: place))
        } catch {
            throw corrupted(error.description, at: place)
        }
    }

    package func double(at place: Int) throws -> Double {
        guard entries[place].kind == .number else { throw mismatch(Double.self, at: place) }
        guard let value = bytes(at: place, { JSONWalker.number(in: $0)?.double }) else {
            throw corrupted("The number does not fit Double.", at: place)
        }
        return value
    }

    package func float(at place: Int) throws -> Float {
        // From the text, not from the nearest Double, which would round twice.
        guard let value = Float(try literal(ofNumber: Float.self, at: place)), value.isFinite else {
            throw corrupted("The number does not fit Float.", at: place)
        }
        return value
    }

    // MARK: Errors

    package func mismatch(_ type: Any.Type, at place: Int) -> DecodingError {
        let context = context("Expected \(type), found \(kind(at: place).word).", at: place)
        return kind(at: place) == .null ? .valueNotFound(type, context) : .typeMismatch(type, context)
    }

    package func corrupted(_ reason: String, at place: Int) -> DecodingError {
        .dataCorrupted(context(reason, at: place))
    }

    package func context(_ reason: String, at place: Int) -> DecodingError.Context {
        DecodingError.Context(codingPath: path(to: place), debugDescription: reason)
    }

    /// Walks down from the root to `place`.
    package func path(to place: Int) -> [any CodingKey] {
        var path: [any CodingKey] = []
        var container = 0
        while container != place {
            switch kind(at: container) {
            case .array:
                guard let index = elements(of: container).lastIndex(where: { $0 <= place }) else { return path }
                path.append(JSONKey(index: index))
                container = elements(of: container)[index]
            case .object:
                guard let key = keys(of: container).last(where: { $0 < place }) else { return path }
                path.append(JSONKey(string(at: key)))
                container = key + 1
            default: return path
            }
        }
        return path
    }
}

extension JSONIndex.Kind {
    fileprivate var word: String {
        switch self {
        case .null: "null"
        case .yes, .no: "a boolean"
        case .number: "a number"
        case .string, .escapedString, .key, .escapedKey: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }
}
