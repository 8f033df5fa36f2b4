package import SwitchyardBytes
package import SwitchyardWire
import Synchronization

/// One thing the server of a scripted web socket does, or expects.
package enum ScriptedWebSocketStep: Sendable {
    /// The server sends this.
    case deliver(WebSocketMessage)
    /// The client must have sent this before the script goes on.
    case expect(WebSocketMessage)
    /// The same with a condition: answers what is wrong, or `nil`.
    case check(@Sendable (WebSocketMessage) -> String?)
    case wait(Gate)
    /// The server closes in order.
    case close(WebSocketClose)
    /// The connection breaks.
    case fail(TransportError)
}

/// The client's end of a scripted web socket. Behind the last step the server stays silent.
package final class ScriptedWebSocket: WebSocketConnection {
    private struct State {
        var steps: ArraySlice<ScriptedWebSocketStep>
        var sent: [WebSocketMessage] = []
        /// How many of `sent` the script has read.
        var checked = 0
        var problems: [String] = []
        var closed: WebSocketClose?
        var closedByClient: WebSocketClose?
        var failure: TransportError?
        /// Opened by the next thing the client does.
        var activity = Gate()
    }

    private enum Action {
        case deliver(WebSocketMessage)
        case wait(Gate)
        case end
        case fail(TransportError)
        case again
    }

    package let head: HTTPResponseHead
    package let subprotocol: String?
    private let url: String
    private let state: Mutex<State>

    init(_ request: WebSocketRequest, steps: [ScriptedWebSocketStep]) {
        head = HTTPResponseHead(status: 101, url: request.url, httpVersion: "1.1")
        subprotocol = request.subprotocols.first
        url = request.url
        state = Mutex(State(steps: steps[...]))
    }

    /// Everything the client has sent.
    package var sent: [WebSocketMessage] { state.withLock(\.sent) }
    package var closed: WebSocketClose? { state.withLock(\.closed) }
    /// How the client closed, once it has.
    package var closedByClient: WebSocketClose? { state.withLock(\.closedByClient) }

    var problems: [String] {
        state.withLock { state in
            var all = state.problems
            for step in state.steps {
                switch step {
                case .expect(let message): all.append("never sent on \(url): \(message)")
                case .check: all.append("never sent on \(url): a message under check")
                default: break
                }
            }
            return all
        }
    }

    package func send(_ message: WebSocketMessage) async throws(TransportError) {
        let result: Result<Gate, TransportError> = state.withLock { state in
            if let failure = state.failure { return .failure(failure) }
            guard state.closed == nil, state.closedByClient == nil else {
                return .failure(TransportError(.webSocketClosed, "the web socket is closed"))
            }
            state.sent.append(message)
            Self.checkSent(&state)
            defer { state.activity = Gate() }
            return .success(state.activity)
        }
        try result.get().open()
    }

    package func receive() async throws(TransportError) -> WebSocketMessage? {
        while true {
            if Task.isCancelled { throw TransportError(.cancelled, "receiving was cancelled", mayHaveBeenSent: true) }
            switch state.withLock({ Self.advance(&$0) }) {
            case .deliver(let message): return message
            case .wait(let gate): try await gate.pass()
            case .end: return nil
            case .fail(let error): throw error
            case .again: continue
            }
        }
    }

    package func ping() async throws(TransportError) {
        if let failure = state.withLock(\.failure) { throw failure }
    }

    package func close(_ close: WebSocketClose) async {
        let gate = state.withLock { state in
            if state.closedByClient == nil { state.closedByClient = close }
            defer { state.activity = Gate() }
            return state.activity
        }
        gate.open()
    }

    /// Lets the `expect` and `check` steps at the front read what has been sent.
    private static func checkSent(_ state: inout State) {
        while state.checked < state.sent.count, let step = state.steps.first {
            let message = state.sent[state.checked]
            switch step {
            case .expect(let expected):
                if message != expected { state.problems.append("sent \(message) where the script expects \(expected)") }
            case .check(let check):
                if let problem = check(message) { state.problems.append("sent \(message): \(problem)") }
            default: return
            }
            state.steps.removeFirst()
            state.checked += 1
        }
    }

    private static func advance(_ state: inout State) -> Action {
        if let failure = state.failure { return .fail(failure) }
        if state.closed != nil || state.closedByClient != nil { return .end }
        checkSent(&state)
        switch state.steps.first {
        case nil, .expect, .check: return .wait(state.activity)
        case .deliver(let message):
            state.steps.removeFirst()
            return .deliver(message)
        case .wait(let gate):
            // The step stays until the gate is open, so that a cancelled reader does not skip it.
            if !gate.isOpen { return .wait(gate) }
            state.steps.removeFirst()
            return .again
        case .close(let close):
            state.steps.removeFirst()
            state.closed = close
            return .end
        case .fail(let error):
            state.steps.removeFirst()
            state.failure = error
            return .fail(error)
        }
    }
}
