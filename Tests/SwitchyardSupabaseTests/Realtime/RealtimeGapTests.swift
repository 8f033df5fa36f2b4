import SwitchyardBytes
import Synchronization
import Testing

@testable import SwitchyardSupabase

/// What is done about a service that says nothing of what it has lost, and about one that holds everything up.
struct RealtimeGapTests: RealtimeMachineSuite {
    private static let news = RealtimeConfiguration(isPrivate: true, awaitsDatabase: true, replays: true)
    private static let hints = RealtimeConfiguration(isPrivate: true, awaitsDatabase: true)
    private static let margin = Machine.replayMargin

    /// A machine whose clock a test moves.
    private final class Watch: Sendable {
        let time = Mutex<Int64>(1_000_000_000)

        func machine() -> Machine { Machine(now: { self.time.withLock { $0 } }, jitter: { 1 }) }
        func advance(_ seconds: Int64) { time.withLock { $0 += seconds * 1000 } }
    }

    private func replay(_ actions: [Machine.Action]) -> JSON? {
        sent(actions).last { $0.event == "phx_join" }?.payload["config"]?["broadcast"]?["replay"]
    }

    // MARK: Waking the service

    /// What is sent with so many heartbeats, each of which is answered.
    private func beats(_ count: Int, _ machine: inout Machine) -> [RealtimeMessage] {
        (0..<count).flatMap { _ in
            let messages = sent(machine.handle(.timer(.heartbeat)))
            _ = machine.handle(reply(messages.last?.ref ?? "", "phoenix"))
            return messages
        }
    }

    @Test func `Now and then something is said on one channel that listens to the database`() {
        var machine = joined(Self.hints)
        let messages = beats(Machine.beatsToProbe, &machine)
        #expect(messages.map(\.event) == ["heartbeat", "heartbeat", "heartbeat", "broadcast", "heartbeat"])
        let probe = messages[3]
        #expect(probe.topic == Self.room && probe.joinRef == "1")
        #expect(probe.payload["event"]?.string == RealtimeBroadcast.probe)
        var plain = joined()
        #expect(Set(beats(Machine.beatsToProbe, &plain).map(\.event)) == ["heartbeat"])
    }

    @Test func `Another client's probe is not delivered, and confirms nothing`() {
        var machine = joined(Self.hints)
        let probe: JSON = ["type": "broadcast", "event": .string(RealtimeBroadcast.probe), "payload": [:]]
        #expect(machine.handle(channelMessage("broadcast", probe)).isEmpty)
    }

    @Test func `A channel that does not keep its word is joined again, and the end of its earlier life is passed over`()
    {
        var machine = joined(Self.hints)
        let actions = machine.handle(.rejoin)
        #expect(events(actions) == [.interrupted])
        #expect(sent(actions).map(\.event) == ["phx_join"] && sent(actions).map(\.joinRef) == ["2"])
        #expect(machine.handle(channelMessage("phx_close", joinRef: "1")).isEmpty)
        #expect(events(machine.handle(reply("2"))) == [.joined])
    }

    @Test func `What is not joined yet is not joined again`() {
        var machine = machine()
        _ = machine.handle(.join(Self.room, Self.hints))
        #expect(machine.handle(.rejoin).isEmpty)
        _ = machine.handle(.opened(polls: false))
        #expect(machine.handle(.rejoin).isEmpty)
    }

    // MARK: Messages of a gap

    @Test func `Each join asks for what was sent since the last one, and never for more than the first did`() {
        let watch = Watch()
        var machine = watch.machine()
        _ = machine.handle(.join(Self.room, Self.news))
        let start: Int64 = 1_000_000_000 - Self.margin
        #expect(replay(machine.handle(.opened(polls: false))) == ["since": .integer(start), "limit": 25])
        watch.advance(3)
        #expect(pause(machine.handle(reply("1")), .refresh(Self.room)) == Machine.refreshPeriod)
        watch.advance(100)
        _ = machine.handle(.broken)
        _ = machine.handle(.timer(.reconnect))
        #expect(replay(machine.handle(.opened(polls: false)))?["since"]?.int64 == start + 3000)
        _ = machine.handle(reply("2"))
        // A device whose time of day is put back asks for nothing that was known before.
        watch.advance(-50_000)
        #expect(replay(machine.handle(.timer(.refresh(Self.room))))?["since"]?.int64 == start + 103_000)
        _ = machine.handle(reply("3"))
        #expect(replay(machine.handle(.rejoin))?["since"]?.int64 == start + 103_000)
    }

