/// Appends parts of a JSON text, for code that writes one directly.
package enum JSONText {
    /// A string literal with quotation marks. Escapes only what RFC 8259 requires.
    package static func append(_ text: String, to output: inout [UInt8]) {
        var text = text
        text.withUTF8 { append(utf8: $0, to: &output) }
    }

    /// Like `append(_:to:)`, for bytes known to be valid UTF-8.
    static func append(utf8 bytes: UnsafeBufferPointer<UInt8>, to output: inout [UInt8]) {
        output.append(UInt8(ascii: "\""))
        if let base = bytes.baseAddress {
            var start = 0
            while true {
                let stop = firstToEscape(base, bytes.count, from: start)
                output.append(contentsOf: UnsafeBufferPointer(start: base + start, count: stop - start))
                guard stop < bytes.count else { break }
                appendEscaped(base[stop], to: &output)
                start = stop + 1
            }
        }
        output.append(UInt8(ascii: "\""))
    }

    package static func append(_ value: some FixedWidthInteger, to output: inout [UInt8]) {
        if value < 0 { output.append(UInt8(ascii: "-")) }
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { digits in
            var rest = UInt64(value.magnitude)
            var start = 20
            repeat {
                let (quotient, digit) = rest.quotientAndRemainder(dividingBy: 10)
                start -= 1
                digits.initializeElement(at: start, to: UInt8(ascii: "0") + UInt8(truncatingIfNeeded: digit))
                rest = quotient
            } while rest > 0
            output.append(contentsOf: UnsafeBufferPointer(rebasing: digits[start...]))
        }
    }

    package static func append(_ value: Bool, to output: inout [UInt8]) {
        append(literal: value ? "true" : "false", to: &output)
    }

    /// A timestamp as a string literal.
    package static func append(_ moment: RFC3339.Moment, to output: inout [UInt8]) {
        output.append(UInt8(ascii: "\""))
        RFC3339.append(moment, to: &output)
        output.append(UInt8(ascii: "\""))
    }

    /// The shortest text that reads back as the same `Double`, with a fraction or an exponent; `null` if not finite.
    package static func append(_ value: Double, to output: inout [UInt8]) {
        if value.isFinite {
            output.append(contentsOf: value.description.utf8)
        } else {
            append(literal: "null", to: &output)
        }
    }

    package static func append(literal: StaticString, to output: inout [UInt8]) {
        output.append(
            contentsOf: UnsafeBufferPointer(start: literal.utf8Start, count: literal.utf8CodeUnitCount))
    }

    @inline(__always)
    private static func firstToEscape(_ base: UnsafePointer<UInt8>, _ count: Int, from start: Int)
        -> Int
    {
        var position = start
        while position + 8 <= count {
            let safe = ByteWord(loading: base + position).firstQuoteBackslashOrControl
            position += safe
            if safe < 8 { return position }
        }
        while position < count {
            let byte = base[position]
            if byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { return position }
            position += 1
        }
        return count
    }

    private static func appendEscaped(_ byte: UInt8, to output: inout [UInt8]) {
        output.append(UInt8(ascii: "\\"))
        switch byte {
        case 0x08: output.append(UInt8(ascii: "b"))
        case 0x09: output.append(UInt8(ascii: "t"))
        case 0x0A: output.append(UInt8(ascii: "n"))
        case 0x0C: output.append(UInt8(ascii: "f"))
        case 0x0D: output.append(UInt8(ascii: "r"))
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): output.append(byte)
        default:
            append(literal: "u00", to: &output)
            output.append(Hex.digit(byte >> 4))
            output.append(Hex.digit(byte & 15))
        }
    }
}
