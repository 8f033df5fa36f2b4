/// Cancels calls at the deadline of the request that the current task serves.
enum RequestDeadline {
    /// `nil` if the task serves no request, or one that has ended.
    static var current: ContinuousClock.Instant? { ServedRequest.current?.deadline }
    static var hasPassed: Bool { current.map { $0 <= .now } ?? false }

    /// Runs `body`, and cancels it at the deadline. An error that this causes becomes `.deadlineExceeded`, with `lateText`.
    static func hold<Value, Failure: ClientError>(
        _ body: () async throws(Failure) -> Value, lateText: () -> String
    ) async throws(Failure) -> Value {
        guard let deadline = current else { return try await body() }
        let (result, isLate) = await race(body, until: deadline)
        // If a pause between attempts was cancelled, the error is that of the last attempt.
        if isLate, case .failure(let error) = result, error.code == .cancelled || error.isRetryable, !Task.isCancelled {
            throw Failure(.deadlineExceeded, lateText(), underlying: error)
        }
        return try result.get()
    }

    /// - Returns: The result of `body`, and whether it was cancelled for being late.
    static func race<Value, Failure: Error>(
        _ body: () async throws(Failure) -> Value, until deadline: ContinuousClock.Instant
    ) async -> (Swift.Result<Value, Failure>, isLate: Bool) {
        await withoutActuallyEscaping(body) { body in
            let work = UncheckedBox(value: body)
            return await withTaskGroup(of: Event<Value, Failure>.self) { group in
                group.addTask {
                    do throws(Failure) {
                        return .ended(UncheckedBox(value: .success(try await work.value())))
                    } catch {
                        return .ended(UncheckedBox(value: .failure(error)))
                    }
                }
                group.addTask {
                    do {
                        try await ContinuousClock().sleep(until: deadline)
                        return .timeIsUp
                    } catch {
                        return .cancelled
                    }
                }
                var isLate = false
                while true {
                    switch await group.next() {
                    case .ended(let result)?:
                        group.cancelAll()
                        return (result.value, isLate)
                    // Work that outlives the request has no deadline.
                    case .timeIsUp? where hasPassed:
                        isLate = true
                        group.cancelAll()
                    // The group still waits for the work.
                    case .timeIsUp?, .cancelled?, nil: continue
                    }
                }
            }
        }
    }

    /// Carries a value from the parent task to a child task, or back. Unchecked, because the two never use it at the same time:
    /// the parent waits in `withTaskGroup` until the child has ended.
    private struct UncheckedBox<Value>: @unchecked Sendable {
        let value: Value
    }

    private enum Event<Value, Failure: Error>: Sendable {
        case ended(UncheckedBox<Swift.Result<Value, Failure>>)
        case timeIsUp
        case cancelled
    }
}