    @Test func `Hints are not replayed, since every receiver reads anyway`() {
        var machine = machine()
        _ = machine.handle(.join(Self.room, Self.hints))
        let actions = machine.handle(.opened(polls: false))
        #expect(sent(actions).map(\.event) == ["phx_join"] && replay(actions) == nil)
        #expect(pause(machine.handle(reply("1")), .refresh(Self.room)) == nil)
    }

    @Test(arguments: [
        "UnableToReplayMessages: Replay params are not valid", "Replay is not allowed for public channels",
    ])
    func `A service that does not replay is not asked to a second time`(reason: String) {
        var machine = machine()
        _ = machine.handle(.join(Self.room, Self.news))
        _ = machine.handle(.opened(polls: false))
        let actions = machine.handle(refusal("1", reason))
        #expect(sent(actions).map(\.event) == ["phx_join"] && replay(actions) == nil)
        #expect(events(machine.handle(reply("2"))) == [.joined])
        #expect(replay(machine.handle(.rejoin)) == nil)
    }

    // MARK: Refusals that hold everything up

    private func name(_ number: Int) -> String { "realtime:\(number)" }

    private func refused(_ ref: String, _ topic: String) -> Machine.Event {
        .received(
            RealtimeMessage(
                joinRef: ref, ref: ref, topic: topic, event: "phx_reply",
                payload: ["status": "error", "response": ["reason": "Unauthorized: no"]]))
    }

    @Test func `What was refused before is joined last, one at a time`() {
        var machine = machine()
        for number in 1...3 { _ = machine.handle(.join(name(number), Self.hints)) }
        #expect(sent(machine.handle(.opened(polls: false))).count == 3)
        for number in 1...2 { #expect(end(machine.handle(refused("\(number)", name(number)))) == .unauthorized) }
        _ = machine.handle(reply("3", name(3)))

        // The first of both goes out; with it under way the second waits, and a new one does not.
        #expect(sent(machine.handle(.join(name(1), Self.hints))).map(\.topic) == [name(1)])
        #expect(sent(machine.handle(.join(name(2), Self.hints))).isEmpty)
        #expect(sent(machine.handle(.join(name(4), Self.hints))).map(\.topic) == [name(4)])
        #expect(sent(machine.handle(reply("4", name(1)))).map(\.topic) == [name(2)])
        // Once it was joined, it is like all others.
        #expect(sent(machine.handle(.leave(name(1)))).map(\.event) == ["phx_leave"])
        #expect(sent(machine.handle(.join(name(1), Self.hints))).map(\.topic) == [name(1)])
    }

    @Test func `A refusal gives the answers that had to wait for it the time that it took`() {
        var machine = machine()
        for number in 1...2 { _ = machine.handle(.join(name(number), Self.hints)) }
        _ = machine.handle(.opened(polls: false))
        let actions = machine.handle(refused("1", name(1)))
        #expect(pause(actions, .join(name(2))) == Machine.joinDeadline)
    }

    @Test func `A late heartbeat is waited for while joins are not answered, but not for ever`() {
        var machine = machine()
        for number in 1...8 { _ = machine.handle(.join(name(number), Self.hints)) }
        _ = machine.handle(.opened(polls: false))
        #expect(sent(machine.handle(.timer(.heartbeat))).map(\.event) == ["heartbeat"])
        for number in 1...3 {
            let actions = machine.handle(.timer(.heartbeat))
            #expect(actions == [.schedule(.heartbeat, after: machine.heartbeat)], "late beat \(number)")
            _ = machine.handle(refused("\(number)", name(number)))
        }
        #expect(machine.handle(.timer(.heartbeat)).contains(.disconnect))
    }

    @Test func `An answer to the heartbeat ends the patience's count`() {
        var machine = machine()
        _ = machine.handle(.join(name(1), Self.hints))
        _ = machine.handle(.opened(polls: false))
        for _ in 1...5 {
            let ref = sent(machine.handle(.timer(.heartbeat))).last?.ref
            #expect(!machine.handle(.timer(.heartbeat)).contains(.disconnect))
            _ = machine.handle(reply(ref ?? "", "phoenix"))
        }
    }
}
