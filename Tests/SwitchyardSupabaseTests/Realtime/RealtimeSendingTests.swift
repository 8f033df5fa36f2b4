import SwitchyardBytes
import Testing

@testable import SwitchyardSupabase

/// What is sent on channels, and how it is answered.
struct RealtimeSendingTests: RealtimeMachineSuite {
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

    @Test(arguments: [nil, "1"])
    func `A token for a channel that the server has lost makes it join again`(_ joinRef: String?) throws {
        var machine = joined()
        func lost(_ ref: String, _ joinRef: String?) -> Machine.Event {
            .received(
                RealtimeMessage(
                    joinRef: joinRef, ref: ref, topic: Self.room, event: "phx_reply",
                    payload: ["status": "error", "response": ["reason": "unmatched topic"]]))
        }
        let ref = try #require(sent(machine.handle(.token("t2"))).first?.ref)
        let actions = machine.handle(lost(ref, joinRef))
        #expect(events(actions) == [.interrupted])
        #expect(pause(actions, .rejoin(Self.room)) == .seconds(1))
        let join = try #require(sent(machine.handle(.timer(.rejoin(Self.room)))).first)
        #expect(join.event == "phx_join")
        #expect(events(machine.handle(reply(try #require(join.ref)))) == [.joined, .confirmed])
        #expect(machine.handle(lost(ref, joinRef)).isEmpty, "that is about the life before")
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
