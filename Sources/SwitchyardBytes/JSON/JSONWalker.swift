/// The grammar of RFC 8259, used by everything that reads JSON.
///
/// It works without recursion, so depth costs some heap but no stack. The only unsafe part is reading through a pointer: each
/// read is preceded by a comparison with `count`, and the pointer never leaves the call of `walk`.
struct JSONWalker {
    private let base: UnsafePointer<UInt8>
    private let count: Int
    private let options: JSONParsingOptions
    private var position = 0

    /// Walks through the single value in `text`, which may be surrounded by white space.
    static func walk(
        _ text: UnsafeBufferPointer<UInt8>, _ options: JSONParsingOptions,
        into visitor: inout some JSONVisitor & ~Copyable
    ) throws(JSONError) {
        guard let base = text.baseAddress else { throw JSONError(.unexpectedEnd, at: 0) }
        var walker = JSONWalker(base: base, count: text.count, options: options)
        try walker.walk(&visitor)
    }

    /// The number in `literal`, which is already validated.
    static func number(in literal: UnsafeBufferPointer<UInt8>) -> JSONNumberToken? {
        guard let base = literal.baseAddress else { return nil }
        var walker = JSONWalker(base: base, count: literal.count, options: JSONParsingOptions())
        return try? walker.scanNumber()
    }

    private init(base: UnsafePointer<UInt8>, count: Int, options: JSONParsingOptions) {
        self.base = base
        self.count = count
        self.options = options
    }

    private mutating func walk(_ visitor: inout some JSONVisitor & ~Copyable) throws(JSONError) {
        // For each open container but the innermost, whether it is an object.
        var enclosing: [Bool] = []
        enclosing.reserveCapacity(16)
        var isInObject = false
        var depth = 0

        value: while true {
            switch try peekAfterSpace() {
            case UInt8(ascii: "\""):
                visitor.string(try scanString())
            case UInt8(ascii: "{"):
                guard depth < options.maximumDepth else { throw JSONError(.tooDeep, at: position) }
                visitor.beginObject(at: position)
                position += 1
                if try peekAfterSpace() == UInt8(ascii: "}") {
                    visitor.endObject(at: position)
                    position += 1
                } else {
                    enclosing.append(isInObject)
                    isInObject = true
                    depth += 1
                    try scanKey(&visitor)
                    continue value
                }
            case UInt8(ascii: "["):
                guard depth < options.maximumDepth else { throw JSONError(.tooDeep, at: position) }
                visitor.beginArray(at: position)
                position += 1
                if try peekAfterSpace() == UInt8(ascii: "]") {
                    visitor.endArray(at: position)
                    position += 1
                } else {
                    enclosing.append(isInObject)
                    isInObject = false
                    depth += 1
                    continue value
                }
            case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
                try visitor.number(try scanNumber())
            case UInt8(ascii: "t"):
                try scanLiteral("true")
                visitor.bool(true, at: position - 4)
            case UInt8(ascii: "f"):
                try scanLiteral("false")
                visitor.bool(false, at: position - 5)
            case UInt8(ascii: "n"):
                try scanLiteral("null")
                visitor.null(at: position - 4)
            default:
                throw JSONError(.unexpectedByte, at: position)
            }

            // A value is complete: continue in its container, or close containers until one continues.
            while depth > 0 {
                let next = try peekAfterSpace()
                if next == UInt8(ascii: ",") {
                    position += 1
                    if isInObject { try scanKey(&visitor) }
                    continue value
                }
                guard next == (isInObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) else {
                    throw JSONError(.unexpectedByte, at: position)
                }
                if isInObject { visitor.endObject(at: position) } else { visitor.endArray(at: position) }
                position += 1
                depth -= 1
                isInObject = enclosing.removeLast()
            }
            break
        }

        skipSpace()
        guard position == count else { throw JSONError(.trailingBytes, at: position) }
    }

    // MARK: Parts

    @inline(__always)
    private mutating func skipSpace() {
        while position < count {
            switch base[position] {
            case 0x20, 0x0A, 0x0D, 0x09: position += 1
            default: return
            }
        }
    }

    @inline(__always)
    private mutating func peekAfterSpace() throws(JSONError) -> UInt8 {
        skipSpace()
        guard position < count else { throw JSONError(.unexpectedEnd, at: position) }
        return base[position]
    }

    @inline(__always)
    private mutating func scanKey(_ visitor: inout some JSONVisitor & ~Copyable) throws(JSONError) {
        guard try peekAfterSpace() == UInt8(ascii: "\"") else {
            throw JSONError(.unexpectedByte, at: position)
        }
        try visitor.key(try scanString())
        guard try peekAfterSpace() == UInt8(ascii: ":") else {
            throw JSONError(.unexpectedByte, at: position)
        }
        position += 1
    }

