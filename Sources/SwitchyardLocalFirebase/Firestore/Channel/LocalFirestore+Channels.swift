import SwitchyardBytes
import SwitchyardFirestoreFormat
import SwitchyardServerKit
import SwitchyardWire

/// WebChannel over HTTP: a handshake, short requests with the client's messages, and a long one with the server's.
extension LocalFirestore {
    private enum StreamKind: String, CaseIterable {
        case listen = "Listen"
        case write = "Write"
    }

    private static let version = "8"
    private static let keepAlive = Duration.seconds(30)
    /// Small enough to split characters now and then, as happens between the vendor's servers and clients.
    private static let chunkSize = 4096

    func addChannelRoutes(to router: inout Router) {
        for kind in StreamKind.allCases {
            let path = "/google.firestore.v1.Firestore/\(kind.rawValue)/channel"
            router.on(.post, path) { await self.post($0, kind) }
            router.on(.get, path) { self.get($0) }
        }
    }

    private func post(_ request: ServerRequest, _ kind: StreamKind) async -> ServerResponse {
        if request.query("TYPE") == "terminate" { return terminate(request) }
        guard request.query("VER") == LocalFirestore.version,
            let form = try? await request.form(upTo: 16 << 20), let messages = LocalFirestore.messages(in: form)
        else { return .text("Bad request", status: 400) }
        if request.query("SID") == nil { return shakeHands(request, kind, form, messages) }
        guard let session = session(of: request) else { return LocalFirestore.unknownSession }
        guard session.receive(messages, from: form.first { $0.name == "ofs" }.flatMap { Int($0.value) } ?? 0) else {
            return .text("Bad request", status: 400)
        }
        return LocalFirestore.framed(session.status)
    }

    /// The messages of a form, in order; `nil` if one of them is not JSON.
    private static func messages(in form: [(name: String, value: String)]) -> [JSON]? {
        var messages: [JSON] = []
        let count = form.first { $0.name == "count" }.flatMap { Int($0.value) } ?? 0
        guard (0...1000).contains(count) else { return nil }
        for index in 0..<count {
            guard let text = form.first(where: { $0.name == "req\(index)___data__" })?.value,
                let json = try? JSON(parsing: text, options: JSONParsingOptions(loneSurrogates: .replace))
            else { return nil }
            messages.append(json)
        }
        return messages
    }

    private func shakeHands(
        _ request: ServerRequest, _ kind: StreamKind, _ form: [(name: String, value: String)], _ messages: [JSON]
    ) -> ServerResponse {
        let parts = (request.query("database") ?? "").split(separator: "/").map(String.init)
        guard parts.count == 4, parts[0] == "projects", parts[2] == "databases" else {
            return .text("Bad request", status: 400)
        }
        let database = database(FirestoreDatabase(project: parts[1], database: parts[3]))
        let session = ChannelSession(
            isSticky: request.query("X-HTTP-Session-Id") == "gsessionid", faults: streamFaults)
        do throws(FirestoreFailure) {
            let authorization = LocalFirestore.authorization(request, form)
            let caller = try caller(authorization: authorization, project: parts[1])
            switch kind {
            case .listen:
                session.attach(
                    ListenStream(database, session, caller, rules, streamFaults, isExempt: request.isExempt))
            case .write: session.attach(WriteStream(database, session, caller, rules))
            }
        } catch {
            // Refuse on the stream itself, where clients expect it.
            session.send([[error.body]])
        }
        channels.add(session)
        session.receive(messages, from: 0)
        var greeting: [JSON] = ["c", .string(session.id), "", 8, 12]
        if request.query("CVER") != nil { greeting.append(30_000) }
        var response = LocalFirestore.framed([[0, .array(greeting)]])
        response.headers["X-HTTP-Session-Id"] = session.stickiness
        return response
    }

    /// The `Authorization` of a handshake: in a block of header lines in the body or the query, or a regular header.
    private static func authorization(_ request: ServerRequest, _ form: [(name: String, value: String)]) -> String? {
        let block = form.first { $0.name == "headers" }?.value ?? request.query("$httpHeaders") ?? ""
        for line in block.split(whereSeparator: \.isNewline) {
            let halves = line.split(separator: ":", maxSplits: 1)
            if halves.count == 2, halves[0].lowercased() == "authorization" {
                return String(halves[1].drop { $0 == " " })
            }
        }
        return request.headers["Authorization"]
    }

    // MARK: The back channel

    private func get(_ request: ServerRequest) -> ServerResponse {
        if request.query("TYPE") == "terminate" { return terminate(request) }
        guard request.query("VER") == LocalFirestore.version, request.query("RID") == "rpc" else {
            return .text("Bad request", status: 400)
        }
        guard let session = session(of: request) else { return LocalFirestore.unknownSession }
        let isPolling = request.query("CI") == "1"
        let channel = session.openChannel(
            acknowledged: request.query("AID").flatMap { Int($0) } ?? 0, greets: !isPolling)
        return .stream(
            headers: [
                "Content-Type": "text/plain; charset=utf-8", "Cache-Control": "private, max-age=0",
                "X-Content-Type-Options": "nosniff",
            ]
        ) { writer in
            let noops = Task {
                // Shows the client that the connection is still open; nothing else needs to be waited for.
                while !Task.isCancelled {
                    try await Task.sleep(for: LocalFirestore.keepAlive)
                    session.send([["noop"]])
                }
            }
            defer {
                noops.cancel()
                session.closeChannel(channel)
            }
            while let frame = await session.nextFrame(of: channel) {
                for start in stride(from: 0, to: frame.count, by: LocalFirestore.chunkSize) {
                    try await writer.write(Array(frame[start..<min(start + LocalFirestore.chunkSize, frame.count)]))
                }
                if isPolling { break }
            }
        }
    }

    // MARK: Sessions

    private func session(of request: ServerRequest) -> ChannelSession? {
        guard let id = request.query("SID"), let session = channels[id], !session.isClosed else { return nil }
        // A client with a stickiness token has to send it; a server farm would not find the session otherwise.
        if let mark = session.stickiness, request.query("gsessionid") != mark { return nil }
        return session
    }

    private func terminate(_ request: ServerRequest) -> ServerResponse {
        guard let session = session(of: request) else { return LocalFirestore.unknownSession }
        channels.remove(session)
        return ServerResponse()
    }

    private static var unknownSession: ServerResponse { .text("Unknown SID", status: 400) }

    private static func framed(_ json: JSON) -> ServerResponse {
        ServerResponse(
            headers: ["Content-Type": "text/plain; charset=utf-8"], body: ChannelFrame.encode(json.bytes()))
    }
}
