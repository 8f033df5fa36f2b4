import SwitchyardBytes
import Testing

@Suite struct ReadableDurationTests {
    @Test(arguments: [
        (Duration.zero, "0 ns"), (.nanoseconds(812), "812 ns"), (.microseconds(15), "15 µs"),
        (.nanoseconds(1_254), "1.25 µs"), (.microseconds(999), "999 µs"), (.milliseconds(12.34), "12.3 ms"),
        (.milliseconds(999), "999 ms"), (.seconds(1.25), "1.25 s"), (.seconds(59), "59 s"), (.seconds(60), "1 min"),
        (.seconds(129), "2 min 9 s"), (.seconds(3600), "1 h"), (.seconds(5_400), "1 h 30 min"),
    ])
    func `Durations have three digits and the unit that fits`(duration: Duration, text: String) {
        #expect(duration.readable == text)
    }
}
