import SwitchyardBytes
import Testing

@testable import SwitchyardSupabase

/// Channels are joined, refused, left and joined again: without a network and without a clock.
struct RealtimeJoiningTests: RealtimeMachineSuite {
    @Test func `The first channel opens the socket, and is joined with the token once it is open`() {
        var machine = machine()
        #expect(machine.handle(.join(Self.room, Self.plain)).contains(.connect(polls: false)))
        #expect(machine.handle(.token("t1")).isEmpty)
        let messages = sent(machine.handle(.opened(polls: false)))
        #expect(messages.map(\.event) == ["phx_join"])
        #expect(messages[0].joinRef == messages[0].ref)
        #expect(messages[0].payload["access_token"] == "t1")
        #expect(messages[0].payload["config"]?["private"] == false)
    }

    @Test func `A channel without changes is confirmed by the reply`() {
        var machine = machine()
        _ = machine.handle(.join(Self.room, Self.plain))
        _ = machine.handle(.opened(polls: false))
        #expect(events(machine.handle(reply("1"))) == [.joined, .confirmed])
    }

    @Test func `A channel with changes is confirmed by the system and not by the reply`() {
        var machine = machine()
        _ = machine.handle(.join(Self.room, Self.watching))
        _ = machine.handle(.opened(polls: false))
        let answer: JSON = ["postgres_changes": [["id": 5, "event": "*", "schema": "public", "table": "todos"]]]
        let actions = machine.handle(reply("1", ok: answer))
        #expect(events(actions) == [.joined])
        #expect(pause(actions, .confirmation(Self.room)) == Machine.confirmationDeadline)
        #expect(events(machine.handle(channelMessage("system", Self.subscribed))) == [.confirmed])
        // The server repeats it whenever it has subscribed again: something may be missing.
        #expect(events(machine.handle(channelMessage("system", Self.subscribed))) == [.confirmed])
    }

