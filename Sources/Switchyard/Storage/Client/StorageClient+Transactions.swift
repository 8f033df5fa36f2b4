extension StorageClient {
    /// As ``transaction(_:_:)`` with the usual options.
    @discardableResult
    public func transaction<Result: Sendable>(
        _ body: @Sendable (StorageTransaction) async throws -> Result
    ) async throws(StorageError) -> Result { try await transaction(TransactionOptions(), body) }

    /// Repeats ``makeTransaction()`` for each attempt.
    @discardableResult
    public func transaction<Result: Sendable>(
        _ options: TransactionOptions,
        _ body: @Sendable (StorageTransaction) async throws -> Result
    ) async throws(StorageError) -> Result {
        guard options.maximumAttempts >= 1 else { throw .invalid("A transaction needs at least one attempt.") }
        var pauses = TransactionRetry.pauses(on: clock)
        var attempt = 1
        while true {
            let failure: StorageError
            switch await attemptTransaction(body) {
            case .success(let result): return result
            case .failure(.final(let error)): throw error
            case .failure(.repeatable(let error)): failure = error
            }
            guard attempt < options.maximumAttempts else {
                guard TransactionRetry.isConflict(failure, afterReading: true) else { throw failure }
                throw StorageError(
                    .aborted, "The transaction conflicted with other changes in each of its \(attempt) attempts.",
                    underlying: failure)
            }
            guard failure.retryAfter ?? .zero <= TransactionRetry.maximumPause, !RequestDeadline.hasPassed else {
                throw failure
            }
            do { try await clock.sleep(for: pauses.next(atLeast: failure.retryAfter)) } catch {
                throw StorageError(.cancelled, "The transaction was cancelled.")
            }
            attempt += 1
        }
    }

    private func attemptTransaction<Result: Sendable>(
        _ body: @Sendable (StorageTransaction) async throws -> Result
    ) async -> Swift.Result<Result, TransactionRetry.Failure> {
        let transaction: StorageTransaction
        do throws(StorageError) {
            transaction = StorageTransaction(try await makeTransaction())
        } catch {
            return .failure(error.isRetryable ? .repeatable(error) : .final(error))
        }
        let result: Result
        do {
            result = try await body(transaction)
        } catch {
            await transaction.rollBack()
            return .failure(TransactionRetry.failure(ofBody: error))
        }
        do throws(StorageError) {
            try await transaction.commit { batch throws(StorageError) in try checkBatch(batch) }
            return .success(result)
        } catch {
            let isConflict = await TransactionRetry.isConflict(error, afterReading: transaction.hasRead)
            await transaction.rollBack()
            return .failure(isConflict ? .repeatable(error) : .final(error))
        }
    }
}

enum TransactionRetry {
    enum Failure: Error {
        case repeatable(StorageError)
        case final(StorageError)
    }

    static func failure(ofBody error: any Error) -> Failure {
        switch error {
        case let error as StorageError: error.isRetryable ? .repeatable(error) : .final(error)
        case is CancellationError: .final(StorageError(.cancelled, "The transaction was cancelled."))
        default:
            .final(
                StorageError(
                    .aborted,
                    "The transaction's body threw “\(type(of: error))”, so nothing was written. The error itself is in “underlying”.",
                    isRetryable: false, underlying: error))
        }
    }

    /// Whether a failed commit certainly wrote nothing and may succeed with fresh reads.
    static func isConflict(_ error: StorageError, afterReading hasRead: Bool) -> Bool {
        switch error.code {
        case .aborted: error.isRetryable
        // After reads, the preconditions are those of the documents read; without reads, they are the caller's own.
        case .failedPrecondition, .alreadyExists: hasRead
        default: false
        }
    }

    /// 50 ms, then half as much again each time, ± 50 %: conflicts resolve quickly, and two competing clients must not stay
    /// in step.
    static func pauses(on clock: any Clock<Duration>) -> RetryPauses {
        RetryPauses(initial: .milliseconds(50), maximum: maximumPause, since: CallTimer(clock))
    }

    static let maximumPause = Duration.seconds(5)
}
