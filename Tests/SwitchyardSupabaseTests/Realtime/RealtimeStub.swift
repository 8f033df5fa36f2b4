import Switchyard
import SwitchyardBytes
import SwitchyardLocalSupabase
import SwitchyardServerKit
import SwitchyardTestSupport
import SwitchyardWire
import Synchronization

@testable import SwitchyardSupabase

/// A realtime service that takes every join and says what a test tells it to, over both ways.
final class RealtimeStub: Sendable {
    private struct State {
        var received: [RealtimeMessage] = []
        var sockets: [any WebSocketConnection] = []
        var sessions: [String: [JSON]] = [:]
        var openings = 0
        var pollAnswers = 0
        var refusal: ServerResponse?
        var reason: String?
        var confirms = true
    }

    private let state = Mutex(State())
    private let serverBox = Mutex<LoopbackServer?>(nil)

    init() throws {
        let server = try LoopbackServer { [weak self] request in await self?.answer(request) ?? .noAnswer() }
        serverBox.withLock { $0 = server }
    }

    var url: String { serverBox.withLock { $0!.url } }
    /// The realtime service's.
    var address: String { url + "/realtime/v1" }

    var received: [RealtimeMessage] { state.withLock(\.received) }
    func count(of event: String) -> Int { received.count { $0.event == event } }
    /// How many ways to it were opened.
    var openings: Int { state.withLock(\.openings) }

    /// Answers the next handshakes by web socket with this.
    func refuseWebSockets(with response: ServerResponse?) { state.withLock { $0.refusal = response } }
    /// Refuses joins for this reason.
    func refuseJoins(_ reason: String?) { state.withLock { $0.reason = reason } }
    /// Whether joined channels are confirmed.
    func confirmsJoins(_ confirms: Bool) { state.withLock { $0.confirms = confirms } }

    func dropConnections() { serverBox.withLock { $0 }?.dropConnections() }
    /// Long-poll sessions are forgotten: the next poll makes another one.
    func forgetSessions() { state.withLock { $0.sessions = [:] } }

    func stop() async { await serverBox.withLock { $0 }?.stop() }

    /// Sends to everybody who is connected.
    func send(_ message: RealtimeMessage) async throws {
        let sockets = state.withLock { state in
            for id in state.sessions.keys { state.sessions[id]?.append(.string(message.object.text())) }
            return state.sockets
        }
        for socket in sockets { try? await socket.send(.text(message.array.text())) }
    }

    func send(frame: [UInt8]) async throws {
        for socket in state.withLock(\.sockets) { try? await socket.send(.binary(frame)) }
    }

    // MARK: Answers

    private func answer(_ request: ServerRequest) async -> ServerResponse {
        if request.rawPath.hasSuffix("/websocket") {
            if let refusal = state.withLock(\.refusal) { return refusal }
            return .webSocket { [weak self] socket in
                self?.state.withLock { state in
                    state.openings += 1
                    state.sockets.append(socket)
                }
                defer { self?.state.withLock { state in state.sockets.removeAll { $0 === socket } } }
                while let message = try await socket.receive() {
                    guard let self else { return }
                    guard case .text(let text) = message else {
                        self.state.withLock { state in
                            guard case .binary(let bytes) = message else { return }
                            state.received.append(RealtimeMessage(topic: "", event: "frame", bytes: bytes))
                        }
                        continue
                    }
                    let message = try RealtimeMessage(text: text.utf8)
                    for reply in self.replies(to: message) { try await socket.send(.text(reply.array.text())) }
                }
            }
        }
        guard request.rawPath.hasSuffix("/longpoll") else { return ServerResponse(status: 404) }
        return await poll(request)
    }

    private func poll(_ request: ServerRequest) async -> ServerResponse {
        let token = request.headers["X-Phoenix-Longpoll-Token"] ?? ""
        let isKnown = state.withLock { $0.sessions[token] != nil }
        if request.method == .post {
            guard isKnown, let bytes = try? await request.body.collect(),
                let message = try? RealtimeMessage(text: bytes)
            else { return .json(#"{"status":410}"#.utf8.map { $0 }) }
            let replies = replies(to: message)
            state.withLock { $0.sessions[token]? += replies.map { .string($0.object.text()) } }
            return .json(Array(#"{"status":200}"#.utf8))
        }
        guard isKnown else {
            let token = state.withLock { state in
                state.openings += 1
                state.sessions["s\(state.openings)"] = []
                return "s\(state.openings)"
            }
            return .json(JSON.object(["status": 410, "token": .string(token), "messages": []]).bytes())
        }
        // Soon, instead of after ten seconds.
        for _ in 0..<20 {
            if state.withLock({ $0.sessions[token]?.isEmpty != true }) { break }
            try? await Task.sleep(for: .milliseconds(2))
        }
        let messages = state.withLock { state in
            defer { if state.sessions[token] != nil { state.sessions[token] = [] } }
            return state.sessions[token] ?? []
        }
        guard !messages.isEmpty else {
            return .json(JSON.object(["status": 204, "token": .string(token), "messages": []]).bytes())
        }
        return .json(JSON.object(["status": 200, "token": .string(token), "messages": .array(messages)]).bytes())
    }

    private func replies(to message: RealtimeMessage) -> [RealtimeMessage] {
        let (reason, confirms) = state.withLock { state in
            state.received.append(message)
            return (state.reason, state.confirms)
        }
        func reply(_ payload: JSON) -> RealtimeMessage {
            RealtimeMessage(
                joinRef: message.joinRef, ref: message.ref, topic: message.topic, event: "phx_reply", payload: payload)
        }
        switch message.event {
        case "phx_join":
            if let reason { return [reply(["status": "error", "response": ["reason": .string(reason)]])] }
            let config = message.payload["config"]
            let bindings = config?["postgres_changes"] ?? []
            var all = [reply(["status": "ok", "response": ["postgres_changes": bindings]])]
            func system(_ part: JSON, _ text: JSON) {
                all.append(
                    RealtimeMessage(
                        joinRef: message.joinRef, topic: message.topic, event: "system",
                        payload: ["extension": part, "status": "ok", "message": text]))
            }
            if confirms, bindings != [] { system("postgres_changes", "Subscribed to PostgreSQL") }
            if confirms, config?["broadcast"]?["replication_ready"] == true {
                system("system", "Replication connection established")
            }
            return all
        case "heartbeat", "phx_leave": return [reply(["status": "ok", "response": [:]])]
        case "broadcast": return [reply(["status": "ok", "response": [:]])]
        default: return []
        }
    }
}
