/// What Foundation has as well. But there it comes with all of Foundation's Unicode data, which would add more than 30 MB to
/// every static program.
extension StringProtocol {
    /// Whether the bytes of `text` occur in it. The standard library's search would add more than a megabyte as well, for
    /// regular expressions.
    package func includes(_ text: some StringProtocol) -> Bool { part(after: text) != nil }

    /// What follows the first occurrence of the bytes of `text`; `nil` if there is none.
    package func part(after text: some StringProtocol) -> SubSequence? {
        let (whole, part) = (Array(utf8), Array(text.utf8))
        guard part.count <= whole.count,
            let start = (0...(whole.count - part.count)).first(where: {
                whole[$0..<($0 + part.count)].elementsEqual(part)
            })
        else { return nil }
        return self[utf8.index(startIndex, offsetBy: start + part.count)...]
    }

    /// Without white space and line breaks at its ends.
    package var trimmed: String {
        guard let first = firstIndex(where: { !$0.isWhitespace }), let last = lastIndex(where: { !$0.isWhitespace })
        else {
            return ""
        }
        return String(self[first...last])
    }
}

/// Validates UTF-8 according to the Unicode standard: shortest form, no surrogates, at most U+10FFFF.
package enum UTF8Check {
    /// The start of the first malformed sequence; `nil` if there is none.
    package static func firstFlaw(in bytes: UnsafeBufferPointer<UInt8>) -> Int? {
        guard let base = bytes.baseAddress else { return nil }
        let count = bytes.count
        var position = 0
        while position < count {
            let lead = base[position]
            if lead < 0x80 {
                position += 1
                continue
            }
            let length: Int
            var second: ClosedRange<UInt8> = 0x80...0xBF
            switch lead {
            case 0xC2...0xDF: length = 2
            case 0xE0: (length, second) = (3, 0xA0...0xBF)
            case 0xED: (length, second) = (3, 0x80...0x9F)
            case 0xE1...0xEF: length = 3
            case 0xF0: (length, second) = (4, 0x90...0xBF)
            case 0xF4: (length, second) = (4, 0x80...0x8F)
            case 0xF1...0xF3: length = 4
            default: return position
            }
            guard position + length <= count, second.contains(base[position + 1]) else { return position }
            if length > 2, base[position + 2] & 0xC0 != 0x80 { return position }
            if length > 3, base[position + 3] & 0xC0 != 0x80 { return position }
            position += length
        }
        return nil
    }

    package static func isValid(_ bytes: [UInt8]) -> Bool {
        bytes.withUnsafeBufferPointer { firstFlaw(in: $0) } == nil
    }
}
