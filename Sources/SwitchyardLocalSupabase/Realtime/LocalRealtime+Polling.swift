import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardWire

/// Long polling, for clients without web sockets. The status of an answer is in its body.
extension LocalRealtime {
    func poll(_ request: ServerRequest) async -> ServerResponse {
        let id = request.headers["x-phoenix-longpoll-token"] ?? request.query("token")
        let session = id.flatMap { hub.session($0) }
        session?.heard()
        switch request.method {
        case .get: return await fetch(session, request)
        case .post: return await push(session, request)
        default: return ServerResponse(status: 405, headers: ["Allow": "GET, POST"])
        }
    }

    private func fetch(_ session: RealtimeSession?, _ request: ServerRequest) async -> ServerResponse {
        guard let session, !session.outbox.isClosed else {
            do throws(RealtimeRefusal) {
                return Self.answer(410, token: try open(request).id, messages: [])
            } catch {
                return Self.answer(403)
            }
        }
        let window = limits.pollWindow
        let end = Task { [outbox = session.outbox] in
            // A poll without messages is answered empty after this time; a message ends it earlier.
            try? await Task.sleep(for: window)
            outbox.wake()
        }
        let ready = await session.outbox.take() ?? []
        end.cancel()
        session.heard()
        let messages = ready.compactMap { message -> JSON? in
            if case .text(let text) = message { .string(text) } else { nil }
        }
        return Self.answer(messages.isEmpty ? 204 : 200, token: session.id, messages: messages)
    }

    private func push(_ session: RealtimeSession?, _ request: ServerRequest) async -> ServerResponse {
        guard let session else { return Self.answer(410) }
        guard let bytes = try? await request.body.collect(upTo: limits.frameSize) else { return Self.answer(413) }
        let lines =
            request.headers["Content-Type"]?.hasPrefix("application/x-ndjson") == true
            ? bytes.split(separator: UInt8(ascii: "\n")).prefix(100).map { Array($0) } : [bytes]
        for line in lines {
            if let frame = RealtimeFrame(text: line) { await take(frame, from: session) }
        }
        return Self.answer(200)
    }

    private static func answer(_ status: Int64, token: String? = nil, messages: [JSON]? = nil) -> ServerResponse {
        var answer: JSONObject = ["status": .integer(status)]
        answer["token"] = token.map { .string($0) }
        answer["messages"] = messages.map { .array($0) }
        return .json(JSON.object(answer).bytes())
    }
}