    @Test func `A channel for the database's broadcasts waits for the replication`() {
        var machine = joined(RealtimeConfiguration(isPrivate: true, awaitsDatabase: true))
        #expect(
            events(machine.handle(channelMessage("system", ["status": "ok", "message": "Something else"]))).isEmpty)
        let ready: JSON = ["extension": "system", "status": "ok", "message": "Replication connection established"]
        #expect(events(machine.handle(channelMessage("system", ready))) == [.confirmed])
    }

    @Test func `A broadcast confirms as well, since older servers say nothing`() {
        var machine = joined(RealtimeConfiguration(isPrivate: true, awaitsDatabase: true))
        let broadcast: JSON = ["type": "broadcast", "event": "e", "payload": ["x": 1]]
        #expect(events(machine.handle(channelMessage("broadcast", broadcast))).last == .confirmed)
        #expect(events(machine.handle(channelMessage("broadcast", broadcast))).count == 1)
    }

    @Test func `A confirmation that does not come is reported once`() {
        var machine = joined(Self.watching)
        #expect(events(machine.handle(.timer(.confirmation(Self.room)))) == [.unconfirmed])
        #expect(events(machine.handle(channelMessage("system", Self.subscribed))) == [.confirmed])
        #expect(machine.handle(.timer(.confirmation(Self.room))).isEmpty)
    }

    @Test func `Bindings that the server understood otherwise end the channel`() {
        for answer: JSON in [
            [:], ["postgres_changes": []],
            ["postgres_changes": [["id": 1, "event": "*", "schema": "public", "table": "others"]]],
        ] {
            var machine = machine()
            _ = machine.handle(.join(Self.room, Self.watching))
            _ = machine.handle(.opened(polls: false))
            let actions = machine.handle(reply("1", ok: answer))
            #expect(end(actions) == .refused)
            #expect(sent(actions).map(\.event) == ["phx_leave"])
        }
    }

    @Test func `Channels with messages are joined first, and the others beside them two at a time`() {
        var machine = machine()
        let carrying = RealtimeConfiguration(isPrivate: true, replays: true)
        for number in 0..<6 { _ = machine.handle(.join("realtime:query\(number)", Self.plain)) }
        _ = machine.handle(.join("realtime:news", carrying))
        #expect(sent(machine.handle(.opened(polls: false))).map(\.topic) == ["realtime:news"])
        #expect(
            sent(machine.handle(reply("1", "realtime:news"))).map(\.topic) == ["realtime:query0", "realtime:query1"])
        #expect(sent(machine.handle(reply("2", "realtime:query0"))).map(\.topic) == ["realtime:query2"])
        // What comes later waits for nothing but what is under way.
        #expect(sent(machine.handle(.join("realtime:sport", carrying))).map(\.topic) == ["realtime:sport"])
        #expect(sent(machine.handle(reply("3", "realtime:query1"))).isEmpty)
        #expect(sent(machine.handle(reply("5", "realtime:sport"))).map(\.topic) == ["realtime:query3"])
        // Those that the server knows already are not held back after a lost connection.
        _ = machine.handle(.broken)
        _ = machine.handle(.timer(.reconnect))
        let again = sent(machine.handle(.opened(polls: false))).map(\.topic)
        #expect(again == ["realtime:news", "realtime:sport"])
    }

    @Test func `Joins wait for each other in groups`() {
        var machine = machine()
        for number in 0..<20 { _ = machine.handle(.join("realtime:\(number)", Self.plain)) }
        #expect(sent(machine.handle(.opened(polls: false))).count == Machine.joinsAtOnce)
        let next = sent(machine.handle(reply("1", "realtime:0")))
        #expect(next.map(\.topic) == ["realtime:8"])
    }

    @Test func `A join that is not answered is given up and tried again`() {
        var machine = machine()
        _ = machine.handle(.join(Self.room, Self.plain))
        _ = machine.handle(.opened(polls: false))
        let actions = machine.handle(.timer(.join(Self.room)))
        #expect(sent(actions).map(\.event) == ["phx_leave"])
        #expect(pause(actions, .rejoin(Self.room)) == .seconds(1))
        #expect(sent(machine.handle(.timer(.rejoin(Self.room)))).map(\.event) == ["phx_join"])
        // The late answer to the first join is about no one.
        #expect(machine.handle(reply("1")).isEmpty)
    }

    @Test(arguments: [
        ("Unauthorized: x", RealtimeFailure.Kind.unauthorized), ("PrivateOnly: x", .refused),
        ("ChannelRateLimitReached: x", .tooManyChannels),
    ])
    func `What can never be ends the channel`(_ reason: String, _ kind: RealtimeFailure.Kind) {
        var machine = machine()
        _ = machine.handle(.join(Self.room, Self.plain))
        _ = machine.handle(.opened(polls: false))
        #expect(end(machine.handle(refusal("1", reason))) == kind)
        #expect(machine.channels.isEmpty)
    }

    @Test func `A refused join is tried again after pauses that grow`() {
        var machine = machine()
        _ = machine.handle(.join(Self.room, Self.plain))
        _ = machine.handle(.opened(polls: false))
        var pauses: [Duration] = []
        for attempt in 1...7 {
            let actions = machine.handle(refusal("\(attempt)", "InitializingProjectConnection: x"))
            pauses.append(pause(actions, .rejoin(Self.room)) ?? .zero)
            _ = machine.handle(.timer(.rejoin(Self.room)))
        }
        #expect(pauses == [1, 2, 4, 8, 16, 30, 30].map { .seconds($0) })
    }

    @Test func `Half of every pause is left to chance`() {
        var early = Machine(now: { 0 }, jitter: { 0 })
        _ = early.handle(.join(Self.room, Self.plain))
        _ = early.handle(.opened(polls: false))
        #expect(pause(early.handle(refusal("1", "x")), .rejoin(Self.room)) == .milliseconds(500))
    }

    @Test func `Failures are forgotten only after a heartbeat or two`() {
        var machine = machine()
        _ = machine.handle(.join(Self.room, Self.plain))
        _ = machine.handle(.opened(polls: false))
        func fail(_ ref: String) -> Duration? {
            _ = machine.handle(reply(ref))
            let actions = machine.handle(
                .received(
                    RealtimeMessage(
                        joinRef: ref, topic: Self.room, event: "system",
                        payload: ["extension": "system", "status": "error", "message": "Too many messages per second"]))
            )
            _ = machine.handle(.timer(.rejoin(Self.room)))
            return pause(actions, .rejoin(Self.room))
        }
        #expect(fail("1") == .seconds(20))
        #expect(fail("2") == .seconds(40))
        _ = machine.handle(reply("3"))
        for ref in ["4", "5"] {
            _ = machine.handle(.timer(.heartbeat))
            _ = machine.handle(reply(ref, "phoenix"))
        }
        let actions = machine.handle(channelMessage("phx_error", joinRef: "3"))
        #expect(pause(actions, .rejoin(Self.room)) == .seconds(1))
    }

    @Test func `Leaving notifies the server, and what comes then is not delivered`() {
        var machine = joined()
        let actions = machine.handle(.leave(Self.room))
        #expect(sent(actions).map(\.event) == ["phx_leave"])
        #expect(sent(actions).map(\.joinRef) == ["1"])
        #expect(end(actions) == .closed)
        #expect(machine.handle(channelMessage("phx_close")).isEmpty)
    }

    @Test func `A topic that is joined again at once is another incarnation`() {
        var machine = joined()
        _ = machine.handle(.leave(Self.room))
        let join = sent(machine.handle(.join(Self.room, Self.plain)))
        #expect(join.map(\.event) == ["phx_join"])
        #expect(machine.handle(channelMessage("phx_close")).isEmpty)
        #expect(events(machine.handle(reply(join[0].ref ?? ""))) == [.joined, .confirmed])
    }
}
