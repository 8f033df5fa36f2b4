import SwitchyardBytes
import Testing

@testable import SwitchyardSupabase

/// Every transition of the machine, without a network and without a clock.
struct RealtimeMachineTests {
    typealias Machine = RealtimeMachine

    private static let room = "realtime:room"
    private static let plain = RealtimeConfiguration()
    private static let watching = RealtimeConfiguration(changes: [RealtimeConfiguration.Binding(table: "todos")])
    private static let subscribed: JSON = [
        "extension": "postgres_changes", "status": "ok", "message": "Subscribed to PostgreSQL", "channel": "room",
    ]

    private func machine() -> Machine { Machine(jitter: { 1 }) }

    private func reply(_ ref: String, _ topic: String = room, ok response: JSON = [:]) -> Machine.Event {
        .received(
            RealtimeMessage(
                joinRef: ref, ref: ref, topic: topic, event: "phx_reply",
                payload: ["status": "ok", "response": response]))
    }

    private func refusal(_ ref: String, _ reason: String) -> Machine.Event {
        .received(
            RealtimeMessage(
                joinRef: ref, ref: ref, topic: Self.room, event: "phx_reply",
                payload: ["status": "error", "response": ["reason": .string(reason)]]))
    }

    private func told(_ event: String, _ payload: JSON = [:], joinRef: String? = "1") -> Machine.Event {
        .received(RealtimeMessage(joinRef: joinRef, topic: Self.room, event: event, payload: payload))
    }

    /// A machine whose only channel was joined with reference 1.
    private func joined(_ configuration: RealtimeConfiguration = plain, token: String? = "t1") -> Machine {
        var machine = machine()
        _ = machine.handle(.join(Self.room, configuration))
        _ = machine.handle(.token(token))
        _ = machine.handle(.opened(polls: false))
        let bindings = configuration.changes.map { binding -> JSON in
            ["id": 5, "event": "*", "schema": .string(binding.schema), "table": .string(binding.table)]
        }
        _ = machine.handle(reply("1", ok: ["postgres_changes": .array(bindings)]))
        return machine
    }

    private func events(_ actions: [Machine.Action]) -> [RealtimeEvent] {
        actions.compactMap { if case .deliver(_, let event) = $0 { event } else { nil } }
    }

    private func sent(_ actions: [Machine.Action]) -> [RealtimeMessage] {
        actions.compactMap { if case .send(let message) = $0 { message } else { nil } }
    }

    private func pause(_ actions: [Machine.Action], _ timer: Machine.Timer) -> Duration? {
        for case .schedule(timer, let pause) in actions { return pause }
        return nil
    }

    private func end(_ actions: [Machine.Action]) -> RealtimeFailure.Kind? {
        for case .end(_, let failure) in actions { return failure.kind }
        return nil
    }

