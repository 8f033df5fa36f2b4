package import SwitchyardBytes
import Synchronization

/// A simulated fault of an answer.
package enum Fault: Sendable {
    /// Skips the handler and sends this answer.
    case answer(ServerResponse)
    /// Runs the handler, whose effects remain, and sends this answer.
    case replaceAnswer(ServerResponse)
    /// Runs the handler, whose effects remain, and ends the connection without any byte of the answer.
    case dropAnswer(reset: Bool = false)
    /// Ends the connection after this many bytes of the answer, including its head.
    case cutAnswer(after: Int, reset: Bool = false)
    /// Sends the answer in small pieces; after an upgrade, also everything that follows.
    case paceAnswer(Pace)
    /// Runs the handler, and sends its answer this much later.
    case delayAnswer(Duration)
    /// Runs the handler when the gate opens.
    case holdRequest(Gate)
    /// Runs the handler, and sends its answer when the gate opens.
    case holdAnswer(Gate)
}

/// Rules that make requests fail, which can be changed while the server runs. The first rule that matches a request applies.
package final class FaultSwitches: Sendable {
    package typealias Condition = @Sendable (ServerRequest) -> Bool

    /// Identifies a rule for its removal.
    package struct Rule: Hashable, Sendable {
        let id: Int
    }

    private struct Entry {
        let rule: Rule
        let fault: Fault
        let condition: Condition
        /// The number of matching requests to let through first.
        var skips: Int
        /// Of the requests after those, each one with a number divisible by this is affected.
        let period: Int
        var count = 0
        /// The number of further requests that it affects; `nil` for all.
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
    ///   - times: The number of requests that it affects; `nil` for all until it is removed.
    ///   - skips: The number of matching requests to let through first.
    ///   - period: Affects every `period`th of the requests after those.
    @discardableResult
    package func add(
        _ fault: Fault, times: Int? = 1, after skips: Int = 0, every period: Int = 1,
        when condition: @escaping Condition = { _ in true }
    ) -> Rule {
        state.withLock { state in
            state.next += 1
            let rule = Rule(id: state.next)
            state.entries.append(
                Entry(
                    rule: rule, fault: fault, condition: condition, skips: skips, period: max(period, 1),
                    remaining: times))
            return rule
        }
    }

    package func remove(_ rule: Rule) {
        state.withLock { $0.entries.removeAll { $0.rule == rule } }
    }

    package func removeAll() {
        state.withLock { $0.entries = [] }
    }

    /// Whether the rule may still affect requests.
    package func isActive(_ rule: Rule) -> Bool {
        state.withLock { $0.entries.contains { $0.rule == rule } }
    }

    /// The number of requests affected by the rule, even after its removal.
    package func strikes(of rule: Rule) -> Int {
        state.withLock { $0.strikes[rule] ?? 0 }
    }

    /// The fault for this request, counted for its rule.
    func inject(_ request: ServerRequest) -> Fault? {
        // Run conditions outside the lock, on a copy, since they are foreign code.
        let entries = state.withLock { $0.entries }
        for entry in entries where entry.condition(request) {
            let applies: Bool? = state.withLock { state in
                guard let index = state.entries.firstIndex(where: { $0.rule == entry.rule }) else { return nil }
                if state.entries[index].skips > 0 {
                    state.entries[index].skips -= 1
                    return false
                }
                state.entries[index].count += 1
                if !state.entries[index].count.isMultiple(of: state.entries[index].period) { return nil }
                if let remaining = state.entries[index].remaining {
                    guard remaining > 0 else { return nil }
                    state.entries[index].remaining = remaining - 1
                    if remaining == 1 { state.entries.remove(at: index) }
                }
                state.strikes[entry.rule, default: 0] += 1
                return true
            }
            if applies == true { return entry.fault }
            if applies == false { return nil }
        }
        return nil
    }
}

/// The speed at which the bytes of an answer are sent.
package struct Pace: Hashable, Sendable {
    /// The maximum size of a piece; at least one byte.
    package let bytes: Int
    /// The time between two pieces.
    package let interval: Duration

    package init(bytes: Int, every interval: Duration) {
        self.bytes = max(bytes, 1)
        self.interval = max(interval, .zero)
    }
}
