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
            try JSONWalker.walk(bytes, JSONParsingOptions(), telling: &builder)
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
