package import SwitchyardWire
import Synchronization

/// A transport for tests: an ordered script of exchanges, each used once.
///
/// A request the script does not expect fails with `.unexpectedRequest` and is remembered. End every test with
/// `verify()`, which also reports what was expected and never came.
package final class ScriptedTransport: Transport {
    package enum Order: Sendable {
        /// The next request must be the next exchange.
        case strict
        /// Each request takes the first unused exchange it matches: for callers that work concurrently.
        case any
    }

    private struct State {
        var script: [ScriptedExchange]
        var requests: [RecordedRequest] = []
        var problems: [String] = []
        var sockets: [ScriptedWebSocket] = []
        var isShutDown = false
    }

    private let order: Order
    private let state: Mutex<State>

    package init(order: Order = .strict, _ script: [ScriptedExchange] = []) {
        self.order = order
        state = Mutex(State(script: script))
    }

    /// Lengthens the script.
    package func expect(_ exchanges: ScriptedExchange...) {
        state.withLock { $0.script += exchanges }
    }

    /// Every request so far, expected or not.
    package var requests: [RecordedRequest] { state.withLock(\.requests) }

    /// Every web socket opened so far.
    package var webSockets: [ScriptedWebSocket] { state.withLock(\.sockets) }

    /// - Throws: every unexpected request and every unused exchange, by name.
    package func verify() throws(ScriptFailure) {
        let (problems, unused, sockets) = state.withLock { ($0.problems, $0.script, $0.sockets) }
        let all = problems + unused.map { "never requested: \($0.name)" } + sockets.flatMap(\.problems)
        if !all.isEmpty { throw ScriptFailure(problems: all) }
    }

    // MARK: Transport

    package func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
        let (head, body) = try await exchange(.send, request, body: request.body)
        return HTTPResponse(head: head, body: try await body.collect(upTo: request.maximumBodySize))
    }

    package func stream(_ request: HTTPRequest) async throws(TransportError) -> HTTPStream {
        let (head, body) = try await exchange(.stream, request, body: request.body)
        return HTTPStream(head: head, body: body)
    }

    package func upload(
        _ request: HTTPRequest, body: RequestBody, progress: TransferProgress?
    ) async throws(TransportError) -> HTTPResponse {
        let bytes = try await body.collected()
        progress?(Int64(bytes.count))
        let (head, answer) = try await exchange(.upload, request, body: bytes)
        return HTTPResponse(head: head, body: try await answer.collect(upTo: request.maximumBodySize))
    }

    package func download(
        _ request: HTTPRequest, to file: FileDestination, progress: TransferProgress?
    ) async throws(TransportError) -> HTTPResponse {
        let (head, body) = try await exchange(.download, request, body: request.body)
        guard head.isSuccess else {
            return HTTPResponse(head: head, body: try await body.collect(upTo: request.maximumBodySize))
        }
        try await FileSink.write(body, to: file, progress: progress)
        return HTTPResponse(head: head)
    }

    package func webSocket(_ request: WebSocketRequest) async throws(TransportError) -> any WebSocketConnection {
        let upgrade = HTTPRequest(.get, request.url, headers: request.headers)
        let recorded = RecordedRequest(operation: .webSocket, request: upgrade, body: [])
        switch try take(recorded).answer {
        case .webSocket(let steps):
            let socket = ScriptedWebSocket(request, steps: steps)
            state.withLock { $0.sockets.append(socket) }
            return socket
        case .refusal(let error): throw error
        case .reply: throw unexpected("a web socket is opened where the script has an answer: \(request.url)")
        }
    }

    package func shutDown() async {
        state.withLock { $0.isShutDown = true }
    }

    // MARK: The script

    private func exchange(
        _ operation: RecordedRequest.Operation, _ request: HTTPRequest, body: [UInt8]
    ) async throws(TransportError) -> (HTTPResponseHead, HTTPBody) {
        try request.validate()
        if Task.isCancelled { throw TransportError(.cancelled, "the exchange was cancelled") }
        let recorded = RecordedRequest(operation: operation, request: request, body: body)
        guard case .reply(let reply) = try take(recorded).answer else {
            throw unexpected("a request is made where the script has a web socket: \(request.method) \(request.url)")
        }
        let source = ScriptedBody(reply(recorded).steps)
        let head = try await source.head(url: request.url)
        return (head, HTTPBody(source))
    }

    private func take(_ recorded: RecordedRequest) throws(TransportError) -> ScriptedExchange {
        try state.withLock { state throws(TransportError) in
            state.requests.append(recorded)
            guard !state.isShutDown else { throw TransportError(.shutDown, "the transport is shut down") }
            let what = "\(recorded.request.method) \(recorded.request.url)"
            let candidates = order == .strict ? state.script.prefix(1) : state.script[...]
            if let index = candidates.firstIndex(where: { $0.mismatch(recorded) == nil }) {
                return state.script.remove(at: index)
            }
            let reasons = candidates.map { "expected \($0.name), but \($0.mismatch(recorded) ?? "")" }
            let problem =
                "unexpected request: \(what)\n"
                + (reasons.isEmpty ? "  the script is at its end" : reasons.map { "  \($0)" }.joined(separator: "\n"))
            state.problems.append(problem)
            throw TransportError(.unexpectedRequest, problem)
        }
    }

    private func unexpected(_ problem: String) -> TransportError {
        state.withLock { $0.problems.append(problem) }
        return TransportError(.unexpectedRequest, problem)
    }
}

extension TransportError.Code {
    /// Only from `ScriptedTransport`: the script has no such request.
    package static let unexpectedRequest = Self(rawValue: "unexpectedRequest")
}

extension RequestBody {
    /// The whole content in memory: for test doubles only.
    fileprivate func collected() async throws(TransportError) -> [UInt8] {
        switch content {
        case .bytes(let bytes): return bytes
        case .file(let path, let range):
            let reader = try FileReader(path, range: range)
            var all: [UInt8] = []
            while true {
                let bytes = try reader.read(upTo: 1 << 16)
                if bytes.isEmpty { return all }
                all += bytes
            }
        case .produced(let produce):
            let all = Mutex<[UInt8]>([])
            do {
                try await produce(RequestBodyWriter { bytes throws(TransportError) in all.withLock { $0 += bytes } })
            } catch {
                throw TransportError(.requestBodyFailed, "the producer of the body failed", underlying: error)
            }
            return all.withLock { $0 }
        }
    }
}
