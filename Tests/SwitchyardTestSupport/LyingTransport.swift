package import SwitchyardWire
import Synchronization

/// A way to a real server on which answers change, get lost, come from another question or never come, as a seed says.
///
/// The valid ones are a server's own, so that the damaged ones are close to what can be.
package final class LyingTransport: Transport {
    private struct State {
        var random: SeededGenerator
        var isHonest = false
        var seen: [String: [[UInt8]]] = [:]
        var sent: Set<Lie> = []
    }

    package enum Lie: CaseIterable, Hashable {
        case none, status, changedBytes, cut, otherAnswer, error, nothing, lostBefore, lostAfter
    }

    /// How a vendor talks.
    package struct Service: Sendable {
        /// Bodies of errors that it could answer with, and some that no one does.
        let errors: [String]
        /// What tells one call from another.
        let endpoint: @Sendable (HTTPRequest) -> String

        package init(errors: [String], endpoint: @escaping @Sendable (HTTPRequest) -> String) {
            self.errors = errors + ["{}", "[]", "null", "", "<html>"]
            self.endpoint = endpoint
        }
    }

    private let base = CurlTransport()
    private let service: Service
    private let clock: any Clock<Duration>
    private let state: Mutex<State>

    package init(_ service: Service, seed: UInt64, clock: any Clock<Duration>) {
        self.service = service
        self.clock = clock
        state = Mutex(State(random: SeededGenerator(seed: seed)))
    }

    /// From now on everything passes as it is.
    package func becomeHonest() { state.withLock { $0.isHonest = true } }

    /// Which calls there were, by the part of the address that tells them apart.
    package var endpoints: Set<String> { state.withLock { Set($0.seen.keys) } }
    package var lies: Set<Lie> { state.withLock { $0.sent } }

    // MARK: Lies

    func choose() -> Lie {
        state.withLock { state in
            guard !state.isHonest else { return .none }
            let lie: Lie =
                switch state.random.int(0..<100) {
                case ..<50: .none
                case ..<57: .status
                case ..<72: .changedBytes
                case ..<78: .cut
                case ..<84: .otherAnswer
                case ..<90: .error
                case ..<92: .nothing
                case ..<96: .lostBefore
                default: .lostAfter
                }
            state.sent.insert(lie)
            return lie
        }
    }

    private static let statuses = [200, 201, 204, 206, 302, 308, 400, 401, 403, 404, 409, 410, 412, 416, 429, 500, 503]

    private func note(_ request: HTTPRequest, _ body: [UInt8]) { note(service.endpoint(request), body) }

    func note(_ name: String, _ body: [UInt8]) {
        state.withLock { state in
            if state.seen[name, default: []].count < 20 { state.seen[name, default: []].append(body) }
        }
    }

    func damage(_ body: [UInt8], by lie: Lie) -> [UInt8] {
        state.withLock { state in
            switch lie {
            case .changedBytes where !body.isEmpty:
                var body = body
                for _ in 0..<state.random.int(1..<4) {
                    body[state.random.int(0..<body.count)] = UInt8(state.random.int(0..<256))
                }
                return body
            case .cut: return Array(body.prefix(state.random.int(0..<body.count + 1)))
            case .otherAnswer:
                let all = state.seen.sorted { $0.key < $1.key }.flatMap(\.value)
                return all.isEmpty ? [] : state.random.pick(all)
            case .error: return Array(state.random.pick(service.errors).utf8)
            default: return body
            }
        }
    }

    private func changed(_ head: HTTPResponseHead, by lie: Lie) -> HTTPResponseHead {
        var head = head
        state.withLock { state in
            if lie == .status || (lie == .error && state.random.chance(70)) {
                head.status = state.random.pick(Self.statuses)
            }
            // What says how the body is to be understood is no longer true either.
            if lie != .none, state.random.chance(20), let field = head.headers.randomElement(using: &state.random) {
                head.headers[field.name] = state.random.chance(50) ? nil : "nonsense"
            }
        }
        return head
    }

    static func lost(_ isSent: Bool) -> TransportError {
        TransportError(.connectionLost, "the connection broke", isRetryable: !isSent, mayHaveBeenSent: isSent)
    }

    /// As a transport does it whose server says nothing: until the idle limit, or until whoever asked gives up.
    private func wait(_ request: HTTPRequest) async -> TransportError {
        do {
            try await clock.sleep(for: request.idleLimit ?? .seconds(3600))
            return TransportError(.stalled, "nothing came", isRetryable: request.isIdempotent, mayHaveBeenSent: true)
        } catch {
            return TransportError(.cancelled, "it was cancelled", mayHaveBeenSent: true)
        }
    }

    private func whole(
        _ request: HTTPRequest, _ ask: () async throws(TransportError) -> HTTPResponse
    ) async throws(TransportError) -> HTTPResponse {
        let lie = choose()
        switch lie {
        case .lostBefore: throw Self.lost(false)
        case .nothing: throw await wait(request)
        default: break
        }
        var response = try await ask()
        note(request, response.body)
        if lie == .lostAfter { throw Self.lost(true) }
        response.head = changed(response.head, by: lie)
        response.body = damage(response.body, by: lie)
        return response
    }

    // MARK: Transport

    package func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
        try await whole(request) { () throws(TransportError) in try await base.send(request) }
    }

    package func upload(
        _ request: HTTPRequest, body: RequestBody, progress: TransferProgress?
    ) async throws(TransportError) -> HTTPResponse {
        try await whole(request) { () throws(TransportError) in
            try await base.upload(request, body: body, progress: progress)
        }
    }

    package func stream(_ request: HTTPRequest) async throws(TransportError) -> HTTPStream {
        let lie = choose()
        switch lie {
        case .lostBefore: throw Self.lost(false)
        case .nothing: throw await wait(request)
        default: break
        }
        let stream = try await base.stream(request)
        note(request, [])
        return HTTPStream(head: changed(stream.head, by: lie), body: HTTPBody(Body(stream.body, self, request)))
    }

    /// Each piece of a body has a lie of its own.
    private final class Body: HTTPBodySource {
        private let base: HTTPBody
        private let liar: LyingTransport
        private let request: HTTPRequest
        private let hasEnded = Mutex(false)

        init(_ base: HTTPBody, _ liar: LyingTransport, _ request: HTTPRequest) {
            self.base = base
            self.liar = liar
            self.request = request
        }

        func next() async throws(TransportError) -> [UInt8]? {
            if hasEnded.withLock({ $0 }) { return nil }
            var pieces = base.makeAsyncIterator()
            guard let piece = try await pieces.next() else { return nil }
            let lie = liar.choose()
            switch lie {
            case .nothing: throw await liar.wait(request)
            case .lostBefore, .lostAfter: throw LyingTransport.lost(true)
            case .cut: hasEnded.withLock { $0 = true }
            default: break
            }
            let damaged = liar.damage(piece, by: lie)
            return damaged.isEmpty ? nil : damaged
        }

        func cancel() { base.cancel() }
    }

    package func download(
        _ request: HTTPRequest, to file: FileDestination, progress: TransferProgress?
    ) async throws(TransportError) -> HTTPResponse {
        try await base.download(request, to: file, progress: progress)
    }

    package func webSocket(_ request: WebSocketRequest) async throws(TransportError) -> any WebSocketConnection {
        let lie = choose()
        switch lie {
        case .lostBefore, .status, .error: throw Self.lost(false)
        case .lostAfter: throw Self.lost(true)
        default: return LyingSocket(try await base.webSocket(request), self)
        }
    }

    package func shutDown() async { await base.shutDown() }
}
