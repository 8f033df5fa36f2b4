import SwitchyardBytes
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@testable import SwitchyardFirebase

/// Servers leave requests that they do not understand without an answer, with the connection open.
@Suite struct WebChannelDeadlineTests {
    @Test func `A handshake that no one answers ends the channel by its deadline`() async throws {
        let gate = Gate()
        let clock = ManualClock()
        let transport = ScriptedTransport([
            .matching(
                "handshake", { $0.request.url.contains("CVER=22") },
                reply: { _ in
                    ScriptedReply.status(200).delayed(until: gate)
                })
        ])
        let channel = WebChannel(
            "https://firestore.googleapis.com/google.firestore.v1.Firestore/Listen/channel",
            database: "projects/demo/databases/(default)", credentials: [], transport: transport, clock: clock)
        await channel.send(["addTarget": [:]])
        let end = Task { () async -> Bool in
            do throws(WebChannel.WebChannelEnd) {
                _ = try await channel.next()
                return false
            } catch {
                return true
            }
        }
        try await eventually("the server is asked") { gate.waiting == 1 && clock.sleeperCount > 0 }
        clock.advance(by: WebChannel.requestDeadline)
        #expect(await end.value)
        let request = try #require(transport.requests.first?.request)
        #expect(request.usesFreshConnection && !request.decompresses, "as servers of this kind need it")
        gate.open()
    }

    @Test func `The back channel may be quiet as long as it likes`() async throws {
        let transport = ScriptedTransport([
            .matching("handshake", { $0.request.url.contains("CVER=22") }) { _ in
                .text("52\n[[0,[\"c\",\"Eki5k2hCCaWkGejQ2dd1uw==\",\"\",8,12,30000]]]")
            },
            .matching("back channel", { $0.request.url.contains("RID=rpc") }) { _ in .hang },
        ])
        let channel = WebChannel(
            "https://firestore.googleapis.com/google.firestore.v1.Firestore/Listen/channel",
            database: "projects/demo/databases/(default)", credentials: [], transport: transport,
            clock: ManualClock())
        await channel.send(["addTarget": [:]])
        try await eventually("the back channel is asked for") { transport.requests.count == 2 }
        let request = transport.requests[1].request
        #expect(request.idleLimit == nil && request.maximumStreamedSize == nil)
        #expect(request.usesFreshConnection && !request.decompresses)
        #expect(transport.requests.allSatisfy { $0.request.isShared }, "a channel is in no caller's name")
        await channel.close()
    }
}
