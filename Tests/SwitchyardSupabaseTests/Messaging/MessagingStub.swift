import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardLocalSupabase
import SwitchyardServerKit
import SwitchyardTestSupport
import SwitchyardWire
import Synchronization

@testable import SwitchyardSupabase

/// As much of a project as messaging needs: registrations, private channels with the policy of the SQL, and broadcasts.
final class MessagingStub: Sendable {
    private final class Socket: Sendable {
        let connection: any WebSocketConnection
        let topics = Mutex<Set<String>>([])
        /// Those of them whose answer is on its way: what is sent from then on comes behind it.
        let answered = Mutex<Set<String>>([])
        init(_ connection: any WebSocketConnection) { self.connection = connection }
    }

    private struct State {
        var sockets: [Socket] = []
        var installations: [String: JSON] = [:]
        /// As whose they are registered: the tokens.
        var owners: [String: String] = [:]
        var calls: [String] = []
        var version = 4
        var joins = 0
        var refusals = 0
        var refusesJoins = false
        var failure: Int?
        /// Where calls for missed messages wait.
        var gate: Gate?
    }

    private let state = Mutex(State())
    private let box = Mutex<LoopbackServer?>(nil)

    init() throws {
        let server = try LoopbackServer { [weak self] request in
            await self?.answer(request) ?? ServerResponse(status: 503)
        }
        box.withLock { $0 = server }
    }

    var url: String { box.withLock { $0!.url } }
    /// The realtime service's.
    var address: String { url + "/realtime/v1" }
    /// How many connections to that there are.
    var connections: Int { state.withLock(\.sockets.count) }
    var installations: [String: JSON] { state.withLock(\.installations) }
    var calls: [String] { state.withLock(\.calls) }
    /// As whose installations are registered.
    var owners: [String] { state.withLock { $0.owners.values.sorted() } }
    var joins: Int { state.withLock(\.joins) }
    /// What is joined now, by whoever is connected.
    var joinedTopics: Set<String> {
        state.withLock { state in
            state.sockets.reduce(into: []) {
                $0.formUnion($1.topics.withLock { $0 }.intersection($1.answered.withLock { $0 }))
            }
        }
    }
    /// How many joins were refused.
    var refusals: Int { state.withLock(\.refusals) }
    /// Refuses all joins.
    func refuseJoins(_ refuses: Bool) { state.withLock { $0.refusesJoins = refuses } }
    /// Answers calls of functions with this status.
    func failCalls(with status: Int?) { state.withLock { $0.failure = status } }
    /// Lets calls for missed messages wait.
    func holdMissed(at gate: Gate) { state.withLock { $0.gate = gate } }
    func setVersion(_ version: Int) { state.withLock { $0.version = version } }
    func dropConnections() { box.withLock { $0 }?.dropConnections() }
    func stop() async { await box.withLock { $0 }?.stop() }

    var configuration: SupabaseConfiguration {
        SupabaseConfiguration(url: url, key: "sb_publishable_1", serviceKey: "sb_secret_1")
    }

    func client(
        as auth: any AuthClient = FixedAuthClient.signedIn("alice"), folder: URL? = nil,
        clock: any Clock<Duration> = ContinuousClock()
    ) throws -> SupabaseMessagingAdapter {
        let module = SupabaseModule(configuration, transport: { CurlTransport() })
        return try SupabaseMessagingAdapter(
            module.clientContext(ModuleContext(auth: auth, clock: clock, stateFolder: folder)))
    }

    /// A message on a channel, as it is, to whoever has joined it.
    func send(_ topic: String, _ payload: JSON) async {
        let sockets = state.withLock(\.sockets)
        for socket in sockets where socket.topics.withLock({ $0.contains("realtime:\(topic)") }) {
            let message = RealtimeMessage(
                topic: "realtime:\(topic)", event: "broadcast",
                payload: ["type": "broadcast", "event": "message", "payload": payload, "meta": ["id": "meta"]])
            try? await socket.connection.send(.text(message.array.text()))
        }
    }

    // MARK: Answers

