import Foundation

/// The rules for path segments, and the order of paths.
package enum PathSegment {
    static let maximumBytes = 1500
    static let maximumDepth = 100
    static let slash = UInt8(ascii: "/")

    /// The parts between slashes. Compares bytes: to Swift, a slash followed by an accent is another character.
    static func parts(of text: String) -> [Substring] {
        text.utf8.split(separator: slash, omittingEmptySubsequences: false).map(Substring.init)
    }

    /// Why `text` is not a document or collection path; `nil` if it is one.
    static func problem(in text: String, isDocument: Bool) -> String? {
        var text = text
        // Nearly all paths are valid, and one pass over their bytes shows it.
        if text.withUTF8({ isRight($0, isDocument: isDocument) }) { return nil }
        if let problem = depthProblem(in: text) { return problem }
        let segments = parts(of: text)
        for segment in segments {
            if let problem = problem(with: segment) { return problem }
        }
        guard segments.count.isMultiple(of: 2) == isDocument else {
            let wanted = isDocument ? "an even" : "an odd"
            return "collections and documents take turns, so it needs \(wanted) number of segments; "
                + "it has \(segments.count)"
        }
        return nil
    }

    /// Whether this is certainly a path. Segments that begin like unusual ones need a closer look.
    private static func isRight(_ bytes: UnsafeBufferPointer<UInt8>, isDocument: Bool) -> Bool {
        var segments = 0
        var start = 0
        for index in 0...bytes.count {
            if index < bytes.count, bytes[index] != slash {
                if bytes[index] == 0 { return false }
                continue
            }
            guard start < index, index - start <= maximumBytes, bytes[start] != UInt8(ascii: "."),
                bytes[start] != UInt8(ascii: "_")
            else { return false }
            segments += 1
            start = index + 1
        }
        return segments <= maximumDepth && segments.isMultiple(of: 2) == isDocument
    }

    /// The same for text whose segments are known to be valid; only checks their number.
    static func depthProblem(in text: String) -> String? {
        let count = text.utf8.count(where: { $0 == slash }) + 1
        return count <= maximumDepth ? nil : "it has \(count) segments, and \(maximumDepth) are the most"
    }

    /// Why `segment` is not a legal segment; `nil` if it is one.
    static func problem(with segment: some StringProtocol) -> String? {
        let bytes = segment.utf8
        if bytes.isEmpty { return "it has an empty segment" }
        if bytes.count <= 2, bytes.allSatisfy({ $0 == UInt8(ascii: ".") }) {
            return "a segment cannot be “.” or “..”"
        }
        if bytes.contains(slash) { return "a segment cannot contain a slash" }
        if bytes.contains(0) { return "a segment cannot contain a NUL character" }
        if bytes.count > maximumBytes { return "a segment has at most \(maximumBytes) bytes of UTF-8" }
        if isReserved(bytes), numericID(segment) == nil {
            return "a segment cannot begin and end with two underscores; such names are reserved"
        }
        return nil
    }

    /// Whether a name begins and ends with two underscores. Compares bytes, as servers do.
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
        // Numeric segments do not sort by their bytes. That matters only if the two paths differ in this segment.
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

    /// A cheap check without false negatives; ``numericID(_:)`` decides.
    private static func isNumeric(_ segment: UnsafeBufferPointer<UInt8>.SubSequence) -> Bool {
        segment.count > 6 && segment.starts(with: "__id".utf8)
    }
}
