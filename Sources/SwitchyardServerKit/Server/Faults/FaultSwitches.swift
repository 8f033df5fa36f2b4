package import SwitchyardBytes
import Synchronization

/// A simulated fault of an answer.
package enum Fault: Sendable {
    /// The handler is not asked: this is the answer.
    case answer(ServerResponse)
    /// The handler runs, its effects stand, and this is the answer.
    case replaceAnswer(ServerResponse)
    /// The handler runs, its effects stand, and the connection ends without a byte of the answer.
    case dropAnswer(reset: Bool = false)
    /// The connection ends after this many bytes of the answer, its head included.
    case cutAnswer(after: Int, reset: Bool = false)
    /// The answer leaves in small pieces; of an upgrade, everything that follows too.
    case paceAnswer(Pace)
    /// The handler has run; its answer leaves so much later.
    case delayAnswer(Duration)
    /// The handler is asked when the gate opens.
    case holdRequest(Gate)
    /// The handler has run; its answer leaves when the gate opens.
    case holdAnswer(Gate)
}

/// Rules that make requests fail, which can be changed while the server runs. The first rule that matches a request applies.
package final class FaultSwitches: Sendable {
    package typealias Condition = @Sendable (ServerRequest) -> Bool

    /// Names a rule, to remove it.
    package struct Rule: Hashable, Sendable {
        let id: Int
    }

    private struct Entry {
        let rule: Rule
        let fault: Fault
        let condition: Condition
        /// Matching requests that are let through first.
        var skips: Int
        /// How many more requests it strikes; `nil` for all.
        var remaining: Int?
    }

    private struct State {
        var entries: [Entry] = []
        var next = 0
        var strikes: [Rule: Int] = [:]
    }

    private let state = Mutex(State())

    package init() {}

    /// Makes requests fail.
    ///
    /// - Parameters:
    ///   - times: how many requests it strikes; `nil` for all until it is removed.
    ///   - skips: how many matching requests are let through first.
    @discardableResult
    package func add(
        _ fault: Fault, times: Int? = 1, after skips: Int = 0, when condition: @escaping Condition = { _ in true }
    ) -> Rule {
        state.withLock { state in
            state.next += 1
            let rule = Rule(id: state.next)
            state.entries.append(
                Entry(rule: rule, fault: fault, condition: condition, skips: skips, remaining: times))
            return rule
        }
    }

    package func remove(_ rule: Rule) {
        state.withLock { $0.entries.removeAll { $0.rule == rule } }
    }

    package func removeAll() {
        state.withLock { $0.entries = [] }
    }

    /// Whether the rule may still strike.
    package func isActive(_ rule: Rule) -> Bool {
        state.withLock { $0.entries.contains { $0.rule == rule } }
    }

    /// How many requests the rule has struck, also after its removal.
    package func strikes(of rule: Rule) -> Int {
        state.withLock { $0.strikes[rule] ?? 0 }
    }

    /// The fault for this request, counted as a strike.
    func strike(_ request: ServerRequest) -> Fault? {
        // Conditions are foreign code: they run outside the lock, on a copy.
        let entries = state.withLock { $0.entries }
        for entry in entries where entry.condition(request) {
            let struck: Bool? = state.withLock { state in
                guard let index = state.entries.firstIndex(where: { $0.rule == entry.rule }) else { return nil }
                if state.entries[index].skips > 0 {
                    state.entries[index].skips -= 1
                    return false
                }
                if let remaining = state.entries[index].remaining {
                    guard remaining > 0 else { return nil }
                    state.entries[index].remaining = remaining - 1
                    if remaining == 1 { state.entries.remove(at: index) }
                }
                state.strikes[entry.rule, default: 0] += 1
                return true
            }
            if struck == true { return entry.fault }
            if struck == false { return nil }
        }
        return nil
    }
}
