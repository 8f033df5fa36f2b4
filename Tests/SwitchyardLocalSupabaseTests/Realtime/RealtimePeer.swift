import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardTestSupport
import SwitchyardWire
import Synchronization

@testable import SwitchyardLocalSupabase

/// The far end of a web socket to the realtime service, without any cleverness.
final class RealtimePeer: Sendable {
    struct Frame: Sendable, CustomStringConvertible {
        let joinRef: String?
        let ref: String?
        let topic: String
        let event: String
        let payload: JSON
        let bytes: [UInt8]?
        let isBinary: Bool

        var description: String { "\(topic) \(event) \(payload.text().prefix(300))" }
        /// Of a reply.
        var status: String? { payload["status"]?.string }
        var reason: String? { payload["response"]?["reason"]?.string }
    }

    private let socket: any WebSocketConnection
    private struct Missing: Error, CustomStringConvertible { let description: String }

    private struct State {
        var frames: [Frame] = []
        var ref = 0
        var hasEnded = false
    }

    private let state = Mutex(State())

    init(_ client: SupabaseClient, as caller: SupabaseClient.Caller, version: String = "2.0.0") async throws {
        let key = client.token(of: caller) ?? ""
        socket = try await client.transport.webSocket(
            WebSocketRequest("\(client.supabase.server.url)/realtime/v1/websocket?apikey=\(key)&vsn=\(version)"))
        let socket = socket
        Task { [weak self] in
            while let message = try? await socket.receive() {
                guard let frame = Self.frame(message) else { continue }
                self?.state.withLock { $0.frames.append(frame) }
            }
            self?.state.withLock { $0.hasEnded = true }
        }
    }

    var frames: [Frame] { state.withLock(\.frames) }
    var hasEnded: Bool { state.withLock(\.hasEnded) }

    func leave() async { await socket.close(.normal) }

    func send(raw message: WebSocketMessage) async throws { try await socket.send(message) }

    /// - Returns: The number that the answer will have.
    @discardableResult
    func push(_ topic: String, _ event: String, _ payload: JSON = [:], joinRef: String? = nil) async throws -> String {
        let ref = state.withLock { state in
            state.ref += 1
            return "\(state.ref)"
        }
        let join: JSON = joinRef.map { .string($0) } ?? (event == "phx_join" ? .string(ref) : .null)
        try await socket.send(.text(JSON.array([join, .string(ref), .string(topic), .string(event), payload]).text()))
        return ref
    }

    func reply(to ref: String) async throws -> Frame {
        try await first("a reply to \(ref)") { $0.event == "phx_reply" && $0.ref == ref }
    }

    func first(_ what: String, _ isIt: @escaping (Frame) -> Bool) async throws -> Frame {
        do {
            try await eventually(what, within: .seconds(20)) { frames.contains(where: isIt) }
        } catch {
            throw Missing(description: "\(error); there were \(frames)")
        }
        return frames.first(where: isIt)!
    }

    func all(_ event: String, _ topic: String) -> [Frame] { frames.filter { $0.event == event && $0.topic == topic } }

    /// - Returns: The answer.
    @discardableResult
    func join(_ topic: String, _ config: JSON = [:], token: String? = nil) async throws -> Frame {
        var payload: JSONObject = ["config": config]
        payload["access_token"] = token.map { .string($0) }
        return try await reply(to: try await push(topic, "phx_join", .object(payload)))
    }

    func system(_ topic: String, _ text: String) async throws -> Frame {
        try await first("“\(text)” on \(topic)") {
            $0.event == "system" && $0.topic == topic && $0.payload["message"]?.string?.contains(text) == true
        }
    }

    // MARK: Reading

    private static func frame(_ message: WebSocketMessage) -> Frame? {
        switch message {
        case .text(let text):
            guard let json = try? JSON(parsing: text) else { return nil }
            if json.object != nil {
                return Frame(
                    joinRef: nil, ref: json["ref"]?.string, topic: json["topic"]?.string ?? "",
                    event: json["event"]?.string ?? "", payload: json["payload"] ?? .null, bytes: nil, isBinary: false)
            }
            return Frame(
                joinRef: json[0]?.string, ref: json[1]?.string, topic: json[2]?.string ?? "",
                event: json[3]?.string ?? "", payload: json[4] ?? .null, bytes: nil, isBinary: false)
        case .binary(let bytes):
            guard bytes.count >= 5, bytes[0] == 4 else { return nil }
            var rest = bytes[5...]
            let fields = bytes[1...3].map { size -> String in
                defer { rest = rest.dropFirst(Int(size)) }
                return String(decoding: rest.prefix(Int(size)), as: UTF8.self)
            }
            var payload: JSONObject = ["type": "broadcast", "event": .string(fields[1])]
            if !fields[2].isEmpty { payload["meta"] = try? JSON(parsing: fields[2]) }
            if bytes[4] == 1 { payload["payload"] = try? JSON(parsing: rest) }
            return Frame(
                joinRef: nil, ref: nil, topic: fields[0], event: "broadcast", payload: .object(payload),
                bytes: bytes[4] == 0 ? Array(rest) : nil, isBinary: true)
        }
    }
}
