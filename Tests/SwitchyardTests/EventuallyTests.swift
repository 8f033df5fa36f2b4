import SwitchyardTestSupport
import Testing

@Suite struct EventuallyTests {
    @Test func `A condition that never holds is reported by name when its deadline passes`() async {
        let error = await #expect(throws: DeadlineExceeded.self) {
            try await eventually("the moon is made of cheese", within: .milliseconds(20)) { false }
        }
        #expect(error?.description.contains("the moon is made of cheese") == true)
    }
}
