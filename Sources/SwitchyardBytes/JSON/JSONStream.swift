/// Parses JSON from chunks of any size: append what has arrived, then take the complete values.
///
///     stream.append(chunk)
///     while let element = try stream.next() { … }
///
/// At the end of the input, call `finish` and take the remaining values: only then is a number at the end known to be complete,
/// and a truncated text throws. Each value is scanned for its end first and then parsed, so an error inside is found once its
/// last byte has arrived. After an error, every call throws it again.
package struct JSONStream: Sendable {
    package enum Shape: Hashable, Sendable {
        /// The text is one array, whose elements are returned as soon as they are complete.
        case elements
        /// Consecutive values, optionally with white space between them.
        case values
        /// One value and nothing after it.
        case document
    }

    private enum Place: Hashable, Sendable {
        case beforeArray
        case beforeFirstElement
        case beforeElement
        case afterElement
        case beforeValue
        case inValue
        case atEnd
    }

    private let shape: Shape
    private let options: JSONParsingOptions
    private let maximumLength: Int

    private var buffer: [UInt8] = []
    /// The number of bytes removed from the front of the buffer.
    private var dropped = 0
    private var position = 0
    private var place: Place
    private var scan = JSONValueScan()
    private var cache = KeyCache()
    private var isFinished = false
    private var failure: JSONError?

    /// - Parameter maximumLength: The maximum size of one value in bytes; a longer one throws before it is complete.
    package init(_ shape: Shape, options: JSONParsingOptions = .init(), maximumLength: Int = 64 << 20) {
        self.shape = shape
        self.maximumLength = maximumLength
        var options = options
        // The enclosing array is a level, too.
        if shape == .elements { options.maximumDepth -= 1 }
        self.options = options
        place = shape == .elements ? .beforeArray : .beforeValue
    }

    package mutating func append(_ chunk: some Collection<UInt8>) {
        guard failure == nil else { return }
        // Moves values in progress to the front, but only if that removes more bytes than it moves.
        let keep = place == .inValue ? scan.start : position
        if keep > buffer.count - keep {
            buffer.removeFirst(keep)
            dropped += keep
            position -= keep
            scan.start -= keep
        }
        buffer.append(contentsOf: chunk)
    }

    /// Marks the end of the input.
    package mutating func finish() { isFinished = true }

    /// The next complete value; `nil` if more bytes are needed or, after `finish`, if there are no more values.
    package mutating func next() throws(JSONError) -> JSON? {
        guard let range = try nextRange() else { return nil }
        let offset = dropped + range.lowerBound
        let isFollowed = range.upperBound < buffer.count
        do throws(JSONError) {
            return try buffer.withUnsafeBufferPointer { (bytes) throws(JSONError) in
                try JSON(UnsafeBufferPointer(rebasing: bytes[range]), options, &cache)
            }
        } catch {
            // An unexpected end or start within the value is a wrong byte in the whole text.
            let isWrongByte = error.reason == .trailingBytes || error.reason == .unexpectedEnd && isFollowed
            throw fail(JSONError(isWrongByte ? .unexpectedByte : error.reason, at: offset + error.offset))
        }
    }

    /// Like `next`, but returns the value's bytes unparsed: only the end has been found.
    package mutating func nextBytes() throws(JSONError) -> [UInt8]? {
        try nextRange().map { Array(buffer[$0]) }
    }

    private mutating func nextRange() throws(JSONError) -> Range<Int>? {
        if let failure { throw failure }
        do throws(JSONError) {
            return try advance()
        } catch {
            throw fail(error)
        }
    }

    private mutating func fail(_ error: JSONError) -> JSONError {
        failure = error
        buffer = []
        return error
    }

    // MARK: Between values

    private mutating func advance() throws(JSONError) -> Range<Int>? {
        while true {
            if place == .inValue {
                guard try scanValue() else { return nil }
                place = afterValue
                return scan.start..<position
            }
            skipSpace()
            guard position < buffer.count else {
                let mayEnd = place == .atEnd || place == .beforeValue && shape == .values
                if isFinished, !mayEnd { throw error(.unexpectedEnd) }
                return nil
            }
            switch (place, buffer[position]) {
            case (.atEnd, _): throw error(.trailingBytes)
            case (.beforeArray, UInt8(ascii: "[")): step(to: .beforeFirstElement)
            case (.beforeArray, _): throw error(.unexpectedByte)
            case (.beforeFirstElement, UInt8(ascii: "]")), (.afterElement, UInt8(ascii: "]")): step(to: .atEnd)
            case (.afterElement, UInt8(ascii: ",")): step(to: .beforeElement)
            case (.afterElement, _): throw error(.unexpectedByte)
            case (_, let byte):
                guard let kind = JSONValueScan.Kind(first: byte) else { throw error(.unexpectedByte) }
                scan = JSONValueScan(start: position, kind: kind)
                place = .inValue
            }
        }
    }

    private var afterValue: Place {
        switch shape {
        case .elements: .afterElement
        case .values: .beforeValue
        case .document: .atEnd
        }
    }

    private mutating func step(to next: Place) {
        position += 1
        place = next
    }

    private mutating func skipSpace() {
        while position < buffer.count, [0x20, 0x0A, 0x0D, 0x09].contains(buffer[position]) { position += 1 }
    }

    private mutating func scanValue() throws(JSONError) -> Bool {
        let limit = options.maximumDepth
        let isComplete = buffer.withUnsafeBufferPointer { scan.advance(&position, in: $0, maximumDepth: limit) }
        if scan.isTooDeep { throw error(.tooDeep) }
        if position - scan.start > maximumLength { throw JSONError(.tooLong, at: dropped + scan.start) }
        if isComplete { return true }
        guard isFinished else { return false }
        if scan.kind == .word { return true }
        throw error(.unexpectedEnd)
    }

    private func error(_ reason: JSONError.Reason) -> JSONError { JSONError(reason, at: dropped + position) }
}

