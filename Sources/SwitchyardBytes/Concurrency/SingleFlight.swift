internal import Synchronization

/// One running operation with many waiting callers, such as a token refresh or a first load.
///
/// Callers during the operation wait for the same result. A cancelled caller stops waiting; when the last one has, the
/// operation is cancelled. There is never more than one: the next operation starts when the cancelled one has ended.
package final class SingleFlight<Value: Sendable, Failure: Error>: Sendable {
    private typealias Waiter = CheckedContinuation<Result<Value, Failure>, Never>

    private struct Flight {
        let number: Int
        let task: Task<Void, Never>
        var waiters: [Int: Waiter] = [:]
    }

    private struct State {
        var flight: Flight?
        var lastNumber = 0
        /// A cancelled operation that may still be running.
        var abandoned: Task<Void, Never>?
    }

    private let state = Mutex(State())
    private let cancellation: @Sendable () -> Failure

    /// - Parameter cancellation: The error for a caller whose own task is cancelled.
    package init(cancellation: @escaping @Sendable () -> Failure) { self.cancellation = cancellation }

    package var isRunning: Bool { state.withLock { $0.flight != nil } }

    package var waiterCount: Int { state.withLock { $0.flight?.waiters.count ?? 0 } }

    /// The result of the running operation, or of `operation`, which is then started for all callers.
    ///
    /// The operation runs in a separate task, so that it outlives its first caller.
    package func run(
        _ operation: @escaping @Sendable () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let id = state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        let result: Result<Value, Failure> = await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in join(as: id, waiter, operation) }
        } onCancel: {
            leave(id)
        }
        return try result.get()
    }

    private func join(
        as id: Int, _ waiter: Waiter, _ operation: @escaping @Sendable () async throws(Failure) -> Value
    ) {
        let isWaiting = state.withLock { state in
            // An earlier cancellation found no waiter to remove; a later one waits for the lock and finds it.
            if Task.isCancelled { return false }
            if state.flight == nil { state.flight = start(operation, as: id, after: state.abandoned) }
            state.flight?.waiters[id] = waiter
            return true
        }
        if !isWaiting { waiter.resume(returning: .failure(cancellation())) }
    }

    private func start(
        _ operation: @escaping @Sendable () async throws(Failure) -> Value, as number: Int,
        after previous: Task<Void, Never>?
    ) -> Flight {
        let task = Task {
            await previous?.value
            let result: Result<Value, Failure>
            do throws(Failure) {
                result = .success(try await operation())
            } catch {
                result = .failure(error)
            }
            finish(number, result)
        }
        return Flight(number: number, task: task)
    }

    private func finish(_ number: Int, _ result: Result<Value, Failure>) {
        let waiters = state.withLock { state -> [Waiter] in
            guard let flight = state.flight, flight.number == number else { return [] }
            state.flight = nil
            state.abandoned = nil
            return Array(flight.waiters.values)
        }
        for waiter in waiters { waiter.resume(returning: result) }
    }

    private func leave(_ id: Int) {
        let (waiter, abandoned) = state.withLock { state -> (Waiter?, Task<Void, Never>?) in
            guard let waiter = state.flight?.waiters.removeValue(forKey: id) else { return (nil, nil) }
            guard let flight = state.flight, flight.waiters.isEmpty else { return (waiter, nil) }
            state.flight = nil
            state.abandoned = flight.task
            return (waiter, flight.task)
        }
        abandoned?.cancel()
        waiter?.resume(returning: .failure(cancellation()))
    }
}
