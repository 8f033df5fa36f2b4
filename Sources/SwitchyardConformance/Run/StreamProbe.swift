import Switchyard
import Synchronization

/// Listens to a stream in its own task, records all elements, and lets a check wait for an expected one.
final class StreamProbe<Element: Sendable>: Sendable {
    private struct State {
        var elements: [Element] = []
        var end: Result<Void, any Error>?
        var waiters: [Int: Waiter] = [:]
        var nextWaiter = 0
    }

    private struct Waiter {
        let isSatisfied: @Sendable ([Element], Result<Void, any Error>?) -> Bool
        let continuation: CheckedContinuation<Bool, Never>
    }

    private let state = Mutex(State())
    private let task = Mutex<Task<Void, Never>?>(nil)

    init<Stream: AsyncSequence & Sendable>(_ stream: Stream) where Stream.Element == Element {
        let listener = Task { [weak self] in
            do {
                for try await element in stream { self?.note { $0.elements.append(element) } }
                self?.note { $0.end = .success(()) }
            } catch {
                self?.note { $0.end = .failure(error) }
            }
        }
        task.withLock { $0 = listener }
    }

    deinit { cancel() }

    /// Everything so far, in order.
    var elements: [Element] { state.withLock { $0.elements } }

    /// Stops listening and waits until the stream has noticed.
    func stop() async {
        let listener = task.withLock { $0 }
        listener?.cancel()
        await listener?.value
    }

    /// Stops listening without waiting.
    func cancel() { task.withLock { $0 }?.cancel() }

    /// Waits for the first element, including earlier ones, for which `condition` holds.
    @discardableResult
    func first(
        _ what: String, within limit: Duration = .seconds(15), file: String = #fileID, line: Int = #line,
        where condition: @escaping @Sendable (Element) -> Bool = { _ in true }
    ) async throws -> Element {
        try await wait(for: what, within: limit, file: file, line: line) { elements, end in
            end != nil || elements.contains(where: condition)
        }
        if let element = elements.first(where: condition) { return element }
        throw ended(before: what, file: file, line: line)
    }

    /// Waits until the newest element is one for which `condition` holds.
    @discardableResult
    func newest(
        _ what: String, within limit: Duration = .seconds(15), file: String = #fileID, line: Int = #line,
        where condition: @escaping @Sendable (Element) -> Bool
    ) async throws -> Element {
        try await wait(for: what, within: limit, file: file, line: line) { elements, end in
            end != nil || elements.last.map(condition) == true
        }
        if let element = elements.last, condition(element) { return element }
        throw ended(before: what, file: file, line: line)
    }

    /// Waits until `condition` holds for the list of all elements so far.
    func all(
        _ what: String, within limit: Duration = .seconds(15), file: String = #fileID, line: Int = #line,
        satisfy condition: @escaping @Sendable ([Element]) -> Bool
    ) async throws {
        try await wait(for: what, within: limit, file: file, line: line) { elements, end in
            end != nil || condition(elements)
        }
        guard condition(elements) else { throw ended(before: what, file: file, line: line) }
    }

    /// Waits for the end; `nil` if it came without a failure.
    func end(
        within limit: Duration = .seconds(15), file: String = #fileID, line: Int = #line
    ) async throws -> (any Error)? {
        try await wait(for: "the end of the stream", within: limit, file: file, line: line) { _, end in end != nil }
        switch state.withLock({ $0.end }) {
        case .failure(let error): return error
        case .success, nil: return nil
        }
    }

    private func note(_ change: (inout State) -> Void) {
        let ready = state.withLock { state -> [Waiter] in
            change(&state)
            let ready = state.waiters.filter { $0.value.isSatisfied(state.elements, state.end) }
            for id in ready.keys { state.waiters[id] = nil }
            return Array(ready.values)
        }
        for waiter in ready { waiter.continuation.resume(returning: true) }
    }

    private func wait(
        for what: String, within limit: Duration, file: String, line: Int,
        until condition: @escaping @Sendable ([Element], Result<Void, any Error>?) -> Bool
    ) async throws {
        let id = state.withLock { state in
            state.nextWaiter += 1
            return state.nextWaiter
        }
        let timer = Task { [weak self] in
            guard (try? await Task.sleep(for: limit)) != nil else { return }
            self?.give(up: id)
        }
        defer { timer.cancel() }
        let isSatisfied = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isKnown = state.withLock { state -> Bool? in
                    if condition(state.elements, state.end) { return true }
                    if Task.isCancelled { return false }
                    state.waiters[id] = Waiter(isSatisfied: condition, continuation: continuation)
                    return nil
                }
                if let isKnown { continuation.resume(returning: isKnown) }
            }
        } onCancel: {
            give(up: id)
        }
        guard isSatisfied else {
            throw ConformanceFailure(
                expectation: "the stream shows \(what) within \(limit)", found: summary, file: file, line: line)
        }
    }

    private func give(up id: Int) {
        state.withLock { $0.waiters.removeValue(forKey: id) }?.continuation.resume(returning: false)
    }

    private func ended(before what: String, file: String, line: Int) -> ConformanceFailure {
        ConformanceFailure(expectation: "the stream shows \(what)", found: summary, file: file, line: line)
    }

    private var summary: String {
        let (count, last, end) = state.withLock { ($0.elements.count, $0.elements.last, $0.end) }
        let tail =
            switch end {
            case nil: "still open"
            case .success: "ended"
            case .failure(let error): "failed with \(Readable.text(error))"
            }
        return "\(count) elements, the last \(Readable.text(last)); \(tail)"
    }
}
