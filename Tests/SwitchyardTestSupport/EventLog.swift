package import Switchyard
import Synchronization

/// An observer that remembers what it received, in order.
package final class EventLog: InfrastructureObserver {
    private let seen = Mutex<[InfrastructureEvent]>([])

    package init() {}

    package func observe(_ event: InfrastructureEvent) { seen.withLock { $0.append(event) } }

    package var all: [InfrastructureEvent] { seen.withLock { $0 } }
    package var kinds: [InfrastructureEvent.Kind] { all.map(\.kind) }

    /// Operations of calls that ended, by service, with their failures.
    package var calls: [String] {
        all.compactMap { event in
            guard case .call(let operation, _, let failure) = event.kind else { return nil }
            return "\(event.service): \(operation)" + (failure.map { " (\($0.code))" } ?? "")
        }
    }

    /// What was refused, by path and code.
    package var refusals: [String] {
        kinds.compactMap {
            guard case .writeRefused(let paths, let failure) = $0 else { return nil }
            return "\(paths.joined(separator: ", ")): \(failure.code)"
        }
    }

    /// What was said of connections that were being repaired: the attempts, in order.
    package var reconnects: [Int] {
        kinds.compactMap { if case .reconnect(_, let attempt, _) = $0 { attempt } else { nil } }
    }
}
