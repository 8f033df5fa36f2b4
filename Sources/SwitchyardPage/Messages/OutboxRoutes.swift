import Switchyard
import SwitchyardBytes
import SwitchyardServerKit

/// What a local server would have sent, and messages that the page sends.
struct OutboxRoutes: Sendable {
    let backend: PageBackend

    static func json(_ message: SentMessages.Message, of backend: String? = nil) -> JSON {
        .object([
            "backend": .text(backend), "n": .number(message.number),
            "at": .string(PageTime.text(milliseconds: message.at)),
            "kind": .string(message.kind.rawValue), "to": .string(message.to), "subject": .string(message.subject),
            "text": .string(message.text), "links": .array(message.links.map { .string($0) }),
            "code": .text(message.code),
            "receivers": message.kind == .push
                ? .array(
                    message.receivers.map { ["id": .string($0), "how": .string(message.how)] }) : nil,
            "data": message.data.flatMap { try? JSON(parsing: $0) },
        ])
    }

    /// The newest first.
    func outbox() throws -> JSON {
        let all = try backend.localSide().sent.flatMap(\.all).sorted { $0.at > $1.at }
        return .object(["messages": .array(all.map { Self.json($0) })])
    }

    /// The messages to devices and topics, and who has received them.
    func messages() throws -> JSON {
        let all = try backend.localSide().sent.flatMap(\.all).filter { $0.kind == .push }.sorted { $0.at > $1.at }
        return .object(["messages": .array(all.map { Self.json($0) })])
    }

    func send(_ call: PageCall) async throws -> JSON {
        let target: OutgoingMessage.Target
        if let topic = try call.string("topic"), !topic.isEmpty {
            target = .topic(try MessagingTopic(validating: topic))
        } else {
            target = .device(MessagingToken(Secret(try call.required("to"))))
        }
        var data: [String: String] = [:]
        if let json = call.body["data"], !json.isNull {
            guard let object = json.object else { throw PageFailure.invalid("“data” has to be an object of texts.") }
            for member in object {
                guard let text = member.value.string else {
                    throw PageFailure.invalid("“\(member.key)” in “data” has to be text.")
                }
                data[member.key] = text
            }
        }
        let message = OutgoingMessage(
            to: target, title: try call.string("title"), body: try call.string("body"), data: data)
        let id = try await backend.sender().send(message)
        return .object(["id": .string(id)])
    }
}
