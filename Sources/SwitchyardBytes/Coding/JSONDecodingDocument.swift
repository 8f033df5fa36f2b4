import Foundation

/// A text with its index, shared by all containers of one decoding.
///
/// Coding paths are not tracked while decoding; they are computed from the index if an error needs one.
final class JSONDecodingDocument {
    private let text: [UInt8]
    private let entries: [JSONIndex.Entry]
    /// The key found last, and its object: usually the next key requested is the same or the following one.
    private var last = (object: -1, key: -1)

    init(text: [UInt8], index: JSONIndex) {
        self.text = text
        entries = index.entries
    }

    // MARK: Navigation

    func kind(at place: Int) -> JSONIndex.Kind { entries[place].kind }

    /// The place after the value at `place` and everything in it.
    func end(of place: Int) -> Int { Int(entries[place].next) }

    /// The places of an array's elements.
    func elements(of array: Int) -> [Int] {
        var places: [Int] = []
        var place = array + 1
        while place < end(of: array) {
            places.append(place)
            place = end(of: place)
        }
        return places
    }

    /// The places of an object's keys; each value follows its key.
    func keys(of object: Int) -> [Int] {
        var places: [Int] = []
        var place = object + 1
        while place < end(of: object) {
            places.append(place)
            place = end(of: place + 1)
        }
        return places
    }

    /// The place of the value for `name` in the object.
    func value(of name: String, in object: Int) -> Int? {
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
    func returned(from value: Int, in object: Int) {
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
    func string(at place: Int) -> String {
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

    func bool(at place: Int) throws -> Bool {
        switch entries[place].kind {
        case .yes: true
        case .no: false
        default: throw mismatch(Bool.self, at: place)
        }
    }

    func string(_ type: Any.Type, at place: Int) throws -> String {
        guard entries[place].kind == .string || entries[place].kind == .escapedString else {
            throw mismatch(type, at: place)
        }
        return string(at: place)
    }

    func integer<T: FixedWidthInteger>(_ type: T.Type, at place: Int) throws -> T {
        guard entries[place].kind == .number else { throw mismatch(type, at: place) }
        let value = bytes(at: place) { JSONWalker.number(in: $0).flatMap { $0.integer(as: T.self) } }
        guard let value else { throw corrupted("The number does not fit \(type).", at: place) }
        return value
    }

    func double(at place: Int) throws -> Double {
        guard entries[place].kind == .number else { throw mismatch(Double.self, at: place) }
        guard let value = bytes(at: place, { JSONWalker.number(in: $0)?.double }) else {
            throw corrupted("The number does not fit Double.", at: place)
        }
        return value
    }

    func float(at place: Int) throws -> Float {
        guard entries[place].kind == .number else { throw mismatch(Float.self, at: place) }
        // From the text, not from the nearest Double, which would round twice.
        guard let value = bytes(at: place, { Float(String(decoding: $0, as: UTF8.self)) }), value.isFinite else {
            throw corrupted("The number does not fit Float.", at: place)
        }
        return value
    }

    /// Gives `Date`, `Data`, `JSON`, `URL` and `Decimal` special formats; each cast is to the same type.
    func decode<T: Decodable>(_ type: T.Type, at place: Int) throws -> T {
        if type == Date.self { return try date(at: place) as! T }
        if type == Data.self { return try data(at: place) as! T }
        if type == JSON.self { return try json(at: place) as! T }
        if type == URL.self { return try url(at: place) as! T }
        if type == Decimal.self { return try decimal(at: place) as! T }
        return try T(from: JSONNodeDecoder(document: self, place: place))
    }

    private func data(at place: Int) throws -> Data {
        let text = try string(Data.self, at: place)
        guard let bytes = Base64.decode(text.utf8) else { throw corrupted("Not base64.", at: place) }
        return Data(bytes)
    }

    private func url(at place: Int) throws -> URL {
        guard let url = URL(string: try string(URL.self, at: place)) else { throw corrupted("Not a URL.", at: place) }
        return url
    }

    private func decimal(at place: Int) throws -> Decimal {
        guard kind(at: place) == .number else { throw mismatch(Decimal.self, at: place) }
        guard let value = bytes(at: place, { Decimal(string: String(decoding: $0, as: UTF8.self)) }) else {
            throw corrupted("The number does not fit Decimal.", at: place)
        }
        return value
    }

    private func date(at place: Int) throws -> Date {
        guard kind(at: place) == .string || kind(at: place) == .escapedString else {
            throw mismatch(Date.self, at: place)
        }
        guard
            let moment = kind(at: place) == .string
                ? bytes(at: place, RFC3339.parse) : RFC3339.parse(string(at: place))
        else { throw corrupted("Not a timestamp.", at: place) }
        return Date(timeIntervalSince1970: Double(moment.seconds) + Double(moment.nanoseconds) / 1e9)
    }

    private func json(at place: Int) throws -> JSON {
        do throws(JSONError) {
            return try JSON(parsing: wholeText(at: place))
        } catch {
            throw corrupted(error.description, at: place)
        }
    }

    // MARK: Errors

    func mismatch(_ type: Any.Type, at place: Int) -> DecodingError {
        let context = context("Expected \(type), found \(kind(at: place).word).", at: place)
        return kind(at: place) == .null ? .valueNotFound(type, context) : .typeMismatch(type, context)
    }

    func corrupted(_ reason: String, at place: Int) -> DecodingError { .dataCorrupted(context(reason, at: place)) }

    func context(_ reason: String, at place: Int) -> DecodingError.Context {
        DecodingError.Context(codingPath: path(to: place), debugDescription: reason)
    }

    /// Walks down from the root to `place`.
    func path(to place: Int) -> [any CodingKey] {
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
