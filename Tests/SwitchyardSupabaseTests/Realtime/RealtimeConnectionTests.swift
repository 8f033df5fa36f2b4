import SwitchyardBytes
import Testing

@testable import SwitchyardSupabase

/// The way to the server, as it opens, breaks and is opened again.
struct RealtimeConnectionTests: RealtimeMachineSuite {
    @Test func `A heartbeat that was not answered when the next is due means that no one is there`() {
        var machine = joined()
        let first = machine.handle(.timer(.heartbeat))
        #expect(sent(first).map(\.event) == ["heartbeat"])
        #expect(sent(first).map(\.topic) == ["phoenix"])
        #expect(pause(first, .heartbeat) == SupabaseRealtime.usualHeartbeat)
        let second = machine.handle(.timer(.heartbeat))
        #expect(second.contains(.disconnect))
        #expect(events(second) == [.interrupted])
        #expect(pause(second, .reconnect) == .seconds(0.5))
    }

    @Test func `Pauses between connections grow until a join succeeds`() {
        var machine = joined()
        var pauses: [Duration] = []
        for _ in 0..<8 {
            pauses.append(pause(machine.handle(.broken), .reconnect) ?? .zero)
            _ = machine.handle(.timer(.reconnect))
            // That the socket opens says nothing yet.
            _ = machine.handle(.opened(polls: false))
        }
        #expect(pauses == [0.5, 1, 2, 4, 8, 16, 30, 30].map { .seconds($0) })
        let ref = machine.channels[Self.room]?.joinRef ?? ""
        _ = machine.handle(reply(ref))
        #expect(pause(machine.handle(.broken), .reconnect) == .seconds(0.5))
    }

    @Test func `All channels are joined again after the socket broke`() {
        var machine = joined()
        #expect(events(machine.handle(.broken)) == [.interrupted])
        _ = machine.handle(.timer(.reconnect))
        let messages = sent(machine.handle(.opened(polls: false)))
        #expect(messages.map(\.event) == ["phx_join"])
        #expect(messages[0].joinRef != "1")
    }

    @Test(arguments: [
        (401, RealtimeFailure.Kind.unauthenticated), (403, .refused), (404, .refused),
    ])
    func `A handshake that the service refuses for good ends all channels`(
        _ status: Int, _ kind: RealtimeFailure.Kind
    ) {
        var machine = machine()
        _ = machine.handle(.join(Self.room, Self.plain))
        #expect(end(machine.handle(.refused(status: status, reason: "x"))) == kind)
        // Who joins again tries again.
        #expect(machine.handle(.join(Self.room, Self.plain)).contains(.connect(polls: false)))
    }

    @Test(arguments: [(429, Duration.seconds(20)), (500, .seconds(0.5))])
    func `A handshake that is refused for now is tried again`(_ status: Int, _ first: Duration) {
        var machine = machine()
        _ = machine.handle(.join(Self.room, Self.plain))
        #expect(pause(machine.handle(.refused(status: status, reason: "x")), .reconnect) == first)
    }

    @Test func `Where no web socket comes through, long polling is tried once, then a pause is made`() {
        var machine = machine()
        _ = machine.handle(.join(Self.room, Self.plain))
        #expect(machine.handle(.refused(status: 400, reason: nil)) == [.connect(polls: true)])
        #expect(pause(machine.handle(.refused(status: 404, reason: nil)), .reconnect) == .seconds(5))
        #expect(machine.handle(.timer(.reconnect)) == [.connect(polls: false)])
    }

    @Test func `Where no web socket comes through and polling is not wanted, a pause is made at once`() {
        var machine = Machine(mayPoll: false, now: { 1_000_000_000 }, jitter: { 1 })
        _ = machine.handle(.join(Self.room, Self.plain))
        #expect(pause(machine.handle(.refused(status: 400, reason: nil)), .reconnect) == .seconds(5))
        #expect(machine.handle(.timer(.reconnect)) == [.connect(polls: false)])
    }

    @Test func `Long polling needs no heartbeats, but tokens`() {
        var machine = machine()
        _ = machine.handle(.join(Self.room, Self.plain))
        _ = machine.handle(.refused(status: 400, reason: nil))
        _ = machine.handle(.opened(polls: true))
        _ = machine.handle(reply("1"))
        for _ in 0..<3 {
            let actions = machine.handle(.timer(.heartbeat))
            #expect(sent(actions).isEmpty)
            #expect(actions.contains(.fetchToken(isRefused: false)))
            _ = machine.handle(.token(nil, isAnswer: true))
        }
    }

    @Test func `A session that follows another has nothing joined on it`() {
        var machine = machine()
        _ = machine.handle(.join(Self.room, Self.plain))
        _ = machine.handle(.opened(polls: true))
        _ = machine.handle(reply("1"))
        let actions = machine.handle(.opened(polls: true))
        #expect(events(actions) == [.interrupted])
        #expect(sent(actions).map(\.event) == ["phx_join"])
    }

    @Test func `A server that forgets each session before a channel is joined on it is asked again after pauses`() {
        var machine = machine()
        _ = machine.handle(.join(Self.room, Self.plain))
        _ = machine.handle(.opened(polls: true))
        _ = machine.handle(reply("1"))
        _ = machine.handle(.opened(polls: true))
        var pauses: [Duration] = []
        for _ in 0..<3 {
            let actions = machine.handle(.opened(polls: true))
            #expect(actions.contains(.disconnect) && sent(actions).isEmpty)
            pauses.append(pause(actions, .reconnect) ?? .zero)
            _ = machine.handle(.timer(.reconnect))
            #expect(sent(machine.handle(.opened(polls: true))).map(\.event) == ["phx_join"])
        }
        #expect(pauses == [1, 2, 4].map { .seconds($0) })
        _ = machine.handle(reply(machine.channels[Self.room]?.joinRef ?? ""))
        #expect(sent(machine.handle(.opened(polls: true))).map(\.event) == ["phx_join"])
    }

    @Test func `Without references a close during a join is about an earlier life`() {
        var machine = machine()
        _ = machine.handle(.join(Self.room, Self.plain))
        _ = machine.handle(.opened(polls: true))
        #expect(machine.handle(channelMessage("phx_close", joinRef: nil)).isEmpty)
        #expect(events(machine.handle(reply("1"))) == [.joined, .confirmed])
        #expect(events(machine.handle(channelMessage("phx_close", joinRef: nil))) == [.interrupted])
    }

    @Test func `A socket without channels is closed after a while, unless one comes`() {
        var machine = joined()
        let actions = machine.handle(.leave(Self.room))
        #expect(pause(actions, .unused) == .seconds(50))
        #expect(machine.handle(.timer(.unused)).contains(.disconnect))
        #expect(machine.handle(.join(Self.room, Self.plain)).contains(.connect(polls: false)))

        var other = joined()
        _ = other.handle(.leave(Self.room))
        #expect(other.handle(.join(Self.room, Self.plain)).contains(.cancel(.unused)))
        #expect(other.handle(.timer(.unused)).isEmpty)
    }

    @Test func `Closing ends everything, and nothing happens any more`() {
        var machine = joined()
        let actions = machine.handle(.close)
        #expect(end(actions) == .closed)
        #expect(actions.contains(.disconnect))
        #expect(machine.handle(.join(Self.room, Self.plain)).isEmpty)
        #expect(machine.handle(.broken).isEmpty)
    }
}
