import Foundation

/// The relative order of two values.
package enum Ordering: Int8, Sendable {
    case before = -1
    case same = 0
    case after = 1

    package var reversed: Ordering { Ordering(rawValue: -rawValue)! }

    /// `self`, unless that is `.same`; then `next`.
    @inlinable
    package func then(_ next: @autoclosure () -> Ordering) -> Ordering { self == .same ? next() : self }

    package init<T: Comparable>(_ left: T, _ right: T) {
        self = left < right ? .before : (left == right ? .same : .after)
    }
}

/// Documents compare text by its UTF-8 bytes. Swift's own `==` and `<` do not: they consider `é` and `e` + accent equal.
extension String {
    package func utf8Equals(_ other: String) -> Bool {
        // The same few bytes in the same words, or the same storage, which is never changed while it is shared: mostly, texts that
        // are equal. Where a text is of another size, all are compared by their bytes.
        if MemoryLayout<String>.size == MemoryLayout<Words>.size,
            unsafeBitCast(self, to: Words.self) == unsafeBitCast(other, to: Words.self)
        {
            return true
        }
        return utf8.count == other.utf8.count && utf8Ordering(to: other) == .same
    }

    private struct Words: Equatable {
        let first: UInt
        #if _pointerBitWidth(_32)
            let middle: UInt
        #endif
        let last: UInt
    }

    /// The bytes of the text, copying at most a few of them.
    @inlinable
    package func withBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        // In place if possible, which avoids copying the string and updating its reference count.
        if let result = utf8.withContiguousStorageIfAvailable(body) { return result }
        var copy = self
        return copy.withUTF8(body)
    }

    package func utf8Ordering(to other: String) -> Ordering {
        withBytes { left in other.withBytes { right in left.ordering(to: right) } }
    }

    /// The first eight bytes as a number. Two strings with different ranks sort by them; with the same rank they may still
    /// differ.
    var utf8Rank: UInt64 { withBytes(\.rank) }

    package func hashUTF8(into hasher: inout Hasher) {
        withBytes { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        hasher.combine(0xFF as UInt8)
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// - Parameter other: No longer than this.
    func begins(with other: UnsafeBufferPointer<UInt8>) -> Bool {
        other.isEmpty || memcmp(baseAddress!, other.baseAddress!, other.count) == 0
    }

    /// The first eight bytes as a number.
    package var rank: UInt64 {
        if count >= 8 { return UInt64(bigEndian: UnsafeRawPointer(baseAddress!).loadUnaligned(as: UInt64.self)) }
        var rank: UInt64 = 0
        for byte in self { rank = rank << 8 | UInt64(byte) }
        return rank << (8 * (8 - count))
    }

    /// Byte by byte, then the shorter one first.
    func ordering(to other: UnsafeBufferPointer<UInt8>) -> Ordering {
        let common = Swift.min(count, other.count)
        if common > 0 {
            // Most texts differ in their first byte, which costs less than a call.
            if self[0] != other[0] { return self[0] < other[0] ? .before : .after }
            let difference = memcmp(baseAddress!, other.baseAddress!, common)
            if difference != 0 { return difference < 0 ? .before : .after }
        }
        return Ordering(count, other.count)
    }
}

/// A string as a dictionary key that is equal only to the same bytes.
package struct UTF8Key: Hashable, Sendable {
    package let string: String
    package init(_ string: String) { self.string = string }
    package static func == (left: UTF8Key, right: UTF8Key) -> Bool { left.string.utf8Equals(right.string) }
    package func hash(into hasher: inout Hasher) { string.hashUTF8(into: &hasher) }
}
