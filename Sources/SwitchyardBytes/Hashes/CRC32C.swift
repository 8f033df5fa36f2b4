import CSwitchyardChecksum

/// The Castagnoli checksum of RFC 3720, computed with the processor's instruction, or with tables at sixteen bytes per step.
package struct CRC32C: Hashable, Sendable {
    private var state: UInt32 = .max

    package init() {}

    /// Continues after bytes with the checksum `value`.
    package init(resuming value: UInt32) { state = ~value }

    /// The checksum of everything so far; updates may follow.
    package var value: UInt32 { ~state }

    /// The four bytes in the order used by cloud storage services, most significant first.
    package var bytes: [UInt8] { withUnsafeBytes(of: value.bigEndian) { Array($0) } }

    package static func checksum(of bytes: some Collection<UInt8>) -> UInt32 {
        var crc = CRC32C()
        crc.update(bytes)
        return crc.value
    }

    package mutating func update(_ bytes: some Collection<UInt8>) {
        if bytes.withContiguousStorageIfAvailable({ update(UnsafeRawBufferPointer($0)) }) == nil {
            Array(bytes).withUnsafeBytes { update($0) }
        }
    }

    package mutating func update(_ bytes: Span<UInt8>) {
        bytes.withUnsafeBytes { update($0) }
    }

    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        if Self.isInstruction {
            state = cchecksum_crc32c(state, bytes.baseAddress, bytes.count)
        } else {
            updateByTables(bytes)
        }
    }

    private static let isInstruction = cchecksum_has_crc32c()

    /// The implementation for processors without the instruction.
    package mutating func updateByTables(_ bytes: UnsafeRawBufferPointer) {
        state = Self.tables.withUnsafeBufferPointer { tables in
            var state = state
            var position = 0
            while position + 16 <= bytes.count {
                let first = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self))
                let second = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: position + 8, as: UInt64.self))
                // Two independent halves; only the first one depends on earlier bytes.
                let behind = Self.advanced(second, by: 0, tables)
                state = Self.advanced(first ^ UInt64(state), by: 8, tables) ^ behind
                position += 16
            }
            while position < bytes.count {
                state = state &>> 8 ^ tables[Int(truncatingIfNeeded: state ^ UInt32(bytes[position])) & 0xFF]
                position += 1
            }
            return state
        }
    }

    /// The effect of eight bytes followed by `zeros` bytes.
    @inline(__always)
    private static func advanced(_ word: UInt64, by zeros: Int, _ tables: UnsafeBufferPointer<UInt32>) -> UInt32 {
        func look(_ index: Int) -> UInt32 {
            tables[(7 - index + zeros) << 8 | Int(truncatingIfNeeded: word &>> UInt64(8 * index)) & 0xFF]
        }
        return (look(0) ^ look(1)) ^ (look(2) ^ look(3)) ^ ((look(4) ^ look(5)) ^ (look(6) ^ look(7)))
    }

    /// Table `k` advances a byte over `k` more zero bytes.
    private static let tables: [UInt32] = {
        var tables = (0..<256).map { (byte: UInt32) -> UInt32 in
            (0..<8).reduce(byte) { value, _ in value & 1 == 1 ? value &>> 1 ^ 0x82F6_3B78 : value &>> 1 }
        }
        for index in 256..<4096 {
            let before = tables[index - 256]
            tables.append(before &>> 8 ^ tables[Int(before & 0xFF)])
        }
        return tables
    }()
}