    // MARK: Joining

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
        #expect(events(machine.handle(told("system", Self.subscribed))) == [.confirmed])
        // The server repeats it whenever it has subscribed anew: something may be missing.
        #expect(events(machine.handle(told("system", Self.subscribed))) == [.confirmed])
    }

    @Test func `A channel for the database's broadcasts waits for the replication`() {
        var machine = joined(RealtimeConfiguration(isPrivate: true, awaitsDatabase: true))
        #expect(events(machine.handle(told("system", ["status": "ok", "message": "Something else"]))).isEmpty)
        let ready: JSON = ["extension": "system", "status": "ok", "message": "Replication connection established"]
        #expect(events(machine.handle(told("system", ready))) == [.confirmed])
    }

    @Test func `A confirmation that does not come is told once`() {
        var machine = joined(Self.watching)
        #expect(events(machine.handle(.timer(.confirmation(Self.room)))) == [.unconfirmed])
        #expect(events(machine.handle(told("system", Self.subscribed))) == [.confirmed])
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
        // The late answer to the first join is about nobody.
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
        var early = Machine(jitter: { 0 })
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
        let actions = machine.handle(told("phx_error", joinRef: "3"))
        #expect(pause(actions, .rejoin(Self.room)) == .seconds(1))
    }

    // MARK: What comes in

    @Test func `What the server fans out is delivered, and what is about an earlier life is not`() {
        var machine = joined()
        let broadcast: JSON = ["type": "broadcast", "event": "e", "payload": ["x": 1]]
        let event = RealtimeEvent.broadcast(
            RealtimeBroadcast(event: "e", content: .json(["x": 1]), id: nil, isReplayed: false))
        #expect(events(machine.handle(told("broadcast", broadcast, joinRef: nil))) == [event])
        #expect(events(machine.handle(told("broadcast", broadcast))) == [event])
        #expect(machine.handle(told("broadcast", broadcast, joinRef: "0")).isEmpty)
        #expect(machine.handle(told("phx_close", joinRef: "0")).isEmpty)
        #expect(machine.handle(told("phx_error", joinRef: "0")).isEmpty)
    }

    @Test func `Nobody minds what nobody knows`() {
        var machine = joined()
        #expect(machine.handle(told("presence_state", ["a": [:]])).isEmpty)
        #expect(machine.handle(told("something_new", .null)).isEmpty)
        #expect(machine.handle(reply("77")).isEmpty)
        #expect(
            machine.handle(.received(RealtimeMessage(topic: "realtime:other", event: "broadcast", payload: [:])))
                .isEmpty)
    }

    @Test(arguments: ["phx_close", "phx_error"])
    func `A channel that ended on the server is joined again`(_ event: String) {
        var machine = joined()
        let actions = machine.handle(told(event))
        #expect(events(actions) == [.interrupted])
        #expect(pause(actions, .rejoin(Self.room)) == .seconds(1))
        #expect(sent(machine.handle(.timer(.rejoin(Self.room)))).map(\.event) == ["phx_join"])
    }

    @Test func `What a system error says counts, and the close behind it does not`() {
        var machine = joined()
        let error: JSON = ["extension": "system", "status": "error", "message": "Too many messages per second"]
        #expect(pause(machine.handle(told("system", error)), .rejoin(Self.room)) == .seconds(20))
        #expect(machine.handle(told("phx_close")).isEmpty)
    }

    @Test func `A lost permission ends the channel`() {
        var machine = joined()
        let error: JSON = [
            "extension": "system", "status": "error",
            "message": "You no longer have permission to read from this Channel topic: room",
        ]
        #expect(end(machine.handle(told("system", error))) == .unauthorized)
    }

    @Test func `A bad binding ends the channel, for the server gives it up without closing it`() {
        var machine = joined(Self.watching)
        let error: JSON = [
            "extension": "postgres_changes", "status": "error", "message": "Error parsing `filter` params: x",
        ]
        let actions = machine.handle(told("system", error))
        #expect(end(actions) == .refused)
        #expect(sent(actions).map(\.event) == ["phx_leave"])
    }

    @Test func `While the server has trouble with changes the channel is unconfirmed`() {
        var machine = joined(Self.watching)
        _ = machine.handle(told("system", Self.subscribed))
        let error: JSON = [
            "extension": "postgres_changes", "status": "error", "message": "Too many database timeouts",
        ]
        #expect(events(machine.handle(told("system", error))) == [.unconfirmed])
        #expect(events(machine.handle(told("system", error))).isEmpty)
        #expect(events(machine.handle(told("system", Self.subscribed))) == [.confirmed])
    }

    @Test func `A server that asks to leave is left, and come back to`() {
        var machine = joined()
        let actions = machine.handle(
            told("system", ["extension": "system", "status": "ok", "message": "Server requested disconnect"]))
        #expect(actions.contains(.disconnect))
        #expect(events(actions) == [.interrupted])
        #expect(pause(actions, .reconnect) == .seconds(2))
        #expect(machine.handle(.timer(.reconnect)) == [.connect(polls: false)])
    }

    // MARK: The way to the server

    @Test func `A heartbeat that was not answered when the next is due means that nobody is there`() {
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
            _ = machine.handle(.token(nil))
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

    @Test func `Without references a close during a join is about an earlier life`() {
        var machine = machine()
        _ = machine.handle(.join(Self.room, Self.plain))
        _ = machine.handle(.opened(polls: true))
        #expect(machine.handle(told("phx_close", joinRef: nil)).isEmpty)
        #expect(events(machine.handle(reply("1"))) == [.joined, .confirmed])
        #expect(events(machine.handle(told("phx_close", joinRef: nil))) == [.interrupted])
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

    // MARK: Leaving

    @Test func `Leaving tells the server, and what comes then is not delivered`() {
        var machine = joined()
        let actions = machine.handle(.leave(Self.room))
        #expect(sent(actions).map(\.event) == ["phx_leave"])
        #expect(sent(actions).map(\.joinRef) == ["1"])
        #expect(end(actions) == .closed)
        #expect(machine.handle(told("phx_close")).isEmpty)
    }

    @Test func `A topic that is joined again at once is another incarnation`() {
        var machine = joined()
        _ = machine.handle(.leave(Self.room))
        let join = sent(machine.handle(.join(Self.room, Self.plain)))
        #expect(join.map(\.event) == ["phx_join"])
        #expect(machine.handle(told("phx_close")).isEmpty)
        #expect(events(machine.handle(reply(join[0].ref ?? ""))) == [.joined, .confirmed])
    }

    // MARK: Tokens

    @Test func `A new token is pushed on every channel, the same one is not`() {
        var machine = joined()
        _ = machine.handle(.join("realtime:other", Self.plain))
        _ = machine.handle(reply("2", "realtime:other"))
        #expect(machine.handle(.token("t1")).isEmpty)
        let messages = sent(machine.handle(.token("t2")))
        #expect(messages.map(\.event) == ["access_token", "access_token"])
        #expect(messages.map(\.joinRef) == ["1", "2"])
        #expect(messages.allSatisfy { $0.payload == ["access_token": "t2"] })
    }

    @Test func `A token that changed during the join is pushed after it`() {
        var machine = machine()
        _ = machine.handle(.join(Self.room, Self.plain))
        _ = machine.handle(.token("t1"))
        _ = machine.handle(.opened(polls: false))
        #expect(machine.handle(.token("t2")).isEmpty)
        #expect(sent(machine.handle(reply("1"))).map(\.event) == ["access_token"])
    }

    @Test func `When nobody is signed in any more the channel is joined anew`() {
        var machine = joined()
        let actions = machine.handle(.token(nil))
        #expect(sent(actions).map(\.event) == ["phx_leave", "phx_join"])
        #expect(sent(actions)[1].payload["access_token"] == nil)
        #expect(events(actions) == [.interrupted])
    }

    @Test func `A refused token is replaced once`() {
        var machine = machine()
        _ = machine.handle(.join(Self.room, Self.plain))
        _ = machine.handle(.token("t1"))
        _ = machine.handle(.opened(polls: false))
        #expect(machine.handle(refusal("1", "InvalidJWTToken: x")).contains(.fetchToken(isRefused: true)))
        let join = sent(machine.handle(.token("t2")))
        #expect(join.map { $0.payload["access_token"] } == ["t2"])
        #expect(end(machine.handle(refusal("2", "InvalidJWTToken: x"))) == .unauthenticated)
    }

    @Test func `A refused token that is the only one there is ends the channel`() {
        var machine = machine()
        _ = machine.handle(.join(Self.room, Self.plain))
        _ = machine.handle(.token("t1"))
        _ = machine.handle(.opened(polls: false))
        _ = machine.handle(refusal("1", "InvalidJWTToken: x"))
        #expect(end(machine.handle(.token("t1"))) == .unauthenticated)
    }

    @Test func `A token that was on its way before the refusal does not count as the new one`() {
        var machine = joined()
        _ = machine.handle(.timer(.heartbeat))
        let error: JSON = ["extension": "system", "status": "error", "message": "Token has expired 3 seconds ago"]
        #expect(!machine.handle(told("system", error)).contains(.fetchToken(isRefused: true)))
        #expect(machine.handle(.token("t1")) == [.fetchToken(isRefused: true)])
        #expect(sent(machine.handle(.token("t2"))).map(\.event) == ["phx_join"])
    }

    @Test func `A token that cannot be had at the moment is waited for`() {
        var machine = machine()
        _ = machine.handle(.join(Self.room, Self.plain))
        #expect(pause(machine.handle(.tokenDelayed), .reconnect) == .seconds(0.5))
        _ = machine.handle(.timer(.reconnect))
        _ = machine.handle(.token("t1"))
        _ = machine.handle(.opened(polls: false))
        _ = machine.handle(refusal("1", "InvalidJWTToken: x"))
        #expect(pause(machine.handle(.tokenDelayed), .rejoin(Self.room)) == .seconds(5))
    }

    @Test func `Without a session that could give tokens the channels are left rather than tried for ever`() {
        var machine = joined()
        let actions = machine.handle(.tokenDenied(RealtimeFailure(.unauthenticated, "the session is over")))
        #expect(end(actions) == .unauthenticated)
        #expect(sent(actions).map(\.event) == ["phx_leave"])
    }

    // MARK: Sending

    private func push(_ id: Int = 9, bytes: [UInt8]? = nil) -> Machine.Event {
        .push(
            Machine.Push(
                id: id, topic: Self.room, event: "broadcast", payload: ["type": "broadcast", "event": "e"], bytes: bytes
            ))
    }

    private func answer(_ actions: [Machine.Action]) -> Result<JSON, RealtimeFailure>? {
        for case .answer(9, let result) in actions { return result }
        return nil
    }

    @Test func `Without acknowledgements a message is sent and that is all`() {
        var machine = joined()
        let actions = machine.handle(push())
        #expect(sent(actions).map(\.event) == ["broadcast"])
        #expect(answer(actions) == .success(.null))
    }

    @Test func `With acknowledgements the reply is the answer, and silence is one, too`() {
        var machine = joined(RealtimeConfiguration(acknowledges: true))
        var actions = machine.handle(push())
        #expect(answer(actions) == nil)
        #expect(answer(machine.handle(reply(sent(actions)[0].ref!))) == .success([:]))
        actions = machine.handle(push())
        let tooLarge = RealtimeMessage(
            ref: sent(actions)[0].ref, topic: Self.room, event: "phx_reply",
            payload: ["status": "error", "response": "payload_size_exceeded"])
        #expect(answer(machine.handle(.received(tooLarge))).map { $0.isFailure(.tooLarge) } == true)
        actions = machine.handle(push())
        let silence = machine.handle(.timer(.push(sent(actions)[0].ref!)))
        #expect(answer(silence).map { $0.isFailure(.unanswered) } == true)
    }

    @Test func `A message to a channel that the server has lost makes it join again`() {
        var machine = joined(RealtimeConfiguration(acknowledges: true))
        let ref = sent(machine.handle(push()))[0].ref!
        let actions = machine.handle(refusal(ref, "unmatched topic"))
        #expect(answer(actions).map { $0.isFailure(.unavailable) } == true)
        #expect(pause(actions, .rejoin(Self.room)) == .seconds(1))
    }

    @Test func `Nothing is sent on a channel that is not joined, and what waits for a reply learns of the loss`() {
        var machine = joined(RealtimeConfiguration(acknowledges: true))
        _ = machine.handle(push())
        #expect(answer(machine.handle(.broken)).map { $0.isFailure(.unavailable) } == true)
        #expect(answer(machine.handle(push())).map { $0.isFailure(.unavailable) } == true)
        _ = machine.handle(.leave(Self.room))
        #expect(answer(machine.handle(push())).map { $0.isFailure(.closed) } == true)
    }

    @Test func `Bytes go by web socket only`() {
        var machine = joined()
        #expect(sent(machine.handle(push(bytes: [1]))).map(\.bytes) == [[1]])
        var polling = self.machine()
        _ = polling.handle(.join(Self.room, Self.plain))
        _ = polling.handle(.opened(polls: true))
        _ = polling.handle(reply("1"))
        #expect(answer(polling.handle(push(bytes: [1]))).map { $0.isFailure(.refused) } == true)
    }
}

extension Result where Failure == RealtimeFailure {
    fileprivate func isFailure(_ kind: RealtimeFailure.Kind) -> Bool {
        if case .failure(let failure) = self { failure.kind == kind } else { false }
    }
}
