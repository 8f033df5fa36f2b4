import Foundation

/// Why a call to a ``StorageClient`` failed.
public struct StorageError: ClientError {
    public let code: Code
    public let message: String
    public let isRetryable: Bool
    public let retryAfter: Duration?
    public let underlying: (any Error)?
    /// Whether the server has looked at what was asked for and will never do it, whoever asks again: a broken rule, a
    /// precondition that does not hold. Only such an answer takes a write that waits out of its queue.
    ///
    /// Not so where nobody knows what the server would say: no code alone means a refusal.
    public let isRefusal: Bool

    /// `isRetryable` is by default what is usual for `code`.
    public init(
        _ code: Code, _ message: String, isRetryable: Bool? = nil, retryAfter: Duration? = nil,
        underlying: (any Error)? = nil, isRefusal: Bool = false
    ) {
        self.isRefusal = isRefusal
        self.code = code
        self.message = message
        self.isRetryable = isRetryable ?? Code.usuallyRetryable.contains(code)
        self.retryAfter = retryAfter
        self.underlying = underlying
    }

    public init(
        _ code: Code, _ message: String, isRetryable: Bool?, retryAfter: Duration?, underlying: (any Error)?
    ) {
        self.init(
            code, message, isRetryable: isRetryable, retryAfter: retryAfter, underlying: underlying, isRefusal: false)
    }

    public struct Code: ErrorCode {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// A path, field name, value, query or option that no backend could accept.
        public static let invalidArgument = Code(rawValue: "invalidArgument")
        /// The document does not exist, and the call needs it to.
        public static let notFound = Code(rawValue: "notFound")
        /// The document exists, and the call needs it not to.
        public static let alreadyExists = Code(rawValue: "alreadyExists")
        /// A precondition on the document's version does not hold, or the backend lacks an index for the query.
        public static let failedPrecondition = Code(rawValue: "failedPrecondition")
        /// Rules forbid it for the signed-in user.
        public static let unauthorized = Code(rawValue: "unauthorized")
        /// Nobody is signed in, or the session is no longer accepted.
        public static let unauthenticated = Code(rawValue: "unauthenticated")
        /// Somebody else changed the documents of a transaction in between.
        public static let aborted = Code(rawValue: "aborted")
        /// A quota or a rate limit is used up.
        public static let resourceExhausted = Code(rawValue: "resourceExhausted")
        /// No answer: no network, or the server is down.
        public static let unavailable = Code(rawValue: "unavailable")
        public static let deadlineExceeded = Code(rawValue: "deadlineExceeded")
        public static let cancelled = Code(rawValue: "cancelled")
        /// This provider has no such operation; see its capabilities.
        public static let unsupported = Code(rawValue: "unsupported")
        /// A stored document does not fit the type it was to be decoded into, or the other way round.
        public static let codingFailed = Code(rawValue: "codingFailed")
        /// The data kept on this device is damaged, locked by another process, or of a newer version.
        public static let localStore = Code(rawValue: "localStore")
        /// The client was shut down.
        public static let shutDown = Code(rawValue: "shutDown")
        /// Another user signed in while it was under way. It does not go on in that user's name.
        public static let sessionChanged = Code(rawValue: "sessionChanged")
        public static let `internal` = Code(rawValue: "internal")
        public static let unknown = Code(rawValue: "unknown")

        static let usuallyRetryable: Set<Code> = [.aborted, .resourceExhausted, .unavailable, .deadlineExceeded]
    }
}

extension StorageError {
    /// The refusal of an operation that a provider does not have.
    public static func unsupported(
        _ operation: String, by provider: InfrastructureProvider, instead alternative: String
    ) -> StorageError {
        StorageError(.unsupported, "Storage on “\(provider)” does not support \(operation). \(alternative)")
    }

    /// This error as the server's refusal, or as none.
    public func asRefusal(_ isRefusal: Bool = true) -> StorageError {
        StorageError(
            code, message, isRetryable: isRefusal ? false : isRetryable, retryAfter: retryAfter,
            underlying: underlying, isRefusal: isRefusal)
    }

    package static func invalid(_ message: String) -> StorageError { StorageError(.invalidArgument, message) }

    /// `error` as a storage error: itself if it is one, a cancellation, or `.unknown` around it.
    package static func wrapping(_ error: any Error) -> StorageError {
        switch error {
        case let error as StorageError: error
        case is CancellationError: StorageError(.cancelled, "The call was cancelled.")
        default: StorageError(.unknown, "The call failed for a reason of its own.", underlying: error)
        }
    }
}
