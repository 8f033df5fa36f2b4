/// Runs `operation` and cancels it after `duration`.
///
/// An operation that succeeds at the last moment counts as successful. Whether the server may have seen the request is taken
/// from the cancelled operation's error.
///
/// - Throws: `.deadlineExceeded` after the deadline; retryable if the request was not sent or `isIdempotent`.
package func withDeadline<Value: Sendable>(
    _ duration: Duration, clock: any Clock<Duration> = ContinuousClock(), isIdempotent: Bool = false,
    operation: @escaping @Sendable () async throws(TransportError) -> Value
) async throws(TransportError) -> Value {
    let result: Result<Value, TransportError> = await withTaskGroup(of: DeadlineEvent<Value>.self) { group in
        group.addTask {
            do throws(TransportError) {
                return .finished(.success(try await operation()))
            } catch {
                return .finished(.failure(error))
            }
        }
        group.addTask {
            do {
                try await clock.sleep(for: duration)
                return .timeIsUp
            } catch {
                return .sleepCancelled
            }
        }
        var isTimeUp = false
        while let event = await group.next() {
            switch event {
            case .sleepCancelled: continue
            case .timeIsUp:
                isTimeUp = true
                group.cancelAll()
            case .finished(let result):
                group.cancelAll()
                guard isTimeUp, case .failure(let error) = result, error.code == .cancelled else { return result }
                return .failure(.late(mayHaveBeenSent: error.mayHaveBeenSent, isIdempotent: isIdempotent))
            }
        }
        return .failure(TransportError(.cancelled, "the exchange was cancelled"))
    }
    return try result.get()
}

extension TransportError {
    static func late(mayHaveBeenSent: Bool, isIdempotent: Bool) -> TransportError {
        TransportError(
            .deadlineExceeded, "the response was not complete in time", isRetryable: isIdempotent || !mayHaveBeenSent,
            mayHaveBeenSent: mayHaveBeenSent)
    }
}

private enum DeadlineEvent<Value: Sendable>: Sendable {
    case finished(Result<Value, TransportError>)
    case timeIsUp
    case sleepCancelled
}
