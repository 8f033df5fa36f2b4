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