    @inline(__always)
    private mutating func scanLiteral(_ literal: StaticString) throws(JSONError) {
        for index in 0..<literal.utf8CodeUnitCount {
            guard position < count else { throw JSONError(.unexpectedEnd, at: position) }
            guard base[position] == literal.utf8Start[index] else {
                throw JSONError(.unexpectedByte, at: position)
            }
            position += 1
        }
    }

    /// From the opening quotation mark to after the closing one.
    @inline(__always)
    private mutating func scanString() throws(JSONError) -> JSONStringToken {
        let start = position + 1
        var position = start
        var hasEscapes = false
        var isASCII = true
        while true {
            // Eight bytes at a time, up to the first one that needs attention.
            while position + 8 <= count {
                let word = ByteWord(loading: base + position)
                let stops = word.firstQuoteBackslashOrControl
                isASCII = isASCII && word.isASCII(upTo: stops)
                position += stops
                if stops < 8 { break }
            }
            guard position < count else { throw JSONError(.unexpectedEnd, at: count) }
            let byte = base[position]
            if byte == UInt8(ascii: "\"") { break }
            if byte == UInt8(ascii: "\\") {
                hasEscapes = true
                position = try JSONEscapes.check(
                    base, count, at: position, lone: options.loneSurrogates)
            } else if byte < 0x20 {
                throw JSONError(.controlCharacter, at: position)
            } else {
                isASCII = isASCII && byte < 0x80
                position += 1
            }
        }
        self.position = position + 1
        let bytes = UnsafeBufferPointer(start: base + start, count: position - start)
        if !isASCII, let flaw = UTF8Check.firstFlaw(in: bytes) {
            throw JSONError(.malformedUTF8, at: start + flaw)
        }
        return JSONStringToken(bytes: bytes, offset: start, hasEscapes: hasEscapes)
    }

    @inline(__always)
    private mutating func scanNumber() throws(JSONError) -> JSONNumberToken {
        let start = position
        let isNegative = base[position] == UInt8(ascii: "-")
        if isNegative { position += 1 }
        var digits = JSONDigits()

        let whole = position
        while position < count, let digit = Self.digit(base[position]) {
            digits.append(digit)
            position += 1
        }
        guard position > whole else { throw numberError() }
        if base[whole] == UInt8(ascii: "0"), position > whole + 1 {
            throw JSONError(.malformedNumber, at: whole + 1)
        }

        var isInteger = true
        if position < count, base[position] == UInt8(ascii: ".") {
            isInteger = false
            position += 1
            let fraction = position
            while position < count, let digit = Self.digit(base[position]) {
                digits.append(digit)
                digits.exponent -= 1
                position += 1
            }
            guard position > fraction else { throw numberError() }
        }
        if position < count, base[position] | 0x20 == UInt8(ascii: "e") {
            isInteger = false
            position += 1
            digits.exponent += try scanExponent()
        }
        return JSONNumberToken(
            bytes: UnsafeBufferPointer(start: base + start, count: position - start), offset: start,
            isNegative: isNegative, isInteger: isInteger, mantissa: digits.mantissa,
            exponent: digits.exponent)
    }

    private mutating func scanExponent() throws(JSONError) -> Int {
        var isNegative = false
        if position < count, base[position] == UInt8(ascii: "+") || base[position] == UInt8(ascii: "-") {
            isNegative = base[position] == UInt8(ascii: "-")
            position += 1
        }
        let start = position
        var exponent = 0
        while position < count, let digit = Self.digit(base[position]) {
            // Above this, only the sign matters.
            if exponent < 1_000_000 { exponent = exponent * 10 + Int(digit) }
            position += 1
        }
        guard position > start else { throw numberError() }
        return isNegative ? -exponent : exponent
    }

    private func numberError() -> JSONError {
        JSONError(position < count ? .malformedNumber : .unexpectedEnd, at: position)
    }

    @inline(__always)
    private static func digit(_ byte: UInt8) -> UInt8? {
        let value = byte &- UInt8(ascii: "0")
        return value < 10 ? value : nil
    }
}

/// The significant digits of a number literal, as far as they fit.
private struct JSONDigits {
    private var value: UInt64 = 0
    private var significant = 0
    var exponent = 0

    /// `nil` if there are more digits than a word can hold.
    var mantissa: UInt64? { significant <= 19 ? value : nil }

    @inline(__always)
    mutating func append(_ digit: UInt8) {
        value = value &* 10 &+ UInt64(digit)
        // Leading zeros do not count.
        if significant > 0 || digit > 0 { significant &+= 1 }
    }
}
