package import Switchyard
import Synchronization

/// Runs `operation` to its end, even if the caller no longer waits.
///
/// For calls that invalidate the previous tokens: giving up halfway would lose the session. A cancelled caller gets
/// `.cancelled` at once, but the result of the operation is still stored.
package func uninterrupted<Value: Sendable>(
    _ operation: @escaping @Sendable () async throws(AuthError) -> Value
) async throws(AuthError) -> Value {
    let box = UninterruptedWaiter<Value>()
    let result: Result<Value, AuthError> = await withTaskCancellationHandler {
        await withCheckedContinuation { continuation in
            guard box.wait(continuation) else { return }
            Task {
                do throws(AuthError) {
                    box.resume(.success(try await operation()))
                } catch {
                    box.resume(.failure(error))
                }
            }
        }
    } onCancel: {
        box.resume(.failure(.waiterCancelled))
    }
    return try result.get()
}

private final class UninterruptedWaiter<Value: Sendable>: Sendable {
    private typealias State = (waiter: CheckedContinuation<Result<Value, AuthError>, Never>?, isOver: Bool)
    private let state = Mutex<State>((nil, false))

    /// - Returns: `false` if it was cancelled before it began.
    func wait(_ continuation: CheckedContinuation<Result<Value, AuthError>, Never>) -> Bool {
        let begins = state.withLock { state in
            if state.isOver { return false }
            state.waiter = continuation
            return true
        }
        if !begins { continuation.resume(returning: .failure(.waiterCancelled)) }
        return begins
    }

    func resume(_ result: Result<Value, AuthError>) {
        let waiter = state.withLock { state in
            defer { state = (nil, true) }
            return state.waiter
        }
        waiter?.resume(returning: result)
    }
}
