import Synchronization

extension SnapshotStream where Failure: ClientError {
    /// The same stream, with the deadline and the names that `policy` asks for.
    func guarded(_ operation: ClientOperation, like policy: CallPolicy?) -> Self {
        guarded(operation, deadline: policy?.hasDeadline ?? false, names: policy?.namesErrors ?? false)
    }

    /// The same stream, ending at the deadline of its consumer's request, and with the operation in its errors.
    func guarded(_ operation: ClientOperation, deadline: Bool = true, names: Bool = true) -> Self {
        guard deadline || names else { return self }
        return SnapshotStream(from: { [makeSource] in
            GuardedSource(makeSource(), operation, hasDeadline: deadline, namesErrors: names)
        })
    }
}

extension EventStream where Failure: ClientError {
    /// The same stream, with the deadline and the names that `policy` asks for.
    func guarded(_ operation: ClientOperation, like policy: CallPolicy?) -> Self {
        guarded(operation, deadline: policy?.hasDeadline ?? false, names: policy?.namesErrors ?? false)
    }

    /// The same stream, ending at the deadline of its consumer's request, and with the operation in its errors.
    func guarded(_ operation: ClientOperation, deadline: Bool = true, names: Bool = true) -> Self {
        guard deadline || names else { return self }
        return EventStream(from: { [makeSource] in
            GuardedSource(makeSource(), operation, hasDeadline: deadline, namesErrors: names)
        })
    }
}

/// The consumer's end of a stream: it ends at the deadline of the request of the task that fetches its elements, and its error
/// names the operation.
private final class GuardedSource<Element: Sendable, Failure: ClientError>: StreamSource {
    private let base: Mutex<(any StreamSource<Element, Failure>)?>
    private let operation: ClientOperation
    private let hasDeadline: Bool
    private let namesErrors: Bool

    init(
        _ base: any StreamSource<Element, Failure>, _ operation: ClientOperation, hasDeadline: Bool, namesErrors: Bool
    ) {
        self.base = Mutex(base)
        self.operation = operation
        self.hasDeadline = hasDeadline
        self.namesErrors = namesErrors
    }

    func begin() async { await base.withLock { $0 }?.begin() }

    func next() async throws(Failure) -> Element? {
        guard let base = base.withLock({ $0 }) else { return nil }
        do throws(Failure) {
            guard hasDeadline, let deadline = RequestDeadline.current else { return try await base.next() }
            // An element that was on its way at the deadline has been delivered, and its source was cancelled.
            if deadline <= .now { throw leaving() }
            let (result, isLate) = await RequestDeadline.race(
                { () async throws(Failure) -> Element? in try await base.next() }, until: deadline)
            let element = try result.get()
            // Sources end this way when they are cancelled.
            guard element == nil, isLate, !Task.isCancelled else { return element }
            throw leaving()
        } catch {
            throw namesErrors ? error.named(operation) : error
        }
    }

    private func leaving() -> Failure {
        base.withLock { $0 = nil }
        return Failure(.deadlineExceeded, "The request's deadline passed while “\(operation.name)” was open.")
    }
}
