import Foundation

/// Why a call to a ``MessagingClient`` failed.
public struct MessagingError: ClientError {
    public let code: Code
    public let message: String
    public let isRetryable: Bool
    public let retryAfter: Duration?
    public let underlying: (any Error)?

    /// `isRetryable` is by default what is usual for `code`.
    public init(
        _ code: Code, _ message: String, isRetryable: Bool? = nil, retryAfter: Duration? = nil,
        underlying: (any Error)? = nil
    ) {
        self.code = code
        self.message = message
        self.isRetryable = isRetryable ?? Code.usuallyRetryable.contains(code)
        self.retryAfter = retryAfter
        self.underlying = underlying
    }

    public struct Code: ErrorCode {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        public static let invalidArgument = Code(rawValue: "invalidArgument")
        public static let permissionDenied = Code(rawValue: "permissionDenied")
        /// The app has not handed in the platform's push token yet.
        public static let noPlatformToken = Code(rawValue: "noPlatformToken")
        /// The registration is gone on the server; a new token comes on the stream.
        public static let unregistered = Code(rawValue: "unregistered")
        public static let unauthorized = Code(rawValue: "unauthorized")
        public static let unauthenticated = Code(rawValue: "unauthenticated")
        public static let rateLimited = Code(rawValue: "rateLimited")
        public static let unavailable = Code(rawValue: "unavailable")
        public static let deadlineExceeded = Code(rawValue: "deadlineExceeded")
        public static let cancelled = Code(rawValue: "cancelled")
        public static let unsupported = Code(rawValue: "unsupported")
        public static let localStore = Code(rawValue: "localStore")
        public static let shutDown = Code(rawValue: "shutDown")
        public static let unknown = Code(rawValue: "unknown")

        static let usuallyRetryable: Set<Code> = [.rateLimited, .unavailable, .deadlineExceeded]
    }
}

extension MessagingError {
    public static func unsupported(
        _ operation: String, by provider: InfrastructureProvider, instead alternative: String
    ) -> MessagingError {
        MessagingError(.unsupported, "Messaging on “\(provider)” does not support \(operation). \(alternative)")
    }

    package static func wrapping(_ error: any Error) -> MessagingError {
        switch error {
        case let error as MessagingError: error
        case is CancellationError: MessagingError(.cancelled, "The call was cancelled.")
        default: MessagingError(.unknown, "The call failed for a reason of its own.", underlying: error)
        }
    }
}
