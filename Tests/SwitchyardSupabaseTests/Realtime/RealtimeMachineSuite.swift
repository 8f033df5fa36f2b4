import SwitchyardBytes

@testable import SwitchyardSupabase

/// What tests of the machine need: machines in a state, what the server says to them, and what they make of it.
protocol RealtimeMachineSuite {}

extension RealtimeMachineSuite {
    typealias Machine = RealtimeMachine

    static var room: String { "realtime:room" }
    static var plain: RealtimeConfiguration { RealtimeConfiguration() }
    static var watching: RealtimeConfiguration {
        RealtimeConfiguration(changes: [RealtimeConfiguration.Binding(table: "todos")])
    }
    static var subscribed: JSON {
        [
            "extension": "postgres_changes", "status": "ok", "message": "Subscribed to PostgreSQL", "channel": "room",
        ]
    }

    func machine() -> Machine { Machine(now: { 1_000_000_000 }, jitter: { 1 }) }

    func reply(_ ref: String, _ topic: String = Self.room, ok response: JSON = [:]) -> Machine.Event {
        .received(
            RealtimeMessage(
                joinRef: ref, ref: ref, topic: topic, event: "phx_reply",
                payload: ["status": "ok", "response": response]))
    }

    func refusal(_ ref: String, _ reason: String) -> Machine.Event {
        .received(
            RealtimeMessage(
                joinRef: ref, ref: ref, topic: Self.room, event: "phx_reply",
                payload: ["status": "error", "response": ["reason": .string(reason)]]))
    }

    func channelMessage(_ event: String, _ payload: JSON = [:], joinRef: String? = "1") -> Machine.Event {
        .received(RealtimeMessage(joinRef: joinRef, topic: Self.room, event: event, payload: payload))
    }

    /// A machine whose only channel was joined with reference 1.
    func joined(_ configuration: RealtimeConfiguration = Self.plain, token: String? = "t1") -> Machine {
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

    func events(_ actions: [Machine.Action]) -> [RealtimeEvent] {
        actions.compactMap { if case .deliver(_, let event) = $0 { event } else { nil } }
    }

    func sent(_ actions: [Machine.Action]) -> [RealtimeMessage] {
        actions.compactMap { if case .send(let message) = $0 { message } else { nil } }
    }

    func pause(_ actions: [Machine.Action], _ timer: Machine.Timer) -> Duration? {
        for case .schedule(timer, let pause) in actions { return pause }
        return nil
    }

    func end(_ actions: [Machine.Action]) -> RealtimeFailure.Kind? {
        for case .end(_, let failure) in actions { return failure.kind }
        return nil
    }
}
