extension StorageClient {
    /// Runs `body` until its reads and writes took effect as if nobody else had been there.
    ///
    /// `body` may run several times and must have no other effect. It is tried again, after a growing pause, when somebody
    /// else changed what it read or the server could not answer.
    /// - Throws: What `body` throws, as it is if it is a `StorageError`, else as `.aborted` around it; `.aborted` after the
    ///   last attempt; `.unsupported` where the provider has no transactions.
    @discardableResult
    public func transaction<Result: Sendable>(
        _ options: TransactionOptions = TransactionOptions(),
        _ body: @Sendable (StorageTransaction) async throws -> Result
    ) async throws(StorageError) -> Result {
        guard options.maximumAttempts >= 1 else { throw .invalid("A transaction needs at least one attempt.") }
        var attempt = 1
        while true {
            do throws(StorageError) {
                return try await attemptTransaction(body)
            } catch {
                guard TransactionRetry.isWorthwhile(error), attempt < options.maximumAttempts else { throw error }
                try await TransactionRetry.pause(afterAttempt: attempt)
                attempt += 1
            }
        }
    }

    private func attemptTransaction<Result: Sendable>(
        _ body: @Sendable (StorageTransaction) async throws -> Result
    ) async throws(StorageError) -> Result {
        let transaction = StorageTransaction(try await makeTransaction())
        do {
            let result = try await body(transaction)
            try await transaction.commit()
            return result
        } catch {
            await transaction.rollBack()
            if let error = error as? StorageError { throw error }
            if error is CancellationError { throw StorageError(.cancelled, "The transaction was cancelled.") }
            throw StorageError(
                .aborted, "The transaction's own code gave up.", isRetryable: false, underlying: error)
        }
    }
}

enum TransactionRetry {
    static func isWorthwhile(_ error: StorageError) -> Bool {
        switch error.code {
        case .failedPrecondition, .alreadyExists: true
        default: error.isRetryable
        }
    }

    /// 50 ms, then half as much again each time, ± 50 %: conflicts resolve quickly, and two rivals must not stay in step.
    static func pause(afterAttempt attempt: Int) async throws(StorageError) {
        var base = Duration.milliseconds(50)
        for _ in 1..<attempt { base = base * 3 / 2 }
        do {
            try await Task.sleep(for: base * Double.random(in: 0.5...1.5))
        } catch {
            throw StorageError(.cancelled, "The transaction was cancelled.")
        }
    }
}
