import SwitchyardWire

/// A machine with its events, as a reference, so that expectations can call what changes it.
final class MachineHolder {
    static let start = ContinuousClock.now

    private var machine: WebSocketMachine
    private(set) var events: [WebSocketMachine.Event] = []

    init(
        _ role: WebSocketRole, limits: WebSocketLimits = WebSocketLimits(),
        keepAlive: WebSocketKeepAlive = WebSocketKeepAlive(), mask: UInt32 = 0x0403_0201
    ) {
        machine = WebSocketMachine(
            role: role, limits: limits, keepAlive: keepAlive, masks: .fixed(mask), at: Self.start)
    }

    var output: [UInt8] { machine.output }
    var isDone: Bool { machine.isDone }
    /// Seconds after the start.
    var deadline: Duration? { machine.deadline.map { Self.start.duration(to: $0) } }

    func send(_ message: WebSocketMessage) -> Bool { machine.send(message) }
    func ping(_ payload: [UInt8]) -> Bool { machine.ping(payload, at: Self.start) }
    func close(_ close: WebSocketClose) { machine.close(close, at: Self.start) }
    func take() -> [UInt8] { machine.takeOutput() }
    func end() { machine.end(into: &events) }
    func tick(_ time: Duration) { machine.tick(at: Self.start + time, into: &events) }
    func setReceiving(_ receiving: Bool, at time: Duration) {
        machine.setReceiving(receiving, at: Self.start + time)
    }

    /// The events that these bytes cause.
    func feed(_ bytes: [UInt8], at time: Duration = .zero) -> [WebSocketMachine.Event] {
        let before = events.count
        bytes.withUnsafeBytes { machine.receive($0, at: Self.start + time, into: &events) }
        return Array(events[before...])
    }
}
