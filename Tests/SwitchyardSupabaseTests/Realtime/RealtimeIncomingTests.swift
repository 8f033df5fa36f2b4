import SwitchyardBytes
import Testing

@testable import SwitchyardSupabase

/// What the server says on a channel.
struct RealtimeIncomingTests: RealtimeMachineSuite {
    @Test func `What the server fans out is delivered, and what is about an earlier life is not`() {
        var machine = joined()
        let broadcast: JSON = ["type": "broadcast", "event": "e", "payload": ["x": 1]]
        let event = RealtimeEvent.broadcast(
            RealtimeBroadcast(event: "e", content: .json(["x": 1]), id: nil, isReplayed: false))
        #expect(events(machine.handle(channelMessage("broadcast", broadcast, joinRef: nil))) == [event])
        #expect(events(machine.handle(channelMessage("broadcast", broadcast))) == [event])
        #expect(machine.handle(channelMessage("broadcast", broadcast, joinRef: "0")).isEmpty)
        #expect(machine.handle(channelMessage("phx_close", joinRef: "0")).isEmpty)
        #expect(machine.handle(channelMessage("phx_error", joinRef: "0")).isEmpty)
    }

    @Test func `Unknown messages are ignored`() {
        var machine = joined()
        #expect(machine.handle(channelMessage("presence_state", ["a": [:]])).isEmpty)
        #expect(machine.handle(channelMessage("something_new", .null)).isEmpty)
        #expect(machine.handle(reply("77")).isEmpty)
        #expect(
            machine.handle(.received(RealtimeMessage(topic: "realtime:other", event: "broadcast", payload: [:])))
                .isEmpty)
    }

    @Test(arguments: ["phx_close", "phx_error"])
    func `A channel that ended on the server is joined again`(_ event: String) {
        var machine = joined()
        let actions = machine.handle(channelMessage(event))
        #expect(events(actions) == [.interrupted])
        #expect(pause(actions, .rejoin(Self.room)) == .seconds(1))
        #expect(sent(machine.handle(.timer(.rejoin(Self.room)))).map(\.event) == ["phx_join"])
    }

    @Test func `What a system error says counts, and the close behind it does not`() {
        var machine = joined()
        let error: JSON = ["extension": "system", "status": "error", "message": "Too many messages per second"]
        #expect(pause(machine.handle(channelMessage("system", error)), .rejoin(Self.room)) == .seconds(20))
        #expect(machine.handle(channelMessage("phx_close")).isEmpty)
    }

    @Test func `A lost permission ends the channel`() {
        var machine = joined()
        let error: JSON = [
            "extension": "system", "status": "error",
            "message": "You no longer have permission to read from this Channel topic: room",
        ]
        #expect(end(machine.handle(channelMessage("system", error))) == .unauthorized)
    }

    @Test func `A bad binding ends the channel, for the server gives it up without closing it`() {
        var machine = joined(Self.watching)
        let error: JSON = [
            "extension": "postgres_changes", "status": "error", "message": "Error parsing `filter` params: x",
        ]
        let actions = machine.handle(channelMessage("system", error))
        #expect(end(actions) == .refused)
        #expect(sent(actions).map(\.event) == ["phx_leave"])
    }

    @Test func `While the server has trouble with changes the channel is unconfirmed`() {
        var machine = joined(Self.watching)
        _ = machine.handle(channelMessage("system", Self.subscribed))
        let error: JSON = [
            "extension": "postgres_changes", "status": "error", "message": "Too many database timeouts",
        ]
        #expect(events(machine.handle(channelMessage("system", error))) == [.unconfirmed])
        #expect(events(machine.handle(channelMessage("system", error))).isEmpty)
        #expect(events(machine.handle(channelMessage("system", Self.subscribed))) == [.confirmed])
    }

    @Test func `A server that asks to leave is left, and come back to`() {
        var machine = joined()
        let actions = machine.handle(
            channelMessage("system", ["extension": "system", "status": "ok", "message": "Server requested disconnect"]))
        #expect(actions.contains(.disconnect))
        #expect(events(actions) == [.interrupted])
        #expect(pause(actions, .reconnect) == .seconds(2))
        #expect(machine.handle(.timer(.reconnect)) == [.connect(polls: false)])
    }
}
