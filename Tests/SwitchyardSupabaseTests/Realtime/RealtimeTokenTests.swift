import SwitchyardBytes
import Testing

@testable import SwitchyardSupabase

/// Whose tokens channels are joined with, and what becomes of those that are refused.
struct RealtimeTokenTests: RealtimeMachineSuite {
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

    @Test func `When no user is signed in any more the channel is joined again`() {
        var machine = joined()
        let actions = machine.handle(.token(nil))
        #expect(sent(actions).map(\.event) == ["phx_leave", "phx_join"])
        #expect(sent(actions)[1].payload["access_token"] == nil)
        #expect(events(actions) == [.interrupted])
    }

    @Test func `A refusal of the previous user is not the current user's`() {
        var machine = machine()
        _ = machine.handle(.join(Self.room, Self.plain))
        _ = machine.handle(.token(nil))
        _ = machine.handle(.opened(polls: false))
        _ = machine.handle(.token("t1"))
        let join = sent(machine.handle(refusal("1", "Unauthorized: no")))
        #expect(join.map(\.event) == ["phx_join"])
        #expect(join.map { $0.payload["access_token"] } == ["t1"])
        #expect(end(machine.handle(refusal("2", "Unauthorized: no"))) == .unauthorized)
    }

    @Test func `A refused token is replaced once`() {
        var machine = machine()
        _ = machine.handle(.join(Self.room, Self.plain))
        _ = machine.handle(.token("t1"))
        _ = machine.handle(.opened(polls: false))
        #expect(machine.handle(refusal("1", "InvalidJWTToken: x")).contains(.fetchToken(isRefused: true)))
        let join = sent(machine.handle(.token("t2", isAnswer: true)))
        #expect(join.map { $0.payload["access_token"] } == ["t2"])
        #expect(end(machine.handle(refusal("2", "InvalidJWTToken: x"))) == .unauthenticated)
    }

    @Test func `A refused token that is the only one there is ends the channel`() {
        var machine = machine()
        _ = machine.handle(.join(Self.room, Self.plain))
        _ = machine.handle(.token("t1"))
        _ = machine.handle(.opened(polls: false))
        _ = machine.handle(refusal("1", "InvalidJWTToken: x"))
        #expect(end(machine.handle(.token("t1", isAnswer: true))) == .unauthenticated)
    }

    @Test func `A token that was on its way before the refusal does not count as the new one`() {
        var machine = joined()
        _ = machine.handle(.timer(.heartbeat))
        let error: JSON = ["extension": "system", "status": "error", "message": "Token has expired 3 seconds ago"]
        #expect(!machine.handle(channelMessage("system", error)).contains(.fetchToken(isRefused: true)))
        #expect(machine.handle(.token("t1", isAnswer: true)) == [.fetchToken(isRefused: true)])
        #expect(sent(machine.handle(.token("t2", isAnswer: true))).map(\.event) == ["phx_join"])
    }

    /// Waits for another token than the refused one, and for a way to the server.
    private func refused() -> Machine {
        var machine = joined()
        let error: JSON = ["extension": "system", "status": "error", "message": "Token has expired 3 seconds ago"]
        #expect(machine.handle(channelMessage("system", error)).contains(.fetchToken(isRefused: true)))
        _ = machine.handle(.broken)
        #expect(machine.handle(.timer(.reconnect)) == [.connect(polls: false)])
        return machine
    }

    @Test func `A token that a new connection was opened with does not answer the refusal`() {
        var machine = refused()
        #expect(machine.handle(.token("t1")).isEmpty)
        _ = machine.handle(.opened(polls: false))
        let join = sent(machine.handle(.token("t2", isAnswer: true)))
        #expect(join.map(\.event) == ["phx_join"])
        #expect(join.map { $0.payload["access_token"] } == ["t2"])
    }

    @Test func `A token that a new connection waits for in vain does not answer the refusal either`() {
        var machine = refused()
        #expect(pause(machine.handle(.tokenDelayed()), .reconnect) != nil)
        _ = machine.handle(.timer(.reconnect))
        #expect(machine.handle(.token("t1")).isEmpty)
        // The new token can wait, and the way is opened meanwhile.
        #expect(pause(machine.handle(.tokenDelayed(isAnswer: true)), .rejoin(Self.room)) == .seconds(5))
        _ = machine.handle(.opened(polls: false))
        #expect(sent(machine.handle(.timer(.rejoin(Self.room)))).map(\.event) == ["phx_join"])
    }

    @Test func `A token that cannot be had at the moment is waited for`() {
        var machine = machine()
        _ = machine.handle(.join(Self.room, Self.plain))
        #expect(pause(machine.handle(.tokenDelayed()), .reconnect) == .seconds(0.5))
        _ = machine.handle(.timer(.reconnect))
        _ = machine.handle(.token("t1"))
        _ = machine.handle(.opened(polls: false))
        _ = machine.handle(refusal("1", "InvalidJWTToken: x"))
        #expect(pause(machine.handle(.tokenDelayed(isAnswer: true)), .rejoin(Self.room)) == .seconds(5))
    }

    @Test func `Without a session that could give tokens the channels are left rather than tried for ever`() {
        var machine = joined()
        let actions = machine.handle(.tokenDenied(RealtimeFailure(.unauthenticated, "the session is over")))
        #expect(end(actions) == .unauthenticated)
        #expect(sent(actions).map(\.event) == ["phx_leave"])
    }
}
