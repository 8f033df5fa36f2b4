import SwitchyardBytes
import Testing

struct RetryAfterTests {
    private static let moment: Int64 = 784_111_777

    /// The same moment in the three formats of RFC 9110.
    @Test(arguments: [
        "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
    ]) func `Each date format names the moment`(_ text: String) {
        #expect(HTTPDate.parse(text, now: 1_700_000_000) == Self.moment)
    }

    @Test func `Dates are written in the first format`() {
        #expect(HTTPDate.format(Self.moment) == "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(HTTPDate.format(0) == "Thu, 01 Jan 1970 00:00:00 GMT")
        #expect(HTTPDate.format(-1) == "Wed, 31 Dec 1969 23:59:59 GMT")
        for day in Int64(-20_000)...20_000 {
            let seconds = day * 86_400 + 3600
            #expect(HTTPDate.parse(HTTPDate.format(seconds), now: 0) == seconds)
        }
    }

    @Test func `A year of two digits is at most fifty years ahead`() {
        let now: Int64 = 1_767_225_600  // 2026
        #expect(HTTPDate.parse("Wednesday, 01-Jan-76 00:00:00 GMT", now: now) == 3_345_062_400)
        #expect(HTTPDate.parse("Saturday, 01-Jan-77 00:00:00 GMT", now: now) == 220_924_800)
    }

    @Test(arguments: [
        "", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 UTC", "Sun, 6 Nov 1994 08:49:37 GMT",
        "Sun, 31 Feb 1994 08:49:37 GMT", "Xun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Now 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 08:49:37 GMTx", "Sun Nov 6 08:49:37 1994", "1994-11-06T08:49:37Z",
    ]) func `Any other date is refused`(_ text: String) {
        #expect(HTTPDate.parse(text, now: 0) == nil)
    }

    @Test(arguments: [("0", Duration.zero), ("120", .seconds(120)), (" 7\t", .seconds(7))])
    func `Seconds are a delay`(_ header: String, _ delay: Duration) {
        #expect(RetryAfter.delay(header, now: 0) == delay)
    }

    @Test func `A date is a delay from now, none when it has passed`() {
        let header = "Sun, 06 Nov 1994 08:49:37 GMT"
        #expect(RetryAfter.delay(header, now: Self.moment - 30) == .seconds(30))
        #expect(RetryAfter.delay(header, now: Self.moment + 30) == .zero)
    }

    @Test func `A number beyond every clock is a very long delay`() throws {
        let delay = try #require(RetryAfter.delay("99999999999999999999999", now: 0))
        #expect(delay > .seconds(86_400 * 365))
    }

    @Test(arguments: ["", " ", "-1", "1.5", "soon", "1 2", "+3"])
    func `Anything else says nothing`(_ header: String) {
        #expect(RetryAfter.delay(header, now: 0) == nil)
    }
}
