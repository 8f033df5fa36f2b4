/// The positions of all values in a text: a flat list in text order, each container before its contents.
package struct JSONIndex {
    package enum Kind: UInt8, Sendable {
        case null, yes, no, number, string, escapedString, array, object, key, escapedKey
    }

    struct Entry: Sendable {
        let offset: UInt32
        /// The length of a literal without its quotation marks, or of a whole container.
        var length: UInt32
        /// The place after the entry and everything in it.
        var next: Int32
        let kind: Kind
    }

    private(set) var entries: [Entry] = []

    /// Validates the whole text, which may have up to 2 GB.
    init(_ text: [UInt8]) throws(JSONError) {
        guard text.count <= Int(Int32.max) else { throw JSONError(.tooLong, at: 0) }
        var builder = JSONIndexBuilder(expecting: text.count / 12)
        try text.withUnsafeBufferPointer { (bytes) throws(JSONError) in
            try JSONWalker.walk(bytes, JSONParsingOptions(), into: &builder)
        }
        entries = builder.entries
    }
}

private struct JSONIndexBuilder: JSONVisitor {
    private(set) var entries: [JSONIndex.Entry] = []
    private var open: [Int] = []

    init(expecting count: Int) { entries.reserveCapacity(count) }

    @inline(__always)
    private mutating func add(_ kind: JSONIndex.Kind, _ offset: Int, _ length: Int) {
        entries.append(
            JSONIndex.Entry(
                offset: UInt32(truncatingIfNeeded: offset), length: UInt32(truncatingIfNeeded: length),
                next: Int32(truncatingIfNeeded: entries.count + 1), kind: kind))
    }

    mutating func null(at offset: Int) { add(.null, offset, 4) }
    mutating func bool(_ value: Bool, at offset: Int) { add(value ? .yes : .no, offset, value ? 4 : 5) }
    mutating func number(_ token: JSONNumberToken) { add(.number, token.offset, token.bytes.count) }

    mutating func string(_ token: JSONStringToken) {
        add(token.hasEscapes ? .escapedString : .string, token.offset, token.bytes.count)
    }

    mutating func key(_ token: JSONStringToken) {
        add(token.hasEscapes ? .escapedKey : .key, token.offset, token.bytes.count)
    }

    mutating func beginArray(at offset: Int) { begin(.array, offset) }
    mutating func beginObject(at offset: Int) { begin(.object, offset) }
    mutating func endArray(at offset: Int) { end(offset) }
    mutating func endObject(at offset: Int) { end(offset) }

    private mutating func begin(_ kind: JSONIndex.Kind, _ offset: Int) {
        open.append(entries.count)
        add(kind, offset, 0)
    }

    private mutating func end(_ offset: Int) {
        let start = open.removeLast()
        entries[start].length = UInt32(truncatingIfNeeded: offset + 1) - entries[start].offset
        entries[start].next = Int32(truncatingIfNeeded: entries.count)
    }
}

/// A stack whose top part can be moved out as an array, without reference counting.
///
/// Unsafe inside, with one invariant: exactly the first `count` places of `storage` are initialized.
struct MoveStack<Element>: ~Copyable {
    private var storage: UnsafeMutablePointer<Element>
    private var capacity: Int
    private(set) var count = 0

    init(minimumCapacity: Int = 16) {
        capacity = minimumCapacity
        storage = .allocate(capacity: minimumCapacity)
    }

    deinit {
        storage.deinitialize(count: count)
        storage.deallocate()
    }

    @inline(__always)
    mutating func push(_ element: consuming Element) {
        if count == capacity { grow() }
        (storage + count).initialize(to: element)
        count += 1
    }

    /// The topmost element; there must be one.
    @inline(__always)
    var last: Element {
        _read {
            precondition(count > 0)
            yield storage[count - 1]
        }
        _modify {
            precondition(count > 0)
            yield &storage[count - 1]
        }
    }

    subscript(index: Int) -> Element {
        _read {
            precondition(index >= 0 && index < count)
            yield storage[index]
        }
    }

    /// Removes the elements from `start` on and returns them in order.
    mutating func pop(from start: Int) -> [Element] {
        precondition(start >= 0 && start <= count)
        let removed = count - start
        count = start
        let source = storage + start
        // The type of a literal's storage is known at compile time; other arrays look it up at run time.
        switch removed {
        case 0: return []
        case 1: return [source.move()]
        case 2: return [source.move(), (source + 1).move()]
        case 3: return [source.move(), (source + 1).move(), (source + 2).move()]
        default:
            return [Element](unsafeUninitializedCapacity: removed) { target, initialized in
                target.baseAddress!.moveInitialize(from: source, count: removed)
                initialized = removed
            }
        }
    }

    private mutating func grow() {
        let larger = UnsafeMutablePointer<Element>.allocate(capacity: capacity * 2)
        larger.moveInitialize(from: storage, count: count)
        storage.deallocate()
        storage = larger
        capacity *= 2
    }
}
