/// Observes what clients do, for logs, metrics and tests. Called often and from any thread, so be quick.
public protocol InfrastructureObserver: Sendable {
    func observe(_ event: InfrastructureEvent)
}

public struct SilentObserver: InfrastructureObserver {
    public init() {}
    public func observe(_ event: InfrastructureEvent) {}
}

/// An event. Contains names, numbers, codes and error messages, never document contents.
public struct InfrastructureEvent: Sendable {
    public let service: InfrastructureService
    public let provider: InfrastructureProvider
    /// The first path, query or file of a call; `nil` if there is none, or if it would name a user.
    public let target: String?
    public let kind: Kind
    /// The ID of the server request that caused it; see ``withRequest(id:deadline:trace:isolation:_:)``. `nil` if there is
    /// none, or if several requests did.
    public let requestID: String?
    /// The trace of that request.
    public let trace: TraceContext?

    public enum Kind: Sendable, Hashable {
        /// A call ended.
        case call(operation: String, duration: Duration, failure: Failure?)
        /// A call or a transfer is tried again after a pause.
        case retry(operation: String, attempt: Int, after: Duration, failure: Failure)
        /// Reads fall back to the cache because the server cannot be reached. Reported once for each cause until a read gets
        /// through.
        case readFromCache(failure: Failure)
        case streamOpened(operation: String)
        case streamClosed(operation: String, failure: Failure?)
        /// A stream is reconnecting after a lost connection.
        case reconnect(operation: String, attempt: Int, failure: Failure?)
        /// The number of writes that wait for the server. The failure says why the last attempt to send them failed; it is
        /// reported once for each cause until a write gets through. The writes stay queued and are retried.
        case pendingWrites(count: Int, failure: Failure?)
        /// The server rejected a batch of writes, which is now in ``StorageClient/refusedWrites()``.
        case writeRefused(paths: [String], failure: Failure)
        case tokenRefreshed(failure: Failure?)
        /// A notice, such as that a damaged file was set aside or that a session could not be saved.
        case notice(String)
    }

    /// Why something failed: a code and a readable message.
    public struct Failure: Sendable, Hashable {
        public let code: ErrorCode
        public let message: String

        public init(_ code: ErrorCode, _ message: String) {
            self.code = code
            self.message = message
        }

        public init(_ error: some ClientError) { self.init(error.code, error.message) }
    }

    /// - Parameters:
    ///   - service: The service of the client.
    ///   - provider: The provider of the client.
    ///   - target: The first path, query or file of a call.
    ///   - kind: What happened.
    ///   - requestID: By default, that of the current task.
    ///   - trace: By default, that of the current task.
    public init(
        service: InfrastructureService, provider: InfrastructureProvider, target: String? = nil, kind: Kind,
        requestID: String? = ServedRequest.current?.id, trace: TraceContext? = ServedRequest.current?.trace
    ) {
        self.requestID = requestID
        self.trace = trace
        self.service = service
        self.provider = provider
        self.target = target
        self.kind = kind
    }
}

extension InfrastructureEvent.Failure: CustomStringConvertible {
    public var description: String { "(\(code)): \(message)" }
}
