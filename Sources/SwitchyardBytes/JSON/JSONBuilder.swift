/// Builds the value. Two stacks hold the elements and members of all open containers; a container that closes moves its part
/// into an array of exactly the right size, without growing, copying or unused space.
struct JSONBuilder: JSONVisitor, ~Copyable {
    private struct Container {
        let isObject: Bool
        /// The start of its part of the stack.
        let start: Int
        var keys = RepeatedKeyFilter()
        var hasRepeatedKeys = false
    }

    private let duplicateKeys: JSONParsingOptions.DuplicateKeys
    private let largeNumbers: JSONParsingOptions.LargeNumbers
    private var values = MoveStack<JSON>()
    /// The last member of an open object is `null` until its value is known.
    private var members = MoveStack<JSONObject.Member>()
    private var container = Container(isObject: false, start: 0)
    private var enclosing: [Container] = []
    private var cache = KeyCache()
    /// For large objects only, by depth.
    private var knownKeys: [Int: KnownKeys] = [:]

    /// - Parameter cache: Taken until `finish` gives it back.
    init(_ options: JSONParsingOptions, _ cache: inout KeyCache) {
        duplicateKeys = options.duplicateKeys
        largeNumbers = options.largeNumbers
        enclosing.reserveCapacity(16)
        swap(&self.cache, &cache)
    }

    /// The value, after a walk that did not throw.
    consuming func finish(_ cache: inout KeyCache) -> JSON {
        swap(&self.cache, &cache)
        return values.last
    }

    @inline(__always)
    private mutating func deliver(_ value: consuming JSON) {
        if container.isObject { members.last.value = value } else { values.push(value) }
    }

    @inline(__always)
    mutating func null(at offset: Int) {
        if !container.isObject { values.push(.null) }
    }

    @inline(__always)
    mutating func bool(_ value: Bool, at offset: Int) { deliver(.bool(value)) }

    @inline(__always)
    mutating func number(_ token: JSONNumberToken) throws(JSONError) {
        if let integer = token.int64 {
            deliver(.integer(integer))
        } else if let double = token.double {
            deliver(.number(double))
        } else if largeNumbers == .infinite {
            deliver(.number(token.isNegative ? -.infinity : .infinity))
        } else {
            throw JSONError(.numberOutOfRange, at: token.offset)
        }
    }

    @inline(__always)
    mutating func string(_ token: JSONStringToken) { deliver(.string(token.text())) }

    @inline(__always)
    mutating func key(_ token: JSONStringToken) throws(JSONError) {
        let key = cache.text(of: token)
        if container.keys.mayRepeat(token), repeats(key) {
            if duplicateKeys == .refuse { throw JSONError(.duplicateKey, at: token.offset - 1) }
            container.hasRepeatedKeys = true
        }
        members.push(JSONObject.Member(key: key, value: .null))
    }

    private mutating func repeats(_ key: String) -> Bool {
        if members.count - container.start > KnownKeys.linearLimit {
            return knownKeys[enclosing.count, default: KnownKeys()].contains(key, among: members, from: container.start)
        }
        for index in container.start..<members.count where ExactKey.areEqual(members[index].key, key) { return true }
        return false
    }

    mutating func beginArray(at offset: Int) { open(Container(isObject: false, start: values.count)) }

    mutating func beginObject(at offset: Int) {
        open(Container(isObject: true, start: members.count))
    }

    private mutating func open(_ inner: consuming Container) {
        enclosing.append(container)
        container = inner
    }

    mutating func endArray(at offset: Int) {
        let elements = values.pop(from: container.start)
        container = enclosing.removeLast()
        deliver(.array(elements))
    }

    mutating func endObject(at offset: Int) {
        let object = JSONObject(distinct: members.pop(from: container.start))
        let hasRepeatedKeys = container.hasRepeatedKeys
        if !knownKeys.isEmpty { knownKeys[enclosing.count] = nil }
        container = enclosing.removeLast()
        deliver(
            .object(
                hasRepeatedKeys
                    ? object.withoutRepeatedKeys(keepingFirst: duplicateKeys == .keepFirst) : object))
    }
}
