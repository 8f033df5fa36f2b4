import Foundation
import SwitchyardBytes
import SwitchyardTestSupport

@testable import SwitchyardFirebase

/// Everything that happened on one channel, byte for byte, with what the machine made of it: a line for each event.
struct WebChannelTranscript {
    struct Step {
        let event: WebChannelMachine.Event
        /// What the machine did, as text to compare; deliveries as JSON.
        let actions: [JSON]
    }

    /// The database's resource name, and the header lines that the channel was opened with.
    let database: String
    let headers: [(String, String)]
    let firstRequestID: Int
    let steps: [Step]

    static func url(_ name: String) -> URL {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Fixtures/\(name).jsonl")
    }

    init(_ name: String) throws {
        let lines = try String(contentsOf: Self.url(name), encoding: .utf8).split(separator: "\n")
        let head = try JSON(parsing: String(lines[0]))
        database = head["database"]?.string ?? ""
        headers = (head["headers"]?.array ?? []).map { ($0[0]?.string ?? "", $0[1]?.string ?? "") }
        firstRequestID = head["firstRequestID"]?.int ?? 0
        steps = try lines.dropFirst().map { line in
            let json = try JSON(parsing: String(line))
            return Step(event: try Self.event(json["event"] ?? .null), actions: json["actions"]?.array ?? [])
        }
    }

    // MARK: Writing

    static func head(database: String, headers: [(String, String)], firstRequestID: Int) -> String {
        let fields: JSON = [
            "origin": "Cloud Firestore emulator 1.19.9, recorded by WebChannelTranscriptTests",
            "database": .string(database),
            "headers": .array(headers.map { [.string($0.0), .string($0.1)] }),
            "firstRequestID": .integer(Int64(firstRequestID)),
        ]
        return fields.text()
    }

    static func line(_ event: WebChannelMachine.Event, _ actions: [WebChannelMachine.Action]) -> String {
        let fields: JSON = ["event": json(event), "actions": .array(actions.map(json))]
        return fields.text()
    }

    static func json(_ action: WebChannelMachine.Action) -> JSON {
        func request(_ name: String, _ query: [WebChannelMachine.Parameter], _ body: [UInt8] = []) -> JSON {
            let text = query.map { "\($0.name)=\(PercentCoding.encode($0.value))" }.joined(separator: "&")
            return ["do": .string(name), "query": .string(text), "body": bytes(body)]
        }
        return switch action {
        case .handshake(let query, let body): request("handshake", query, body)
        case .forward(let query, let body): request("forward", query, body)
        case .openBackChannel(let query): request("openBackChannel", query)
        case .cancelBackChannel: ["do": "cancelBackChannel"]
        case .terminate(let query): request("terminate", query)
        case .deliver(let message): ["do": "deliver", "message": message]
        case .schedule(let timer, let delay): ["do": "schedule", "timer": .string("\(timer) \(delay)")]
        case .cancel(let timer): ["do": "cancel", "timer": .string("\(timer)")]
        case .close(let reason): ["do": "close", "reason": .string("\(reason)")]
        }
    }

    private static func json(_ event: WebChannelMachine.Event) -> JSON {
        switch event {
        case .send(let message): ["is": "send", "body": bytes(message)]
        case .handshakeAnswered(let status, let sticky, let body):
            [
                "is": "handshakeAnswered", "status": .integer(Int64(status)), "body": bytes(body),
                "sticky": sticky.map { .string($0) } ?? .null,
            ]
        case .handshakeFailed(let reason): ["is": "handshakeFailed", "reason": .string(reason)]
        case .forwardAnswered(let status, let body):
            ["is": "forwardAnswered", "status": .integer(Int64(status)), "body": bytes(body)]
        case .forwardFailed(let reason): ["is": "forwardFailed", "reason": .string(reason)]
        case .forwardUnanswered: ["is": "forwardUnanswered"]
        case .backChannelOpened(let status): ["is": "backChannelOpened", "status": .integer(Int64(status))]
        case .backChannelBytes(let body): ["is": "backChannelBytes", "body": bytes(body)]
        case .backChannelEnded: ["is": "backChannelEnded"]
        case .backChannelFailed(let reason): ["is": "backChannelFailed", "reason": .string(reason)]
        case .timer(let timer): ["is": "timer", "timer": .string("\(timer)")]
        case .terminate: ["is": "terminate"]
        }
    }

    /// Text where the bytes are some: pieces of a back channel may begin and end inside of a character.
    private static func bytes(_ body: [UInt8]) -> JSON {
        UTF8Check.isValid(body)
            ? .string(String(decoding: body, as: UTF8.self)) : ["base64": .string(Base64.encode(body))]
    }

    // MARK: Reading

    struct Unreadable: Error { let line: JSON }

    private static func event(_ json: JSON) throws -> WebChannelMachine.Event {
        let status = json["status"]?.int ?? 0
        let body: [UInt8] =
            if let text = json["body"]?["base64"]?.string { Base64.decode(text) ?? [] } else {
                Array((json["body"]?.string ?? "").utf8)
            }
        switch json["is"]?.string {
        case "send": return .send(body)
        case "handshakeAnswered":
            return .handshakeAnswered(status: status, stickySession: json["sticky"]?.string, body: body)
        case "forwardAnswered": return .forwardAnswered(status: status, body: body)
        case "backChannelOpened": return .backChannelOpened(status: status)
        case "backChannelBytes": return .backChannelBytes(body)
        case "backChannelEnded": return .backChannelEnded
        case "terminate": return .terminate
        default: throw Unreadable(line: json)
        }
    }
}
