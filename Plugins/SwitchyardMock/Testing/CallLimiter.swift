import Switchyard
import SwitchyardBytes
import Synchronization

/// Limits the number of concurrent calls to the mock's server; waiting calls get their turn in order.
final class CallLimiter: Sendable {
    private struct State {
        var limits = CallLimits()
        var underWay = 0
        var waiting: [Promise<Void>] = []
    }

    enum Answer {
        /// The turn must be given back.
        case taken
        case cancelled
        /// Too many calls are waiting.
        case refused
    }

    private enum Place {
        case now, full
        case later(Promise<Void>)
    }

    private let state = Mutex(State())

    var limits: CallLimits {
        get { state.withLock { $0.limits } }
        set { state.withLock { $0.limits = newValue } }
    }
    var waitingCount: Int { state.withLock { $0.waiting.count } }

    func take() async -> Answer {
        let place = state.withLock { state -> Place in
            if state.underWay < state.limits.underWay {
                state.underWay += 1
                return .now
            }
            guard state.waiting.count < state.limits.waiting else { return .full }
            let turn = Promise<Void>()
            state.waiting.append(turn)
            return .later(turn)
        }
        switch place {
        case .now: return .taken
        case .full: return .refused
        case .later(let turn):
            if await turn.value != nil { return .taken }
            let wasWaiting = state.withLock { state in
                guard let index = state.waiting.firstIndex(where: { $0 === turn }) else { return false }
                state.waiting.remove(at: index)
                return true
            }
            // The turn arrived at the same moment.
            if !wasWaiting { giveBack() }
            return .cancelled
        }
    }

    func giveBack() {
        let next = state.withLock { state -> Promise<Void>? in
            guard state.underWay <= state.limits.underWay, !state.waiting.isEmpty else {
                state.underWay -= 1
                return nil
            }
            return state.waiting.removeFirst()
        }
        next?.resolve(())
    }
}
