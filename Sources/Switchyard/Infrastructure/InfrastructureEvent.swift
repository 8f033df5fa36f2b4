/// Observes what clients do, for logs, metrics and tests. Called often and from any thread, so be quick.
public protocol InfrastructureObserver: Sendable {
    func observe(_ event: InfrastructureEvent)
}

public struct SilentObserver: InfrastructureObserver {
    public init() {}
    public func observe(_ event: InfrastructureEvent) {}
}

/// An event. Holds names, numbers, codes and error texts, never contents of documents.
public struct InfrastructureEvent: Sendable {
    public let service: InfrastructureService
    public let provider: InfrastructureProvider
    public let kind: Kind
    /// The ID of the request of a server that caused it; see ``withRequest(id:deadline:isolation:_:)``. `nil` if there is
    /// none, or if several requests did.
    public let requestID: String?

    public enum Kind: Sendable, Hashable {
        /// A call ended.
        case call(operation: String, duration: Duration, failure: Failure?)
        /// A call or a transfer is tried again after a pause.
        case retry(operation: String, attempt: Int, after: Duration, failure: Failure)
        /// Reads are answered from the cache because the server cannot be reached. Reported once for each cause until a
        /// read gets through.
        case readFromCache(failure: Failure)
        case streamOpened(operation: String)
        case streamClosed(operation: String, failure: Failure?)
        /// A lost connection is being repaired underneath a stream.
        case reconnect(operation: String, attempt: Int, failure: Failure?)
        /// How many writes wait for the server. The failure says why the last attempt to send them failed; it is reported once
        /// for each cause until a write gets through. The writes stay queued and are tried again.
        case pendingWrites(count: Int, failure: Failure?)
        /// The server refused a batch of writes for good; ``StorageClient/refusedWrites()`` has it.
        case writeRefused(paths: [String], failure: Failure)
        case tokenRefreshed(failure: Failure?)
        /// Something a person should know: a damaged file that was set aside, a session that could not be kept.
        case notice(String)
    }

    /// Why something failed: a code, and a text for people.
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
    ///   - service: What it is about.
    ///   - provider: The provider of the client.
    ///   - kind: What happened.
    ///   - requestID: By default that of the current task.
    public init(
        service: InfrastructureService, provider: InfrastructureProvider, kind: Kind,
        requestID: String? = ServedRequest.current?.id
    ) {
        self.requestID = requestID
        self.service = service
        self.provider = provider
        self.kind = kind
    }
}

extension InfrastructureEvent.Failure: CustomStringConvertible {
    public var description: String { "(\(code)): \(message)" }
}
