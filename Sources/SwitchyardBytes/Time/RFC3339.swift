/// RFC 3339 timestamps with nanoseconds: `2026-01-31T12:00:00.123456789Z`, or with an offset.
package enum RFC3339 {
    package struct Moment: Hashable, Sendable {
        /// Whole seconds since 1970, rounded down: a time before 1970 has positive nanoseconds, too.
        package var seconds: Int64
        package var nanoseconds: Int32

        package init(seconds: Int64, nanoseconds: Int32) {
            self.seconds = seconds
            self.nanoseconds = nanoseconds
        }
    }

    /// The number of fraction digits to write.
    package enum Fraction: Hashable, Sendable {
        /// None, three, six or nine, as few as possible.
        case shortest
        /// Exactly this many, from 0 to 9, truncated.
        case digits(Int)
    }

    /// `nil` unless the whole text is a timestamp. Fraction digits after the ninth are ignored.
    package static func parse(_ text: some StringProtocol) -> Moment? {
        if let moment = text.utf8.withContiguousStorageIfAvailable({ parse($0) }) { return moment }
        return Array(text.utf8).withUnsafeBufferPointer { parse($0) }
    }

    package static func parse(_ bytes: UnsafeBufferPointer<UInt8>) -> Moment? {
        var reader = DigitReader(bytes)
        guard let year = reader.number(4), reader.skip("-"), let month = reader.number(2), reader.skip("-"),
            let day = reader.number(2), reader.skip("T") || reader.skip("t") || reader.skip(" "),
            let hour = reader.number(2), reader.skip(":"), let minute = reader.number(2), reader.skip(":"),
            let second = reader.number(2),
            let local = CivilTime(year: year, month: month, day: day, hour: hour, minute: minute, second: second)
                .unixSeconds
        else { return nil }
        var nanoseconds: Int32 = 0
        if reader.skip(".") {
            guard let fraction = reader.fraction() else { return nil }
            nanoseconds = fraction
        }
        guard let offset = reader.offset(), reader.isAtEnd else { return nil }
        return Moment(seconds: local - Int64(offset), nanoseconds: nanoseconds)
    }

    /// The time in UTC with `Z`. Years outside 0...9999, which the format does not allow, give the nearest valid time.
    package static func format(_ moment: Moment, fraction: Fraction = .shortest) -> String {
        var output: [UInt8] = []
        output.reserveCapacity(30)
        append(moment, to: &output, fraction: fraction)
        return String(decoding: output, as: UTF8.self)
    }

    package static func append(_ moment: Moment, to output: inout [UInt8], fraction: Fraction = .shortest) {
        let civil = CivilTime(unixSeconds: min(max(moment.seconds, -62_167_219_200), 253_402_300_799))
        let nanoseconds = Int(min(max(moment.nanoseconds, 0), 999_999_999))
        let digits =
            switch fraction {
            case .digits(let count): min(max(count, 0), 9)
            case .shortest where nanoseconds == 0: 0
            case .shortest where nanoseconds % 1_000_000 == 0: 3
            case .shortest where nanoseconds % 1000 == 0: 6
            case .shortest: 9
            }
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 30) { text in
            writeDigits(civil.year, 0..<4, in: text)
            text.initializeElement(at: 4, to: UInt8(ascii: "-"))
            writeDigits(civil.month, 5..<7, in: text)
            text.initializeElement(at: 7, to: UInt8(ascii: "-"))
            writeDigits(civil.day, 8..<10, in: text)
            text.initializeElement(at: 10, to: UInt8(ascii: "T"))
            writeDigits(civil.hour, 11..<13, in: text)
            text.initializeElement(at: 13, to: UInt8(ascii: ":"))
            writeDigits(civil.minute, 14..<16, in: text)
            text.initializeElement(at: 16, to: UInt8(ascii: ":"))
            writeDigits(civil.second, 17..<19, in: text)
            // Write all nine digits; the final letter then replaces the first unneeded one.
            text.initializeElement(at: 19, to: UInt8(ascii: "."))
            writeDigits(nanoseconds, 20..<29, in: text)
            let end = digits == 0 ? 19 : 20 + digits
            text.initializeElement(at: end, to: UInt8(ascii: "Z"))
            output.append(contentsOf: UnsafeBufferPointer(rebasing: text[...end]))
        }
    }

    @inline(__always)
    private static func writeDigits(_ value: Int, _ places: Range<Int>, in text: UnsafeMutableBufferPointer<UInt8>) {
        var rest = UInt32(truncatingIfNeeded: value)
        for place in places.reversed() {
            text.initializeElement(at: place, to: UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10))
            rest /= 10
        }
    }

    static func appendDigits(_ value: Int, _ count: Int, to output: inout [UInt8]) {
        let start = output.count
        var rest = value
        for _ in 0..<count {
            output.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10))
            rest /= 10
        }
        output[start...].reverse()
    }
}
