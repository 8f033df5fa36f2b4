/// The escape sequences of JSON strings: validated by the walker, resolved when a string is created.
enum JSONEscapes {
    /// Validates the sequence whose backslash is at `position`, or a whole surrogate pair.
    ///
    /// - Returns: The position after it.
    static func check(
        _ base: UnsafePointer<UInt8>, _ count: Int, at position: Int,
        lone: JSONParsingOptions.LoneSurrogates
    ) throws(JSONError) -> Int {
        guard position + 1 < count else { throw JSONError(.unexpectedEnd, at: count) }
        switch base[position + 1] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"),
            UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            return position + 2
        case UInt8(ascii: "u"):
            break
        default:
            throw JSONError(.malformedEscape, at: position)
        }
        guard let unit = codeUnit(base, count, at: position) else {
            throw JSONError(position + 6 <= count ? .malformedEscape : .unexpectedEnd, at: position)
        }
        if UTF16.isLeadSurrogate(unit), let next = codeUnit(base, count, at: position + 6),
            UTF16.isTrailSurrogate(next)
        {
            return position + 12
        }
        if lone == .refuse, UTF16.isSurrogate(unit) { throw JSONError(.loneSurrogate, at: position) }
        return position + 6
    }

    /// The text of `bytes`, whose escapes are already validated. A lone surrogate becomes U+FFFD.
    static func unescaped(_ bytes: UnsafeBufferPointer<UInt8>) -> String {
        // Resolving never makes a sequence longer.
        String(unsafeUninitializedCapacity: bytes.count) { output in
            guard let base = bytes.baseAddress else { return 0 }
            var written = 0
            var position = 0
            while position < bytes.count {
                guard base[position] == UInt8(ascii: "\\") else {
                    output[written] = base[position]
                    written += 1
                    position += 1
                    continue
                }
                if let simple = simple(base[position + 1]) {
                    output[written] = simple
                    written += 1
                    position += 2
                    continue
                }
                let (scalar, length) = scalar(base, bytes.count, at: position)
                for unit in UTF8.encode(scalar)! {
                    output[written] = unit
                    written += 1
                }
                position += length
            }
            return written
        }
    }

    private static func simple(_ letter: UInt8) -> UInt8? {
        switch letter {
        case UInt8(ascii: "u"): nil
        case UInt8(ascii: "b"): 0x08
        case UInt8(ascii: "f"): 0x0C
        case UInt8(ascii: "n"): 0x0A
        case UInt8(ascii: "r"): 0x0D
        case UInt8(ascii: "t"): 0x09
        default: letter
        }
    }

    /// The scalar of a `\u` sequence and the number of bytes of its encoding.
    private static func scalar(
        _ base: UnsafePointer<UInt8>, _ count: Int, at position: Int
    ) -> (Unicode.Scalar, Int) {
        let replacement: Unicode.Scalar = "\u{FFFD}"
        guard let unit = codeUnit(base, count, at: position) else { return (replacement, 6) }
        if let scalar = Unicode.Scalar(unit) { return (scalar, 6) }
        guard UTF16.isLeadSurrogate(unit), let next = codeUnit(base, count, at: position + 6),
            UTF16.isTrailSurrogate(next)
        else { return (replacement, 6) }
        let value = 0x10000 + (UInt32(unit & 0x3FF) << 10 | UInt32(next & 0x3FF))
        return (Unicode.Scalar(value) ?? replacement, 12)
    }

    /// The four hexadecimal digits of a complete `\uXXXX` at `position`.
    private static func codeUnit(_ base: UnsafePointer<UInt8>, _ count: Int, at position: Int)
        -> UInt16?
    {
        guard position + 6 <= count, base[position] == UInt8(ascii: "\\"),
            base[position + 1] == UInt8(ascii: "u")
        else { return nil }
        var unit: UInt16 = 0
        for index in 2..<6 {
            guard let digit = Hex.value(of: base[position + index]) else { return nil }
            unit = unit << 4 | UInt16(digit)
        }
        return unit
    }
}
