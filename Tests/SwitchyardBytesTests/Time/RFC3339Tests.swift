import SwitchyardBytes
import Testing

struct RFC3339Tests {
    @Test(arguments: [
        ("1970-01-01T00:00:00Z", 0, 0), ("1985-04-12T23:20:50.52Z", 482_196_050, 520_000_000),
        ("1996-12-19T16:39:57-08:00", 851_042_397, 0), ("1937-01-01T12:00:27.87+00:20", -1_041_337_173, 870_000_000),
        ("1990-12-31T23:59:60Z", 662_688_000, 0), ("2000-02-29T00:00:00z", 951_782_400, 0),
        ("2026-01-31t12:00:00.123456789Z", 1_769_860_800, 123_456_789), ("1969-12-31T23:59:59.5Z", -1, 500_000_000),
        ("2026-01-31 12:00:00.1234567899+00:00", 1_769_860_800, 123_456_789),
        ("0001-01-01T00:00:00Z", -62_135_596_800, 0),
        ("9999-12-31T23:59:59.999999999Z", 253_402_300_799, 999_999_999),
        ("2024-01-01T00:00:00-00:00", 1_704_067_200, 0),
    ]) func `A timestamp is a moment`(_ text: String, _ seconds: Int64, _ nanoseconds: Int32) {
        #expect(RFC3339.parse(text) == RFC3339.Moment(seconds: seconds, nanoseconds: nanoseconds))
    }

    @Test(arguments: [
        "", "2024", "2024-01-01", "2024-01-01T00:00:00", "2024-01-01T00:00Z", "2024-13-01T00:00:00Z",
        "2024-00-01T00:00:00Z", "2023-02-29T00:00:00Z", "1900-02-29T00:00:00Z", "2024-04-31T00:00:00Z",
        "2024-01-00T00:00:00Z", "2024-01-01T24:00:00Z", "2024-01-01T00:60:00Z", "2024-01-01T00:00:61Z",
        "2024-01-01T00:00:00.Z", "2024-01-01T00:00:00.1", "2024-01-01T00:00:00+1:00", "2024-01-01T00:00:00+24:00",
        "2024-01-01T00:00:00+00:60", "2024-01-01T00:00:00+0000", "2024-01-01T00:00:00Zx", " 2024-01-01T00:00:00Z",
        "2024-1-1T00:00:00Z", "-024-01-01T00:00:00Z", "2024-01-01T00:00:0²Z", "２024-01-01T00:00:00Z",
    ]) func `Anything else is refused`(_ text: String) {
        #expect(RFC3339.parse(text) == nil)
    }

    @Test(arguments: [
        (0, "1970-01-01T00:00:00Z"), (500_000_000, "1970-01-01T00:00:00.500Z"), (1_000, "1970-01-01T00:00:00.000001Z"),
        (1, "1970-01-01T00:00:00.000000001Z"), (120_000_000, "1970-01-01T00:00:00.120Z"),
    ]) func `The shortest fraction has whole groups of three`(_ nanoseconds: Int32, _ text: String) {
        #expect(RFC3339.format(.init(seconds: 0, nanoseconds: nanoseconds)) == text)
    }

    @Test func `A fixed fraction is cut, not rounded`() {
        let moment = RFC3339.Moment(seconds: -1, nanoseconds: 999_999_999)
        #expect(RFC3339.format(moment, fraction: .digits(0)) == "1969-12-31T23:59:59Z")
        #expect(RFC3339.format(moment, fraction: .digits(6)) == "1969-12-31T23:59:59.999999Z")
        #expect(RFC3339.format(moment, fraction: .digits(9)) == "1969-12-31T23:59:59.999999999Z")
    }

    @Test func `What the format cannot write is the nearest it can`() {
        #expect(RFC3339.format(.init(seconds: .max, nanoseconds: 0)) == "9999-12-31T23:59:59Z")
        #expect(RFC3339.format(.init(seconds: .min, nanoseconds: 0)) == "0000-01-01T00:00:00Z")
    }

    @Test func `The days of eight centuries come back, one after the other`() throws {
        var previous: String?
        for day in stride(from: Int64(-146_097), through: 146_097, by: 5) {
            let moment = RFC3339.Moment(seconds: day * 86_400 + 43_199, nanoseconds: 7)
            let text = RFC3339.format(moment)
            try #require(RFC3339.parse(text) == moment)
            if let previous { try #require(previous < text) }
            previous = text
        }
    }
}
