import SwitchyardWire
import Synchronization

/// Messages waiting for a client. A client that takes none is eventually dropped.
final class RealtimeOutbox: Sendable {
    private struct State {
        var waiting: [WebSocketMessage] = []
        var size = 0
        var taker: CheckedContinuation<[WebSocketMessage]?, Never>?
        var isClosed = false
        var isHeld = false
    }

    private static let limit = 50 << 20

    private let state = Mutex(State())

    var isClosed: Bool { state.withLock(\.isClosed) }

    /// Whether added messages are held back.
    var isHeld: Bool {
        get { state.withLock(\.isHeld) }
        set {
            state.withLock { $0.isHeld = newValue }
            if !newValue { wake() }
        }
    }

    func put(_ message: WebSocketMessage) {
        let size =
            switch message {
            case .text(let text): text.utf8.count
            case .binary(let bytes): bytes.count
            }
        let taker = state.withLock { state -> CheckedContinuation<[WebSocketMessage]?, Never>? in
            guard !state.isClosed else { return nil }
            if state.taker == nil || state.isHeld {
                state.waiting.append(message)
                state.size += size
                if state.size > Self.limit {
                    state.isClosed = true
                    state.waiting = []
                }
            }
            guard !state.isHeld else { return nil }
            defer { state.taker = nil }
            return state.taker
        }
        taker?.resume(returning: [message])
    }

    /// The waiting messages, or the next one; empty after `wake`, `nil` at the end. There can be only one caller at a time.
    func take() async -> [WebSocketMessage]? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let ready = state.withLock { state -> [WebSocketMessage]?? in
                    if !state.waiting.isEmpty, !state.isHeld {
                        defer { (state.waiting, state.size) = ([], 0) }
                        return .some(state.waiting)
                    }
                    if state.isClosed { return .some(nil) }
                    if Task.isCancelled || state.taker != nil { return .some([]) }
                    state.taker = continuation
                    return .none
                }
                if let ready { continuation.resume(returning: ready) }
            }
        } onCancel: {
            wake()
        }
    }

    /// Wakes the waiting task with no messages.
    func wake() { taker()?.resume(returning: []) }

    /// Closes the outbox; messages added before are still delivered.
    func close() {
        let taker = state.withLock { state in
            state.isClosed = true
            defer { state.taker = nil }
            return state.taker
        }
        taker?.resume(returning: nil)
    }

    private func taker() -> CheckedContinuation<[WebSocketMessage]?, Never>? {
        state.withLock { state in
            defer { state.taker = nil }
            return state.taker
        }
    }
}
