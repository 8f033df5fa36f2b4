import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardWire
import Synchronization

/// The realtime service of a local Supabase, under `/realtime/v1`: channels with broadcasts, presence and changes of rows,
/// over web sockets and by polling.
///
/// Policies on `realtime.messages` decide who may join and use a private channel; those of each table decide who receives its
/// changes. Refusals are sent at once, while the vendor's service waits first.
final class LocalRealtime: LocalSupabaseService {
    let context: LocalSupabaseContext
    let faults = RealtimeFaults()
    let hub: RealtimeHub
    let feed: RealtimeFeed
    let limits: RealtimeLimits
    let messages: RealtimeMeter
    let joins: RealtimeMeter
    let presences: RealtimeMeter
    private let sweeper = Mutex<Task<Void, Never>?>(nil)

    init(_ context: LocalSupabaseContext) {
        let limits = context.options.realtime
        self.context = context
        self.limits = limits
        let messages = RealtimeMeter(perSecond: limits.messagesPerSecond, over: 60)
        self.messages = messages
        joins = RealtimeMeter(perSecond: limits.joinsPerSecond)
        presences = RealtimeMeter(perSecond: limits.presencePerSecond)
        hub = RealtimeHub(faults)
        feed = RealtimeFeed(
            database: context.database, hub: hub, sent: context.sent, now: { context.now }
        ) { messages.count(at: context.access.now()) }
    }

    var schema: String { String(decoding: PackageResources.realtime_sql, as: UTF8.self) }

    var now: Int64 { context.access.now() }

    func start() async throws(PostgresFailure) {
        try await feed.start { [weak self] in self?.databaseIsConnected() }
        let task = Task { [weak self] in
            // Tokens expire and clients fall silent without an event, so this checks periodically.
            while (try? await Task.sleep(for: .milliseconds(200))) != nil { self?.sweep() }
        }
        sweeper.withLock { $0 = task }
    }

    func stop() async {
        sweeper.withLock { $0 }?.cancel()
        for session in hub.sessions { hub.remove(session) }
        await feed.stop()
    }

    func addRoutes(to router: inout Router) {
        router.on(.get, "/realtime/v1/websocket") { [self] in connect($0) }
        router.on(nil, "/realtime/v1/longpoll") { [self] in await poll($0) }
        router.on(.post, "/realtime/v1/api/broadcast") { [self] in await broadcastMany($0) }
        router.on(.post, "/realtime/v1/api/broadcast/{topic}/events/{event}") { [self] in await broadcastOne($0) }
        router.on(.post, "/_supabase/faults") { [self] in await setFaults($0) }
    }

    // MARK: Web sockets

    private func connect(_ request: ServerRequest) -> ServerResponse {
        if faults.refusesWebSockets { return ServerResponse(status: 403) }
        let session: RealtimeSession
        do throws(RealtimeRefusal) {
            session = try open(request)
        } catch {
            return error.response
        }
        let limits = WebSocketLimits(frameSize: limits.frameSize, messageSize: limits.frameSize)
        return .webSocket(limits: limits) { [self] socket in
            defer { hub.remove(session) }
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    while let ready = await session.outbox.take() {
                        for message in ready { try await socket.send(message) }
                        if Task.isCancelled { return }
                    }
                }
                group.addTask { [self] in
                    while let message = try await socket.receive() {
                        session.noteMessage()
                        if let frame = RealtimeFrame(message) { await take(frame, from: session) }
                    }
                }
                // Whichever side ends first ends both.
                defer { group.cancelAll() }
                try await group.next()
            }
        }
    }

    /// Opens a session if the key is valid.
    func open(_ request: ServerRequest) throws(RealtimeRefusal) -> RealtimeSession {
        let form: RealtimeFrame.Form
        switch request.query("vsn") ?? "1.0.0" {
        case "1.0.0": form = .objects
        case "2.0.0": form = .arrays
        default: throw RealtimeRefusal(403, nil)
        }
        guard let key = request.headers["x-api-key"] ?? request.query("apikey") else {
            throw RealtimeRefusal(401, "API key is missing")
        }
        let session: RealtimeSession
        do throws(TokenProblem) {
            session = RealtimeSession(form: form, token: try token(key), isExempt: request.isExempt)
        } catch {
            throw RealtimeRefusal(401, error.text)
        }
        guard hub.add(session, limit: limits.clients) else { throw RealtimeRefusal(429, "Too many connected users") }
        return session
    }

    // MARK: Tokens

    /// Why a token is not accepted, as a code and a message.
    struct TokenProblem: Error {
        let name: String
        let text: String
    }

    func token(_ text: String) throws(TokenProblem) -> RealtimeToken {
        let token: SupabaseToken
        do throws(SupabaseToken.Refusal) {
            token = try context.access.token(text)
        } catch {
            switch error {
            case .undecodable: throw TokenProblem(name: "MalformedJWT", text: "The token provided is not a valid JWT")
            case .wrongSignature:
                throw TokenProblem(name: "JwtSignatureError", text: "Failed to validate JWT signature")
            case .expired: throw expired(0)
            case .unknownRole, .notYetValid, .fromTheFuture, .malformedClaim:
                throw TokenProblem(
                    name: "InvalidJWTToken", text: "Fields `role` and `exp` are required in JWT")
            }
        }
        let result = RealtimeToken(text: text, token: token)
        guard token.claims["role"] != nil, token.claims["exp"] != nil else {
            throw TokenProblem(name: "InvalidJWTToken", text: "Fields `role` and `exp` are required in JWT")
        }
        if result.end <= now { throw expired(now - result.end) }
        if faults.refuses(text) { throw expired(0) }
        return result
    }

    func expired(_ seconds: Int64) -> TokenProblem {
        TokenProblem(name: "InvalidJWTToken", text: "Token has expired \(seconds) seconds ago")
    }

    // MARK: Time

    /// Ends everything that has expired.
    func sweep() {
        let now = now
        for session in hub.sessions {
            if session.silence > limits.idle { hub.remove(session) }
            for channel in session.channels {
                let token = channel.token
                if token.end <= now || faults.refuses(token.text) {
                    end(channel, expired(max(now - token.end, 0)).text)
                } else if let since = channel.state.withLock(\.awaitsDatabaseSince),
                    since.duration(to: .now) > .seconds(10)
                {
                    end(channel, "Replication connection was not established in time")
                }
            }
        }
    }

    private func databaseIsConnected() {
        for channel in hub.channels {
            let waited = channel.state.withLock { state in
                defer { state.awaitsDatabaseSince = nil }
                return state.awaitsDatabaseSince != nil
            }
            if waited { channel.system("system", "ok", "Replication connection established") }
            // As after every new subscription of the service.
            if channel.state.withLock(\.receivesChanges) {
                channel.system("postgres_changes", "ok", "Subscribed to PostgreSQL")
            }
        }
    }
}

/// A refusal before there is a connection.
struct RealtimeRefusal: Error {
    let status: Int
    let reason: String?

    init(_ status: Int, _ reason: String?) {
        self.status = status
        self.reason = reason
    }

    var response: ServerResponse {
        guard let reason else { return ServerResponse(status: status) }
        return .json(JSON.object(["error": .string(reason)]).bytes(), status: status)
    }
}

/// Long polling, for clients without web sockets. The status of an answer is in its body.
extension LocalRealtime {
    func poll(_ request: ServerRequest) async -> ServerResponse {
        let id = request.headers["x-phoenix-longpoll-token"] ?? request.query("token")
        let session = id.flatMap { hub.session($0) }
        session?.noteMessage()
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
        session.noteMessage()
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
