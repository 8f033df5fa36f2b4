import Foundation
import Switchyard

/// Writes a record: one byte for the format version, then compact fields without names.
///
/// Equal values are written as the same bytes, so a record can be a key.
struct RecordWriter {
    /// The format version of all records. Increase it for a change that older readers cannot read; `RecordReader` then has to
    /// read both.
    static let version: UInt8 = 1

    /// How many maps and arrays a record has within each other: more than documents may have, and no more than a reader follows.
    static let maximumDepth = 200

    private(set) var bytes: [UInt8] = [RecordWriter.version]
    private var depth = 0
    /// Whether a value went deeper than ``maximumDepth``: then the bytes are no record.
    private(set) var isTooDeep = false

    init(capacity: Int = 64) { bytes.reserveCapacity(capacity) }

    mutating func write(byte: UInt8) { bytes.append(byte) }
    mutating func write(_ flag: Bool) { bytes.append(flag ? 1 : 0) }

    /// Seven bits in each byte, the lowest first; the highest bit says that more follow.
    mutating func write(unsigned value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    /// Small numbers of either sign are short.
    mutating func write(_ value: Int64) { write(unsigned: UInt64(bitPattern: (value << 1) ^ (value >> 63))) }
    mutating func write(_ value: Int) { write(Int64(value)) }
    mutating func write(count: Int) { write(unsigned: UInt64(count)) }

    mutating func write(_ value: Double) {
        let bits = value.isNaN ? Double.nan.bitPattern : value.bitPattern
        withUnsafeBytes(of: bits.littleEndian) { bytes.append(contentsOf: $0) }
    }

    mutating func write(_ text: String) {
        var text = text
        text.withUTF8 {
            write(count: $0.count)
            bytes.append(contentsOf: $0)
        }
    }

    mutating func write(_ data: some Collection<UInt8>) {
        write(count: data.count)
        bytes.append(contentsOf: data)
    }

    /// For recursive values. What lies too deep is left out.
    mutating func nested(_ body: (inout RecordWriter) -> Void) {
        guard depth < RecordWriter.maximumDepth else {
            isTooDeep = true
            return
        }
        depth += 1
        body(&self)
        depth -= 1
    }

    mutating func write<Value>(_ value: Value?, _ body: (inout RecordWriter, Value) -> Void) {
        write(value != nil)
        if let value { body(&self, value) }
    }

    mutating func write<Value>(_ values: [Value], _ body: (inout RecordWriter, Value) -> Void) {
        write(count: values.count)
        for value in values { body(&self, value) }
    }
}
