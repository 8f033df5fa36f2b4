/// A time in the proleptic Gregorian calendar in UTC, without leap seconds, as in wire formats.
struct CivilTime: Hashable, Sendable {
    var year: Int
    var month: Int
    var day: Int
    var hour = 0
    var minute = 0
    var second = 0

    /// `nil` if there is no such day or time. Second 60 is the first second of the next minute.
    var unixSeconds: Int64? {
        guard (1...12).contains(month), day >= 1, day <= Self.days(in: month, of: year), (0...23).contains(hour),
            (0...59).contains(minute), (0...60).contains(second)
        else { return nil }
        return Int64(Self.dayNumber(year, month, day)) * 86_400 + Int64(hour * 3600 + minute * 60 + second)
    }

    init(year: Int, month: Int, day: Int, hour: Int = 0, minute: Int = 0, second: Int = 0) {
        (self.year, self.month, self.day) = (year, month, day)
        (self.hour, self.minute, self.second) = (hour, minute, second)
    }

    init(unixSeconds: Int64) {
        let (days, rest) = Self.floorDivide(Int(unixSeconds), 86_400)
        // Years start in March, so that the leap day is the last of its year; eras have 400 years.
        let (era, dayOfEra) = Self.floorDivide(days + 719_468, 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        year = era * 400 + yearOfEra + (month <= 2 ? 1 : 0)
        (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60)
    }

    /// Days since January 1, 1970.
    private static func dayNumber(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let year = month <= 2 ? year - 1 : year
        let (era, yearOfEra) = floorDivide(year, 400)
        let monthFromMarch = month > 2 ? month - 3 : month + 9
        let dayOfYear = (153 * monthFromMarch + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    private static func days(in month: Int, of year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    private static func floorDivide(_ value: Int, _ divisor: Int) -> (quotient: Int, remainder: Int) {
        let (quotient, remainder) = value.quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}

/// Reads the fixed-width parts of a date. The buffer is borrowed during one parse.
struct DigitReader {
    private let bytes: UnsafeBufferPointer<UInt8>
    private var position = 0

    init(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

    var isAtEnd: Bool { position == bytes.count }

    /// Exactly `count` digits.
    @inline(__always)
    mutating func number(_ count: Int) -> Int? {
        guard position + count <= bytes.count else { return nil }
        var value = 0
        for index in position..<(position + count) {
            let digit = bytes[index] &- UInt8(ascii: "0")
            guard digit < 10 else { return nil }
            value = value * 10 + Int(digit)
        }
        position += count
        return value
    }

    @inline(__always)
    mutating func skip(_ text: StaticString) -> Bool {
        guard position + text.utf8CodeUnitCount <= bytes.count else { return false }
        for index in 0..<text.utf8CodeUnitCount where bytes[position + index] != text.utf8Start[index] { return false }
        position += text.utf8CodeUnitCount
        return true
    }

    /// One or more digits as a fraction, in billionths.
    mutating func fraction() -> Int32? {
        let start = position
        var value: Int32 = 0
        while position < bytes.count {
            let digit = bytes[position] &- UInt8(ascii: "0")
            guard digit < 10 else { break }
            if position - start < 9 { value = value * 10 + Int32(digit) }
            position += 1
        }
        guard position > start else { return nil }
        for _ in 0..<max(0, 9 - (position - start)) { value *= 10 }
        return value
    }

    /// `Z` or `±hh:mm`, as seconds east of Greenwich.
    mutating func offset() -> Int? {
        if skip("Z") || skip("z") { return 0 }
        let sign = skip("+") ? 1 : skip("-") ? -1 : 0
        guard sign != 0, let hours = number(2), hours < 24, skip(":"), let minutes = number(2), minutes < 60 else {
            return nil
        }
        return sign * (hours * 3600 + minutes * 60)
    }
}

extension Duration {
    /// Three digits and a unit, for people: `15 µs`, `1.25 s`, `2 min 9 s`.
    package var readable: String {
        let microseconds = self / .microseconds(1)
        switch microseconds {
        case ..<1: return "\(Int((self / .nanoseconds(1)).rounded())) ns"
        case ..<1_000: return "\(Duration.threeDigits(microseconds)) µs"
        case ..<1_000_000: return "\(Duration.threeDigits(microseconds / 1_000)) ms"
        case ..<60_000_000: return "\(Duration.threeDigits(microseconds / 1_000_000)) s"
        default:
            let seconds = Int((microseconds / 1_000_000).rounded())
            let (large, small, units) =
                seconds < 3600
                ? (seconds / 60, seconds % 60, ("min", "s")) : (seconds / 3600, seconds / 60 % 60, ("h", "min"))
            return small == 0 ? "\(large) \(units.0)" : "\(large) \(units.0) \(small) \(units.1)"
        }
    }

    private static func threeDigits(_ number: Double) -> String {
        let places = number < 10 ? 100.0 : number < 100 ? 10.0 : 1.0
        let rounded = (number * places).rounded() / places
        return rounded == rounded.rounded() ? "\(Int(rounded))" : "\(rounded)"
    }
}
