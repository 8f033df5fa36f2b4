import Foundation
import Switchyard

/// Reads records of `RecordWriter`. Any other bytes cause an error: every length is checked first.
///
/// Borrows the bytes; it must not outlive the call that lends them.
struct RecordReader {
    private let bytes: UnsafeRawBufferPointer
    private var position = 0
    private var depth = 0

    init(_ bytes: UnsafeRawBufferPointer) throws(StorageError) {
        self.bytes = bytes
        let version = try byte()
        guard version == RecordWriter.version else { throw RecordReader.damage }
    }

    static var damage: StorageError {
        StorageError(
            .localStore, "The data kept on this device is damaged: a record cannot be read.", underlying: Damage())
    }

    /// Marks an error as damaged contents, as opposed to a temporary failure.
    struct Damage: Error {}

    var isAtEnd: Bool { position == bytes.count }

    var nextByte: UInt8? { isAtEnd ? nil : bytes[position] }

    mutating func byte() throws(StorageError) -> UInt8 {
        guard position < bytes.count else { throw RecordReader.damage }
        position += 1
        return bytes[position - 1]
    }

    mutating func bool() throws(StorageError) -> Bool {
        switch try byte() {
        case 0: false
        case 1: true
        default: throw RecordReader.damage
        }
    }

    mutating func unsigned() throws(StorageError) -> UInt64 {
        // Most numbers are lengths, and have one byte.
        if position < bytes.count, bytes[position] < 0x80 {
            position += 1
            return UInt64(bytes[position - 1])
        }
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while true {
            let next = try byte()
            guard shift < 63 || (shift == 63 && next <= 1) else { throw RecordReader.damage }
            value |= UInt64(next & 0x7F) << shift
            if next < 0x80 { return value }
            shift += 7
        }
    }

    mutating func skipNumber() throws(StorageError) {
        while try byte() >= 0x80 {}
    }

    mutating func integer() throws(StorageError) -> Int64 {
        let value = try unsigned()
        return Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
    }

    mutating func int() throws(StorageError) -> Int { Int(try integer()) }

    /// The number of elements that follow. Each takes at least a byte, so damaged data cannot demand more memory than its
    /// size.
    mutating func count() throws(StorageError) -> Int {
        guard let count = Int(exactly: try unsigned()), count <= bytes.count - position else {
            throw RecordReader.damage
        }
        return count
    }

    mutating func double() throws(StorageError) -> Double {
        guard bytes.count - position >= 8 else { throw RecordReader.damage }
        defer { position += 8 }
        let bits = bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self)
        return Double(bitPattern: UInt64(littleEndian: bits))
    }

    mutating func string() throws(StorageError) -> String { String(decoding: try slice(), as: UTF8.self) }
    mutating func data() throws(StorageError) -> Data { Data(try slice()) }
    mutating func byteArray() throws(StorageError) -> [UInt8] { [UInt8](try slice()) }

    /// The bytes of a text or of data, in place.
    mutating func slice() throws(StorageError) -> UnsafeRawBufferPointer {
        let count = try count()
        defer { position += count }
        return UnsafeRawBufferPointer(rebasing: bytes[position..<position + count])
    }

    mutating func skip(_ count: Int) throws(StorageError) {
        guard count <= bytes.count - position else { throw RecordReader.damage }
        position += count
    }

    mutating func optional<Value>(
        _ body: (inout RecordReader) throws(StorageError) -> Value
    ) throws(StorageError) -> Value? {
        try bool() ? try body(&self) : nil
    }

    mutating func array<Value>(
        _ body: (inout RecordReader) throws(StorageError) -> Value
    ) throws(StorageError) -> [Value] {
        let count = try count()
        var values: [Value] = []
        values.reserveCapacity(count)
        for _ in 0..<count { values.append(try body(&self)) }
        return values
    }

    /// For recursive values: damaged bytes must not exhaust the stack.
    mutating func nested<Value>(
        _ body: (inout RecordReader) throws(StorageError) -> Value
    ) throws(StorageError) -> Value {
        guard depth < RecordWriter.maximumDepth else { throw RecordReader.damage }
        depth += 1
        defer { depth -= 1 }
        return try body(&self)
    }
}
