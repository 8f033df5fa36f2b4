import SwitchyardWire
import Synchronization

/// Walks through the steps of a scripted reply.
final class ScriptedBody: HTTPBodySource {
    private struct State {
        var steps: ArraySlice<ScriptedReply.Step>
        var isCancelled = false
    }

    private let state: Mutex<State>

    init(_ steps: [ScriptedReply.Step]) {
        state = Mutex(State(steps: steps[...]))
    }

    func head(url: String) async throws(TransportError) -> HTTPResponseHead {
        while let step = state.withLock({ $0.steps.popFirst() }) {
            switch step {
            case .wait(let gate): try await gate.pass()
            case .fail(let error): throw error
            case .bytes: throw TransportError(.badResponse, "the script sends a body before its head")
            case .head(var head):
                if head.url.isEmpty { head.url = url }
                return head
            }
        }
        throw TransportError(.connectionLost, "the script ends before the head", mayHaveBeenSent: true)
    }

    func next() async throws(TransportError) -> [UInt8]? {
        while true {
            if Task.isCancelled || state.withLock(\.isCancelled) {
                throw TransportError(.cancelled, "the exchange was cancelled", mayHaveBeenSent: true)
            }
            switch state.withLock({ $0.steps.popFirst() }) {
            case nil: return nil
            case .wait(let gate): try await gate.pass()
            case .fail(let error): throw error
            case .bytes(let bytes): return bytes
            case .head: throw TransportError(.badResponse, "the script sends a second head")
            }
        }
    }

    func cancel() {
        state.withLock { $0.isCancelled = true }
    }
}
