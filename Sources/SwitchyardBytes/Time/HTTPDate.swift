/// The three date formats of RFC 9110, section 5.6.7.
package enum HTTPDate {
    /// Seconds since 1970; `nil` if the text has none of the three formats. The weekday is not checked against the date.
    ///
    /// - Parameter now: Determines the century in the oldest format, whose years have two digits and are at most fifty years
    ///   ahead.
    package static func parse(_ text: some StringProtocol, now: Int64) -> Int64? {
        Array(text.utf8).withUnsafeBufferPointer { bytes in
            standard(bytes) ?? twoDigitYear(bytes, now: now) ?? withoutZone(bytes)
        }
    }

    /// `Sun, 06 Nov 1994 08:49:37 GMT`
    package static func format(_ seconds: Int64) -> String {
        let civil = CivilTime(unixSeconds: seconds)
        let day = Int(((seconds >= 0 ? seconds : seconds - 86_399) / 86_400 % 7 + 11) % 7)
        var output = Array("\(days[day]), ".utf8)
        RFC3339.appendDigits(civil.day, 2, to: &output)
        output.append(contentsOf: " \(months[civil.month - 1]) ".utf8)
        RFC3339.appendDigits(civil.year, 4, to: &output)
        for (mark, value) in [(" ", civil.hour), (":", civil.minute), (":", civil.second)] {
            output.append(contentsOf: mark.utf8)
            RFC3339.appendDigits(value, 2, to: &output)
        }
        return String(decoding: output, as: UTF8.self) + " GMT"
    }

    private static func standard(_ bytes: UnsafeBufferPointer<UInt8>) -> Int64? {
        var reader = DigitReader(bytes)
        guard skipDay(&reader, days), reader.skip(", "), let day = reader.number(2), reader.skip(" "),
            let month = month(&reader), reader.skip(" "), let year = reader.number(4), reader.skip(" "),
            let time = time(&reader), reader.skip(" GMT"), reader.isAtEnd
        else { return nil }
        return seconds(year, month, day, time)
    }

    /// `Sunday, 06-Nov-94 08:49:37 GMT`
    private static func twoDigitYear(_ bytes: UnsafeBufferPointer<UInt8>, now: Int64) -> Int64? {
        var reader = DigitReader(bytes)
        guard skipDay(&reader, longDays), reader.skip(", "), let day = reader.number(2), reader.skip("-"),
            let month = month(&reader), reader.skip("-"), let short = reader.number(2), reader.skip(" "),
            let time = time(&reader), reader.skip(" GMT"), reader.isAtEnd
        else { return nil }
        let thisYear = CivilTime(unixSeconds: now).year
        let year = thisYear / 100 * 100 + short
        return seconds(year > thisYear + 50 ? year - 100 : year, month, day, time)
    }

    /// `Sun Nov  6 08:49:37 1994`
    private static func withoutZone(_ bytes: UnsafeBufferPointer<UInt8>) -> Int64? {
        var reader = DigitReader(bytes)
        guard skipDay(&reader, days), reader.skip(" "), let month = month(&reader), reader.skip(" "),
            let day = reader.skip(" ") ? reader.number(1) : reader.number(2), reader.skip(" "),
            let time = time(&reader), reader.skip(" "), let year = reader.number(4), reader.isAtEnd
        else { return nil }
        return seconds(year, month, day, time)
    }

    private typealias Time = (hour: Int, minute: Int, second: Int)

    private static func seconds(_ year: Int, _ month: Int, _ day: Int, _ time: Time) -> Int64? {
        CivilTime(year: year, month: month, day: day, hour: time.hour, minute: time.minute, second: time.second)
            .unixSeconds
    }

    private static func time(_ reader: inout DigitReader) -> Time? {
        guard let hour = reader.number(2), reader.skip(":"), let minute = reader.number(2), reader.skip(":"),
            let second = reader.number(2)
        else { return nil }
        return (hour, minute, second)
    }

    private static func month(_ reader: inout DigitReader) -> Int? {
        months.firstIndex { reader.skip($0) }.map { $0 + 1 }
    }

    private static func skipDay(_ reader: inout DigitReader, _ names: [StaticString]) -> Bool {
        names.contains { reader.skip($0) }
    }

    private static let days: [StaticString] = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let longDays: [StaticString] = [
        "Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday",
    ]
    private static let months: [StaticString] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
}

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
