import Foundation

/// What every path consists of: the rules for one segment, and the order of two paths.
package enum PathSegment {
    static let maximumBytes = 1500
    static let maximumDepth = 100

    /// Splits `text` at slashes and checks each part.
    static func split(_ text: String, as what: String) throws(StorageError) -> [Substring] {
        let segments = parts(of: text)
        guard segments.count <= maximumDepth else {
            throw .invalid("A \(what) has at most \(maximumDepth) segments, this one has \(segments.count).")
        }
        for segment in segments { try check(segment, in: what) }
        return segments
    }

    /// The parts between slashes. By bytes: to Swift a slash with an accent behind it is another character.
    static func parts(of text: String) -> [Substring] {
        text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map(Substring.init)
    }

    static func check(_ segment: some StringProtocol, in what: String) throws(StorageError) {
        let bytes = segment.utf8
        if bytes.isEmpty {
            throw .invalid("A \(what) has an empty segment; remove the leading, trailing or double slash.")
        }
        if bytes.count <= 2, bytes.allSatisfy({ $0 == UInt8(ascii: ".") }) {
            throw .invalid("A segment of a \(what) cannot be “.” or “..”.")
        }
        if bytes.contains(UInt8(ascii: "/")) { throw .invalid("A segment of a \(what) cannot contain a slash.") }
        if bytes.contains(0) { throw .invalid("A segment of a \(what) cannot contain a NUL character.") }
        if bytes.count > maximumBytes {
            throw .invalid("A segment of a \(what) has at most \(maximumBytes) bytes of UTF-8.")
        }
        if isReserved(bytes), numericID(segment) == nil {
            throw .invalid("A segment of a \(what) cannot begin and end with two underscores; such names are reserved.")
        }
    }

    /// Whether a name begins and ends with two underscores. By bytes, as servers look at it.
    static func isReserved(_ name: some Collection<UInt8>) -> Bool {
        name.count >= 4 && name.starts(with: "__".utf8) && name.suffix(2).elementsEqual("__".utf8)
    }

    /// The number in a segment `__id<number>__`, the one reserved form that exists in stored data.
    package static func numericID(_ segment: some StringProtocol) -> Int64? {
        let bytes = segment.utf8
        guard bytes.count > 6, isReserved(bytes), bytes.starts(with: "__id".utf8) else { return nil }
        let text = String(decoding: bytes.dropFirst(4).dropLast(2), as: UTF8.self)
        guard let number = Int64(text), String(number) == text else { return nil }
        return number
    }

    /// Segment by segment: numeric ones first and by number, the others by UTF-8; a path before those below it.
    static func ordering(_ left: String, _ right: String) -> Ordering {
        var left = left
        var right = right
        return left.withUTF8 { left in right.withUTF8 { right in ordering(left, right) } }
    }

    private static func ordering(_ left: UnsafeBufferPointer<UInt8>, _ right: UnsafeBufferPointer<UInt8>) -> Ordering {
        let slash = UInt8(ascii: "/")
        let common = min(left.count, right.count)
        var index = 0
        var segmentStart = 0
        while index < common, left[index] == right[index] {
            if left[index] == slash { segmentStart = index + 1 }
            index += 1
        }
        if index == left.count && index == right.count { return .same }
        // Segments may be numeric, and then their bytes say nothing. Both must differ in this segment for that to matter.
        let leftSegment = segment(of: left, from: segmentStart)
        let rightSegment = segment(of: right, from: segmentStart)
        if isNumeric(leftSegment) || isNumeric(rightSegment) {
            let leftNumber = numericID(String(decoding: leftSegment, as: UTF8.self))
            let rightNumber = numericID(String(decoding: rightSegment, as: UTF8.self))
            switch (leftNumber, rightNumber) {
            case (let left?, let right?) where left != right: return Ordering(left, right)
            case (_?, nil): return .before
            case (nil, _?): return .after
            default: break
            }
        }
        // The end of a segment sorts before any byte.
        let leftByte = index < left.count && left[index] != slash ? Int(left[index]) : -1
        let rightByte = index < right.count && right[index] != slash ? Int(right[index]) : -1
        return Ordering(leftByte, rightByte).then(Ordering(left.count, right.count))
    }

    private static func segment(
        of text: UnsafeBufferPointer<UInt8>, from start: Int
    ) -> UnsafeBufferPointer<UInt8>.SubSequence {
        let rest = text[start...]
        return rest[start..<(rest.firstIndex(of: UInt8(ascii: "/")) ?? text.count)]
    }

    /// Cheap, and right for all that are; ``numericID(_:)`` decides.
    private static func isNumeric(_ segment: UnsafeBufferPointer<UInt8>.SubSequence) -> Bool {
        segment.count > 6 && segment.starts(with: "__id".utf8)
    }
}
