import Switchyard
import SwitchyardBytes
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@testable import SwitchyardSupabase

/// What is made of channels that bring nothing.
@Suite struct ChangeHintsTests {
    @Test func `A channel that will never bring rows is left, and tried again after a while`() async throws {
        let stub = try RealtimeStub()
        let transport = CurlTransport()
        let socket = RealtimeSocket(
            stub.address, tokens: SupabaseTokens(key: "key", auth: nil), transport: transport)
        let clock = ManualClock()
        let hints = ChangeHints(socket, clock: clock)
        hints.follow([HintTopic.rows(of: "items", in: "public")])
        for number in 1...2 {
            try await eventually("everything is told", within: .seconds(20)) { hints.isComplete }
            #expect(stub.count(of: "phx_join") == number)
            try await stub.tell(
                RealtimeMessage(
                    topic: "realtime:rows:public.items", event: "postgres_changes",
                    payload: [
                        "ids": [1],
                        "data": [
                            "schema": "public", "table": "items", "type": "UPDATE",
                            "errors": ["Error 401: Unauthorized"],
                        ],
                    ]))
            try await eventually("the channel is left", within: .seconds(20)) {
                stub.count(of: "phx_leave") == number && clock.sleeperCount == 1
            }
            #expect(!hints.isComplete)
            clock.advance(by: .seconds(60))
        }
        hints.close()
        socket.close()
        await transport.shutDown()
        await stub.stop()
    }
}
