import Switchyard
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@testable import SwitchyardSupabase

/// The way by polls, as far as time matters.
@Suite struct LongPollLinkTests {
    @Test func `Polls that are answered at once with nothing are made once a second`() async throws {
        let address = "https://demo.supabase.co/realtime/v1"
        let url = address + "/longpoll?vsn=1.0.0&apikey=k"
        let nothing = ScriptedReply.json(#"{"status":204,"token":"t","messages":[]}"#)
        let message = #"{"topic":"realtime:room","event":"phx_close","payload":{}}"#
        let transport = ScriptedTransport([
            .on(.get, url, .json(#"{"status":410,"token":"t","messages":[]}"#)), .on(.get, url, nothing),
            .on(.get, url, .status(204)),
            .on(.get, url, .json(#"{"status":200,"token":"t","messages":[\#(message)]}"#)),
        ])
        let clock = ManualClock()
        let link = try await LongPollLink(address, key: "k", transport: transport, clock: clock)
        let event = Task { try await link.next() }
        for polls in [2, 3] {
            try await eventually("the poll is answered, and the next one waits", within: .seconds(10)) {
                transport.requests.count == polls && clock.deadlines == [clock.now.advanced(by: .seconds(1))]
            }
            clock.advance(by: .seconds(1))
        }
        guard case .message(let received) = try await event.value else {
            Issue.record("the message is another")
            return
        }
        #expect(received.event == "phx_close")
        #expect(transport.requests.allSatisfy { $0.request.isShared }, "polls are in no caller's name")
        try transport.verify()
    }
}
