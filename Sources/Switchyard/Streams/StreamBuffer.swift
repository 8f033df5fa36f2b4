import Synchronization

/// The buffer between the producer and the single consumer of a stream: waiting elements, and a waiting consumer.
///
/// Ends once, when the producer ends, or the consumer stops or is cancelled; the cleanup runs once, outside the lock.
package final class StreamBuffer<Element: Sendable, Failure: Error>: Sendable {
    package enum Policy: Sendable {
        /// A new element replaces one that has not been read yet.
        case newest
        case all
    }

    private typealias Outcome = Result<Element?, Failure>

    private struct State {
        var waiting: [Element] = []
        /// How many of `waiting` have been delivered; avoids moving the rest at each step.
        var consumed = 0
        var consumer: CheckedContinuation<Outcome, Never>?
        var end: Result<Void, Failure>?
        /// Whether the producer has subscribed, and the tasks waiting for that.
        var isAnnounced = false
        var announcementWaiter: CheckedContinuation<Void, Never>?
        var cleanup: (@Sendable () -> Void)?
    }

    private let policy: Policy
    private let state = Mutex(State())

    package init(_ policy: Policy) { self.policy = policy }

    package var hasEnded: Bool { state.withLock { $0.end != nil } }

    /// - Returns: Whether the consumer can still receive it.
    @discardableResult
    package func yield(_ element: Element) -> Bool {
        let (consumer, isOpen) = state.withLock { state -> (CheckedContinuation<Outcome, Never>?, Bool) in
            guard state.end == nil else { return (nil, false) }
            if let consumer = state.consumer {
                state.consumer = nil
                return (consumer, true)
            }
            if policy == .newest, let unseen = state.waiting.popLast() {
                state.waiting.append(Superseding.merge(element, over: unseen))
            } else {
                state.waiting.append(element)
            }
            return (nil, true)
        }
        consumer?.resume(returning: .success(element))
        return isOpen
    }

    /// The producer has subscribed: all later events arrive here.
    package func announce() {
        let waiter = state.withLock { state in
            state.isAnnounced = true
            defer { state.announcementWaiter = nil }
            return state.announcementWaiter
        }
        waiter?.resume()
    }

    /// Waits for ``announce()``, or the end. Cancellation is an end.
    package func announcement() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    guard !state.isAnnounced, state.end == nil else { return true }
                    precondition(
                        state.announcementWaiter == nil, "A stream's iterator can be used by one task at a time.")
                    state.announcementWaiter = continuation
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            leave()
        }
    }

    /// The end; elements that wait are still delivered before it.
    package func finish(_ end: Result<Void, Failure>) {
        defer { announce() }
        let (consumer, cleanup) = state.withLock {
            state -> (CheckedContinuation<Outcome, Never>?, (@Sendable () -> Void)?) in
            guard state.end == nil else { return (nil, nil) }
            // A failure is thrown once, then the stream is simply over.
            state.end = state.consumer == nil ? end : .success(())
            defer {
                state.consumer = nil
                state.cleanup = nil
            }
            return (state.consumer, state.cleanup)
        }
        cleanup?()
        switch end {
        case .success: consumer?.resume(returning: .success(nil))
        case .failure(let error): consumer?.resume(returning: .failure(error))
        }
    }

    /// What to do at the end; done at once if that has come already.
    package func setCleanup(_ cleanup: @escaping @Sendable () -> Void) {
        let hasEnded = state.withLock { state in
            guard state.end == nil else { return true }
            state.cleanup = cleanup
            return false
        }
        if hasEnded { cleanup() }
    }

    /// The next element; `nil` at the end and after cancellation, which is an end.
    package func next() async throws(Failure) -> Element? {
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<Outcome, Never>) in
                let outcome = state.withLock { state -> Outcome? in
                    if state.consumed < state.waiting.count {
                        let element = state.waiting[state.consumed]
                        state.consumed += 1
                        if state.consumed == state.waiting.count || state.consumed == 1024 {
                            state.waiting.removeFirst(state.consumed)
                            state.consumed = 0
                        }
                        return .success(element)
                    }
                    switch state.end {
                    case .success: return .success(nil)
                    case .failure(let error):
                        state.end = .success(())
                        return .failure(error)
                    case nil:
                        precondition(state.consumer == nil, "A stream's iterator can be used by one task at a time.")
                        state.consumer = continuation
                        return nil
                    }
                }
                if let outcome { continuation.resume(returning: outcome) }
            }
        } onCancel: {
            leave()
        }
        return try outcome.get()
    }

    /// The consumer's leaving: whatever waits is dropped.
    package func leave() {
        state.withLock { state in
            state.waiting = []
            state.consumed = 0
        }
        finish(.success(()))
    }
}
