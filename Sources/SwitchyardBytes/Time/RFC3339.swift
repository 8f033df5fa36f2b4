/// The timestamps of RFC 3339, to the nanosecond: `2026-01-31T12:00:00.123456789Z`, or with an offset.
package enum RFC3339 {
    package struct Moment: Hashable, Sendable {
        /// Whole seconds since 1970, rounded down: a moment before 1970 has positive nanoseconds too.
        package var seconds: Int64
        package var nanoseconds: Int32

        package init(seconds: Int64, nanoseconds: Int32) {
            self.seconds = seconds
            self.nanoseconds = nanoseconds
        }
    }

    /// How many digits of the second's fraction are written.
    package enum Fraction: Hashable, Sendable {
        /// None, three, six or nine: as many as it takes.
        case shortest
        /// Exactly so many of 0...9, the rest cut off.
        case digits(Int)
    }

    /// `nil` unless the whole text is a timestamp. Digits of the fraction beyond the ninth are read and dropped.
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

    /// The moment in UTC with `Z`. Years outside 0...9999, which the format cannot write, give the nearest moment it can.
    package static func format(_ moment: Moment, fraction: Fraction = .shortest) -> String {
        var output: [UInt8] = []
        output.reserveCapacity(30)
        append(moment, to: &output, fraction: fraction)
        return String(decoding: output, as: UTF8.self)
    }

    package static func append(_ moment: Moment, to output: inout [UInt8], fraction: Fraction = .shortest) {
        let civil = CivilTime(unixSeconds: min(max(moment.seconds, -62_167_219_200), 253_402_300_799))
        appendDigits(civil.year, 4, to: &output)
        output.append(UInt8(ascii: "-"))
        appendDigits(civil.month, 2, to: &output)
        output.append(UInt8(ascii: "-"))
        appendDigits(civil.day, 2, to: &output)
        output.append(UInt8(ascii: "T"))
        appendDigits(civil.hour, 2, to: &output)
        output.append(UInt8(ascii: ":"))
        appendDigits(civil.minute, 2, to: &output)
        output.append(UInt8(ascii: ":"))
        appendDigits(civil.second, 2, to: &output)
        let nanoseconds = Int(min(max(moment.nanoseconds, 0), 999_999_999))
        let digits =
            switch fraction {
            case .digits(let count): min(max(count, 0), 9)
            case .shortest where nanoseconds == 0: 0
            case .shortest where nanoseconds % 1_000_000 == 0: 3
            case .shortest where nanoseconds % 1000 == 0: 6
            case .shortest: 9
            }
        if digits > 0 {
            output.append(UInt8(ascii: "."))
            appendDigits(nanoseconds / (0..<(9 - digits)).reduce(1) { power, _ in power * 10 }, digits, to: &output)
        }
        output.append(UInt8(ascii: "Z"))
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
