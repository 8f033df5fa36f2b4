import Switchyard
import SwitchyardBytes
import SwitchyardTestSupport
import SwitchyardWire
import Synchronization
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
            try await eventually("everything is delivered", within: .seconds(20)) { hints.isComplete }
            #expect(stub.count(of: "phx_join") == number)
            try await stub.send(
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

    @Test(arguments: [("items", "public.items"), ("Items", #"public."Items""#)])
    func `A table that is not in the publication is named, with the statement that adds it`(
        _ table: String, _ name: String
    ) async throws {
        let stub = try RealtimeStub()
        let transport = CurlTransport()
        let socket = RealtimeSocket(stub.address, tokens: SupabaseTokens(key: "key", auth: nil), transport: transport)
        let notices = Mutex<[String]>([])
        let hints = ChangeHints(socket, clock: ManualClock()) { text in notices.withLock { $0.append(text) } }
        hints.follow([HintTopic.rows(of: table, in: "public")])
        try await eventually("everything is delivered", within: .seconds(20)) { hints.isComplete }
        try await stub.send(
            RealtimeMessage(
                topic: "realtime:rows:public.\(table)", event: "system",
                payload: [
                    "extension": "postgres_changes", "status": "error",
                    "message": .string(
                        "Unable to subscribe to changes with given parameters. Please check Realtime is enabled for the given "
                            + "connect parameters: [event: *, schema: public, table: \(table), filters: []]"),
                ]))
        try await eventually("it is noticed", within: .seconds(20)) { notices.withLock { !$0.isEmpty } }
        #expect(
            notices.withLock { $0 } == [
                "Live queries are not notified of changes, and check for them instead: The table \(name) is missing or not in the "
                    + "publication “supabase_realtime”. Run “alter publication supabase_realtime add table \(name);”."
            ])
        hints.close()
        socket.close()
        await transport.shutDown()
        await stub.stop()
    }
}
