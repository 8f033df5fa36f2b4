import Foundation
import Synchronization

/// Reads a sequence in its own task, at most one element ahead: a consumer that stops waiting loses nothing, and a sequence
/// is never iterated twice.
final class SequenceReader: Sendable {
    private typealias Outcome = Result<Data?, any Error>

    private struct State {
        var element: Data?
        var end: Result<Void, any Error>?
        var consumer: CheckedContinuation<Outcome, Never>?
        var producer: CheckedContinuation<Void, Never>?
        var task: Task<Void, Never>?
        var isCancelled = false
    }

    private let state = Mutex(State())
    private let make: @Sendable () -> any AsyncSequence<Data, any Error>

    init(_ make: @escaping @Sendable () -> any AsyncSequence<Data, any Error>) { self.make = make }

    deinit { cancel() }

    /// The next element; `nil` at the end, and when the waiting task is cancelled. One caller at a time.
    func next() async throws -> Data? {
        start()
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { (consumer: CheckedContinuation<Outcome, Never>) in
                let (outcome, producer) = state.withLock { state -> (Outcome?, CheckedContinuation<Void, Never>?) in
                    if let element = state.element {
                        state.element = nil
                        defer { state.producer = nil }
                        return (.success(element), state.producer)
                    }
                    if let end = state.end { return (end.map { nil }, nil) }
                    if Task.isCancelled { return (.success(nil), nil) }
                    state.consumer = consumer
                    return (nil, nil)
                }
                producer?.resume()
                if let outcome { consumer.resume(returning: outcome) }
            }
        } onCancel: {
            let consumer = state.withLock { state in
                defer { state.consumer = nil }
                return state.consumer
            }
            consumer?.resume(returning: .success(nil))
        }
        return try outcome.get()
    }

    /// Stops reading.
    func cancel() {
        let (task, producer) = state.withLock { state in
            state.isCancelled = true
            defer { state.producer = nil }
            return (state.task, state.producer)
        }
        task?.cancel()
        producer?.resume()
    }

    private func start() {
        state.withLock { state in
            guard state.task == nil, !state.isCancelled else { return }
            let make = make
            // Weak, so that dropping the pump drops the sequence.
            state.task = Task { [weak self] in
                do {
                    for try await element in make() {
                        guard await self?.push(element) == true else { return }
                    }
                    self?.finish(.success(()))
                } catch {
                    self?.finish(.failure(error))
                }
            }
        }
    }

    /// Passes an element on and waits until there is room for another.
    private func push(_ element: Data) async -> Bool {
        guard !element.isEmpty else { return true }
        let consumer = state.withLock { state -> CheckedContinuation<Outcome, Never>? in
            defer { state.consumer = nil }
            if state.consumer == nil { state.element = element }
            return state.consumer
        }
        consumer?.resume(returning: .success(element))
        await withCheckedContinuation { (producer: CheckedContinuation<Void, Never>) in
            let waits = state.withLock { state in
                guard state.element != nil, !state.isCancelled else { return false }
                state.producer = producer
                return true
            }
            if !waits { producer.resume() }
        }
        return !state.withLock { $0.isCancelled }
    }

    private func finish(_ end: Result<Void, any Error>) {
        let consumer = state.withLock { state in
            state.end = end
            defer { state.consumer = nil }
            return state.consumer
        }
        consumer?.resume(returning: end.map { nil })
    }
}