/// Finds the end of one value, a few bytes at a time, without parsing its contents.
struct JSONValueScan: Sendable {
    enum Kind: Hashable, Sendable {
        case container
        case string
        /// A number or a literal, which ends before any other character.
        case word

        init?(first byte: UInt8) {
            switch byte {
            case UInt8(ascii: "{"), UInt8(ascii: "["): self = .container
            case UInt8(ascii: "\""): self = .string
            case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "t"), UInt8(ascii: "f"),
                UInt8(ascii: "n"):
                self = .word
            default: return nil
            }
        }
    }

    var start = 0
    var kind = Kind.word
    private(set) var isTooDeep = false
    private var depth = 0
    private var isInString = false
    private var isEscaped = false

    init() {}

    init(start: Int, kind: Kind) {
        self.start = start
        self.kind = kind
    }

    /// Advances `position` to the end of the value or of the bytes, and returns whether the value is complete.
    mutating func advance(_ position: inout Int, in bytes: UnsafeBufferPointer<UInt8>, maximumDepth: Int) -> Bool {
        guard let base = bytes.baseAddress else { return false }
        while position < bytes.count {
            if isInString {
                if passString(&position, base, bytes.count), kind == .string { return true }
                continue
            }
            let byte = base[position]
            if kind == .word {
                guard Self.belongsToWord(byte) else { return true }
                position += 1
                continue
            }
            switch byte {
            case UInt8(ascii: "\""):
                isInString = true
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                if depth > maximumDepth {
                    isTooDeep = true
                    return false
                }
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                depth -= 1
            default: break
            }
            position += 1
            if depth == 0, !isInString { return true }
        }
        return false
    }

    /// Advances to the end of a string or of the bytes, and returns whether the string has ended.
    private mutating func passString(_ position: inout Int, _ base: UnsafePointer<UInt8>, _ count: Int) -> Bool {
        while position < count {
            if isEscaped {
                isEscaped = false
                position += 1
                continue
            }
            if position + 8 <= count {
                let plain = ByteWord(loading: base + position).firstQuoteBackslashOrControl
                position += plain
                if plain == 8 { continue }
            }
            switch base[position] {
            case UInt8(ascii: "\""):
                isInString = false
                position += 1
                return true
            case UInt8(ascii: "\\"):
                isEscaped = true
            default: break
            }
            position += 1
        }
        return false
    }

    /// Letters, digits, signs and the decimal point: more than a value allows, which the parser then reports.
    private static func belongsToWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."):
            true
        default: false
        }
    }
}
