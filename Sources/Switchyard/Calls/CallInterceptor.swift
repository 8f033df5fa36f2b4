/// Stands around every call, stream and transfer of a client of any service: for measurements, limits or logs.
///
/// ```swift
/// struct Counting: CallInterceptor {
///     let count = Counter()
///     func call<Result, Failure: ClientError>(
///         _ call: ClientCall, _ body: () async throws(Failure) -> Result
///     ) async throws(Failure) -> Result {
///         count.increment()
///         return try await body()
///     }
/// }
/// let storage = acme.intercepted(by: Counting())
/// ```
/// Every requirement has a default that changes nothing, so implement only what you need. The first of several interceptors is
/// the innermost, and each sees only the calls that those outside it let through. To change what one operation *means*, conform
/// to ``StorageClientWrapper`` or one of its siblings instead.
public protocol CallInterceptor: Sendable {
    /// Runs `body`, as often as it likes if ``ClientCall/isRepeatable``, else once or not at all.
    func call<Result, Failure: ClientError>(
        _ call: ClientCall, _ body: () async throws(Failure) -> Result
    ) async throws(Failure) -> Result

    /// Returns the stream to use in place of `stream`. Nothing may begin before it is iterated.
    func stream<Element: Sendable, Failure: Error>(
        _ call: ClientCall, _ stream: SnapshotStream<Element, Failure>
    ) -> SnapshotStream<Element, Failure>
    func stream<Element: Sendable, Failure: Error>(
        _ call: ClientCall, _ stream: EventStream<Element, Failure>
    ) -> EventStream<Element, Failure>

    /// Called when a transfer has begun.
    func began<Output: Sendable>(_ call: ClientCall, _ transfer: FileTransfer<Output>)
}

extension CallInterceptor {
    public func call<Result, Failure: ClientError>(
        _ call: ClientCall, _ body: () async throws(Failure) -> Result
    ) async throws(Failure) -> Result { try await body() }

    public func stream<Element: Sendable, Failure: Error>(
        _ call: ClientCall, _ stream: SnapshotStream<Element, Failure>
    ) -> SnapshotStream<Element, Failure> { stream }
    public func stream<Element: Sendable, Failure: Error>(
        _ call: ClientCall, _ stream: EventStream<Element, Failure>
    ) -> EventStream<Element, Failure> { stream }

    public func began<Output: Sendable>(_ call: ClientCall, _ transfer: FileTransfer<Output>) {}
}

/// What an interceptor knows of a call: the service, the provider and the operation, but never its arguments.
public struct ClientCall: Sendable, Hashable {
    public let service: InfrastructureService
    public let provider: InfrastructureProvider
    /// The operation's name, such as `commit` or `sign in`.
    public let operation: String
    /// Whether a repetition after a failure is harmless, even if only the answer to the first attempt was lost.
    public let isRepeatable: Bool

    public init(
        service: InfrastructureService, provider: InfrastructureProvider, operation: String, isRepeatable: Bool = false
    ) {
        self.service = service
        self.provider = provider
        self.operation = operation
        self.isRepeatable = isRepeatable
    }
}
