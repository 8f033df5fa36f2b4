import Synchronization

/// Starts an infrastructure that was made without its clients, when the first of them is used.
final class DeferredStart: Sendable {
    private let begin: @Sendable () async -> Result<Void, InfrastructureError>
    private let hasStarted = Atomic(false)
    private let attempt = Mutex<Task<Result<Void, InfrastructureError>, Never>?>(nil)

    init(_ begin: @escaping @Sendable () async -> Result<Void, InfrastructureError>) { self.begin = begin }

    /// Whether the clients are there.
    var isOver: Bool { hasStarted.load(ordering: .acquiring) }

    /// Returns when the clients are there. All callers share an attempt; after a failure, the next call makes another one.
    func wait() async throws(InfrastructureError) {
        guard !isOver else { return }
        let task = attempt.withLock { attempt in
            if let attempt { return attempt }
            let task = Task { await run() }
            attempt = task
            return task
        }
        try await task.value.get()
    }

    private func run() async -> Result<Void, InfrastructureError> {
        let result = await begin()
        switch result {
        case .success: hasStarted.store(true, ordering: .releasing)
        case .failure: attempt.withLock { $0 = nil }
        }
        return result
    }
}

extension DeferredStart {
    /// The stream that `open` returns, once the clients are there. Compiled once, since it runs once.
    @_semantics("optimize.sil.specialize.generic.never")
    func snapshots<Element: Sendable, Failure: Error>(
        failure: @escaping @Sendable (InfrastructureError) -> Failure?,
        _ open: @escaping @Sendable () -> SnapshotStream<Element, Failure>
    ) -> SnapshotStream<Element, Failure> {
        SnapshotStream { continuation in
            let task = Task {
                do throws(InfrastructureError) { try await self.wait() } catch {
                    if let failure = failure(error) { return continuation.finish(throwing: failure) }
                }
                do throws(Failure) {
                    for try await element in open() { continuation.yield(element) }
                    if !Task.isCancelled { continuation.finish() }
                } catch {
                    continuation.finish(throwing: error)
                }
            }
            return { task.cancel() }
        }
    }

    /// The stream that `open` returns, once the clients are there. It announces when that one does.
    @_semantics("optimize.sil.specialize.generic.never")
    func events<Element: Sendable, Failure: ClientError>(
        _ open: @escaping @Sendable () -> EventStream<Element, Failure>
    ) -> EventStream<Element, Failure> {
        EventStream.announced { continuation in
            let task = Task {
                do throws(InfrastructureError) { try await self.wait() } catch {
                    return continuation.finish(throwing: Failure(notStarted: error))
                }
                let stream = await open().begun()
                if !Task.isCancelled { continuation.announce() }
                do throws(Failure) {
                    for try await element in stream { continuation.yield(element) }
                    if !Task.isCancelled { continuation.finish() }
                } catch {
                    continuation.finish(throwing: error)
                }
            }
            return { task.cancel() }
        }
    }
}

extension ClientError {
    /// The error of every call on a client whose infrastructure could not be started.
    init(notStarted error: InfrastructureError) {
        self.init(error.code, "The backend could not be started: \(error.message)", underlying: error)
    }
}
