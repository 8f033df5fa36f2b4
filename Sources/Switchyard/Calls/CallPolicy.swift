import SwitchyardBytes

/// What stands around each call of one client, applied in one pass:
///
///     observer → interceptors, last first → deadline of the request → retries → the client
///
/// So an observer sees one call with its pauses, and a deadline applies to all attempts together. Without
/// an observer, interceptors, retries and a request, a call costs one call of its body.
package final class CallPolicy: Sendable {
    private let service: InfrastructureService
    /// The provider of the client, which may change if the client forwards to others.
    private let provider: @Sendable () -> InfrastructureProvider
    let retry: RetryPolicy?
    private let interceptors: [any CallInterceptor]
    /// `nil` if there will never be one.
    private let observer: ObserverRelay?
    private let clock: any Clock<Duration>
    /// Whether calls and streams end at the deadline of their request.
    let hasDeadline: Bool
    /// Whether errors begin with the operation. Those of the clients that domain clients are built on do not.
    let namesErrors: Bool

    package init(
        _ service: InfrastructureService, _ provider: @escaping @Sendable () -> InfrastructureProvider,
        retry: RetryPolicy? = nil, interceptors: [any CallInterceptor] = [],
        observer: any InfrastructureObserver = SilentObserver(), clock: any Clock<Duration> = ContinuousClock(),
        hasDeadline: Bool = false, namesErrors: Bool = false
    ) {
        self.service = service
        self.provider = provider
        self.retry = retry
        self.interceptors = interceptors
        self.observer = ObserverRelay.of(observer)
        self.clock = clock
        self.hasDeadline = hasDeadline
        self.namesErrors = namesErrors
    }

    // MARK: Calls

    /// For the calls of an object that is made without an ``Infrastructure``, such as a provider's message sender.
    package func callAsFunction<Result, Failure: ClientError>(
        _ operation: ClientOperation, _ body: () async throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        try await run(operation, on: ()) { () throws(Failure) in try await body() }
    }

    /// Whether a call needs nothing around its first attempt: no interceptor, and no deadline.
    var isPlain: Bool { interceptors.isEmpty && (!hasDeadline || RequestDeadline.current == nil) }

    /// For a call that ``isPlain``: before its first attempt.
    ///
    /// - Returns: `nil` if no one will ask for the time that the call took.
    func started(_ operation: ClientOperation) -> CallTimer? {
        isObserved || repeats(operation) ? CallTimer(clock) : nil
    }

    /// After its last attempt.
    func ended(_ operation: ClientOperation, _ watch: CallTimer?, _ failure: InfrastructureEvent.Failure? = nil) {
        guard isObserved, let watch else { return }
        report(operation, .call(operation: operation.name, duration: watch.elapsed, failure: failure))
    }

    // What follows is compiled once, for all types. The optimiser would make it again for each of the hundred kinds of calls, which
    // adds three megabytes to a program.

    /// After a first attempt that failed: repeats it where that may help.
    @_semantics("optimize.sil.specialize.generic.never")
    func recover<Client, Result, Failure: ClientError>(
        _ operation: ClientOperation, _ watch: CallTimer?, from failure: Failure, on client: Client,
        _ body: (Client) async throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        try await finished(operation, watch) { () throws(Failure) in
            guard let retry, operation.isRepeatable else { throw failure }
            return try await repeated(operation, watch, retry, after: failure, client, body)
        }
    }

    /// A call with all that stands around it.
    @_semantics("optimize.sil.specialize.generic.never")
    func run<Client, Result, Failure: ClientError>(
        _ operation: ClientOperation, on client: Client, _ body: (Client) async throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        let watch = started(operation)
        return try await finished(operation, watch) { () throws(Failure) in
            try await intercepted(interceptors.count, operation, watch, client, body)
        }
    }

    private func finished<Result, Failure: ClientError>(
        _ operation: ClientOperation, _ watch: CallTimer?, _ body: () async throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        do throws(Failure) {
            let result = try await body()
            ended(operation, watch)
            return result
        } catch {
            let named = error.named(operation)
            ended(operation, watch, .init(named))
            throw namesErrors ? named : error
        }
    }

    /// Inside the first `count` interceptors.
    private func intercepted<Client, Result, Failure: ClientError>(
        _ count: Int, _ operation: ClientOperation, _ watch: CallTimer?, _ client: Client,
        _ body: (Client) async throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        guard count > 0 else { return try await limited(operation, watch, client, body) }
        return try await interceptors[count - 1].call(call(operation)) { () throws(Failure) in
            try await intercepted(count - 1, operation, watch, client, body)
        }
    }

    private func limited<Client, Result, Failure: ClientError>(
        _ operation: ClientOperation, _ watch: CallTimer?, _ client: Client,
        _ body: (Client) async throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        guard hasDeadline, let deadline = RequestDeadline.current else {
            return try await attempted(operation, watch, client, body)
        }
        guard deadline > .now else {
            throw Failure(
                .deadlineExceeded,
                "The request's deadline had passed before “\(operation.name)” on “\(provider())” began. Nothing was done."
            )
        }
        return try await RequestDeadline.hold { () throws(Failure) in
            try await attempted(operation, watch, client, body)
        } lateText: {
            let doubt =
                operation.isRepeatable ? "" : " It may have taken effect all the same: check before you repeat it."
            return "The request's deadline passed before “\(operation.name)” on “\(provider())” had ended.\(doubt)"
        }
    }

    private func attempted<Client, Result, Failure: ClientError>(
        _ operation: ClientOperation, _ watch: CallTimer?, _ client: Client,
        _ body: (Client) async throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        guard let retry, operation.isRepeatable else { return try await body(client) }
        let failure: Failure
        do throws(Failure) { return try await body(client) } catch { failure = error }
        return try await repeated(operation, watch, retry, after: failure, client, body)
    }

    private var isObserved: Bool { observer?.isObserved ?? false }

    private func repeats(_ operation: ClientOperation) -> Bool { retry != nil && operation.isRepeatable }

    private func repeated<Client, Result, Failure: ClientError>(
        _ operation: ClientOperation, _ watch: CallTimer?, _ retry: RetryPolicy, after first: Failure, _ client: Client,
        _ body: (Client) async throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        var failure = first
        var pauses: RetryPauses?
        var attempt = 1
        while true {
            // More attempts would not help while this program makes too many calls.
            guard attempt < retry.maximumAttempts, failure.isRetryable, failure.code != .overloaded,
                !RequestDeadline.hasPassed, failure.retryAfter ?? .zero <= retry.maximumPause
            else { throw failure }
            let watch = watch ?? CallTimer(clock)
            var next = pauses ?? RetryPauses(initial: retry.initialPause, maximum: retry.maximumPause, since: watch)
            let pause = next.next(atLeast: failure.retryAfter)
            pauses = next
            report(
                operation,
                .retry(
                    operation: operation.name, attempt: attempt, after: pause,
                    failure: .init(failure.named(operation))))
            // A cancelled pause ends the retrying; the caller learns why the last call failed.
            do { try await clock.sleep(for: pause) } catch { throw failure }
            attempt += 1
            do throws(Failure) { return try await body(client) } catch { failure = error }
        }
    }

    private func call(_ operation: ClientOperation) -> ClientCall {
        ClientCall(
            service: service, provider: provider(), operation: operation.name, isRepeatable: operation.isRepeatable)
    }

    private func report(
        _ operation: ClientOperation, _ kind: InfrastructureEvent.Kind,
        for request: ServedRequest? = .current
    ) {
        observer?.observe(
            InfrastructureEvent(
                service: service, provider: provider(), target: operation.target, kind: kind, requestID: request?.id,
                trace: request?.trace))
    }

    // MARK: Streams and transfers

    func stream<Element: Sendable, Failure: Error>(
        _ operation: ClientOperation, _ stream: SnapshotStream<Element, Failure>
    ) -> SnapshotStream<Element, Failure> {
        let stream = interceptors.reduce(stream) { $1.stream(call(operation), $0) }
        guard let life = StreamLife(self, operation) else { return stream }
        return stream.observingLife(opened: life.opened, delivered: life.delivers(), ended: life.ended)
    }

    func stream<Element: Sendable, Failure: Error>(
        _ operation: ClientOperation, _ stream: EventStream<Element, Failure>
    ) -> EventStream<Element, Failure> {
        let stream = interceptors.reduce(stream) { $1.stream(call(operation), $0) }
        guard let life = StreamLife(self, operation) else { return stream }
        return stream.observingLife(opened: life.opened, delivered: life.delivers(), ended: life.ended)
    }

    /// What observers are told of one stream.
    private struct StreamLife: Sendable {
        let policy: CallPolicy
        let observer: ObserverRelay
        let operation: ClientOperation
        let request = ServedRequest.current
        let number: Int

        /// - Returns: `nil` if no one observes.
        init?(_ policy: CallPolicy, _ operation: ClientOperation) {
            guard let observer = policy.observer, observer.isObserved else { return nil }
            (self.policy, self.observer, self.operation, number) = (policy, observer, operation, observer.next())
        }

        @Sendable func opened() {
            policy.report(operation, .streamOpened(operation: operation.name), for: request)
            note(.streamOpened)
        }

        @Sendable func ended(_ error: (any Error)?) {
            let failure = policy.failure(error, operation)
            policy.report(operation, .streamClosed(operation: operation.name, failure: failure), for: request)
            note(.streamEnded(failure))
        }

        /// - Returns: `nil` if no one observes closely, so that elements cost nothing more.
        func delivers<Element: Sendable>() -> (@Sendable (Element) -> Void)? {
            guard observer.isWatched else { return nil }
            return { element in
                let counted = element as? any CountedSnapshot
                note(
                    .streamDelivered(
                        documents: counted?.documentCount, isFromCache: counted?.metadata.isFromCache ?? false))
            }
        }

        private func note(_ kind: ClientActivity.Kind) { policy.note(operation, number, kind) }
    }

    private func note(_ operation: ClientOperation, _ number: Int, _ kind: ClientActivity.Kind) {
        guard let observer, observer.isWatched else { return }
        observer.observe(
            ClientActivity(
                number: number, service: service, provider: provider(), operation: operation.name,
                target: operation.target, kind: kind))
    }

    /// The failure for observers, with the same message that the caller gets.
    private func failure(_ error: (any Error)?, _ operation: ClientOperation) -> InfrastructureEvent.Failure? {
        guard let error else { return nil }
        guard let error = error as? any ClientError else { return .init(.unknown, "\(error)") }
        func named(_ error: some ClientError) -> InfrastructureEvent.Failure { .init(error.named(operation)) }
        return named(error)
    }

    /// Reports the end of a transfer. Its owner may wait for it, too.
    func began<Output: Sendable>(_ operation: ClientOperation, _ transfer: FileTransfer<Output>) {
        for interceptor in interceptors { interceptor.began(call(operation), transfer) }
        guard let observer, observer.isObserved else { return }
        let number = observer.next()
        Task { [self] in
            let watch = CallTimer(clock)
            if observer.isWatched {
                for await progress in transfer.progress { note(operation, number, .transferMoved(progress)) }
            }
            var failure: InfrastructureEvent.Failure?
            do throws(FileStorageError) { _ = try await transfer.result() } catch {
                failure = .init(error.named(operation))
            }
            report(
                operation,
                .call(operation: operation.name + " to its end", duration: watch.elapsed, failure: failure))
            note(operation, number, .transferEnded(failure))
        }
    }
}

/// The time since a call began. On the system's clock, which nearly all calls have, it allocates nothing.
struct CallTimer: Sendable {
    let start = ContinuousClock.now
    private let other: Stopwatch?

    init(_ clock: any Clock<Duration>) { other = clock is ContinuousClock ? nil : Stopwatch(clock) }

    var elapsed: Duration { other?.elapsed ?? (.now - start) }
    var now: ContinuousClock.Instant { start.advanced(by: elapsed) }
}