    private func answer(_ request: ServerRequest) async -> ServerResponse {
        let path = request.rawPath
        if path.hasSuffix("/websocket") {
            return .webSocket { [weak self] connection in await self?.serve(Socket(connection)) }
        }
        let body = (try? await request.body.collect()).flatMap { try? JSON(parsing: $0) }
        if path.hasSuffix("/api/broadcast") {
            guard request.headers["apikey"] == "sb_secret_1" else { return ServerResponse(status: 401) }
            for message in body?["messages"]?.array ?? [] {
                await send(message["topic"]?.string ?? "", message["payload"] ?? .null)
            }
            return ServerResponse(status: 202)
        }
        guard let name = path.split(separator: "/").last.map(String.init), path.contains("/rpc/") else {
            return ServerResponse(status: 404)
        }
        if name == "switchyard_messages", let gate = state.withLock(\.gate) { try? await gate.pass() }
        return state.withLock { state in
            let installation = body?["installation"]?.string ?? ""
            if name != "switchyard_schema", name != "switchyard_messages" { state.calls.append(name) }
            if let failure = state.failure { return ServerResponse(status: failure) }
            switch name {
            case "switchyard_schema":
                return .json(JSON.object(["version": .integer(Int64(state.version)), "serves": 1]).bytes())
            case "switchyard_register":
                state.installations[installation] = body
                state.owners[installation] = String((request.headers["Authorization"] ?? "").dropFirst("Bearer ".count))
            case "switchyard_unregister":
                state.installations[installation] = nil
                state.owners[installation] = nil
            // None of the database's.
            case "switchyard_messages": return .json(Array("[]".utf8))
            default: return ServerResponse(status: 404)
            }
            return ServerResponse(status: 204)
        }
    }

    private func serve(_ socket: Socket) async {
        state.withLock { $0.sockets.append(socket) }
        defer { state.withLock { state in state.sockets.removeAll { $0 === socket } } }
        while let received = try? await socket.connection.receive() {
            guard case .text(let text) = received, let message = try? RealtimeMessage(text: text.utf8) else {
                continue
            }
            for reply in replies(to: message, on: socket) {
                try? await socket.connection.send(.text(reply.array.text()))
            }
            // Counted last: what is sent from then on comes behind the answer.
            if message.event == "phx_join", socket.topics.withLock({ $0.contains(message.topic) }) {
                socket.answered.withLock { _ = $0.insert(message.topic) }
                state.withLock { $0.joins += 1 }
            }
        }
    }

    private func replies(to message: RealtimeMessage, on socket: Socket) -> [RealtimeMessage] {
        func reply(_ payload: JSON) -> RealtimeMessage {
            RealtimeMessage(
                joinRef: message.joinRef, ref: message.ref, topic: message.topic, event: "phx_reply", payload: payload)
        }
        switch message.event {
        case "phx_join":
            socket.answered.withLock { _ = $0.remove(message.topic) }
            let isAllowed =
                message.payload["config"]?["private"] == true
                && mayReceive(message.topic, message.payload["access_token"]?.string)
            guard isAllowed else {
                state.withLock { $0.refusals += 1 }
                return [reply(["status": "error", "response": ["reason": "Unauthorized: no policy lets you"]])]
            }
            socket.topics.withLock { _ = $0.insert(message.topic) }
            return [
                reply(["status": "ok", "response": ["postgres_changes": []]]),
                RealtimeMessage(
                    joinRef: message.joinRef, topic: message.topic, event: "system",
                    payload: [
                        "extension": "system", "status": "ok", "message": "Replication connection established",
                    ]),
            ]
        case "access_token":
            guard !mayReceive(message.topic, message.payload["access_token"]?.string) else { return [] }
            socket.topics.withLock { _ = $0.remove(message.topic) }
            let text = "You no longer have permission to read from this Channel topic"
            return [
                RealtimeMessage(
                    joinRef: message.joinRef, topic: message.topic, event: "system",
                    payload: ["extension": "system", "status": "error", "message": .string(text)]),
                RealtimeMessage(joinRef: message.joinRef, topic: message.topic, event: "phx_close"),
            ]
        case "phx_leave":
            socket.topics.withLock { _ = $0.remove(message.topic) }
            return [reply(["status": "ok", "response": [:]])]
        default: return message.ref == nil ? [] : [reply(["status": "ok", "response": [:]])]
        }
    }

    private func mayReceive(_ topic: String, _ token: String?) -> Bool {
        let prefix = "realtime:switchyard:installation:"
        return state.withLock { state in
            guard let token, !state.refusesJoins else { return false }
            return !topic.hasPrefix(prefix) || state.owners[String(topic.dropFirst(prefix.count))] == token
        }
    }
}
