import Foundation

/// Why a call to a ``FileStorageClient`` failed.
public struct FileStorageError: ClientError {
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
        public static let notFound = Code(rawValue: "notFound")
        public static let alreadyExists = Code(rawValue: "alreadyExists")
        public static let unauthorized = Code(rawValue: "unauthorized")
        public static let unauthenticated = Code(rawValue: "unauthenticated")
        /// A quota of the backend, or the size it allows for one file.
        public static let tooLarge = Code(rawValue: "tooLarge")
        public static let quotaExceeded = Code(rawValue: "quotaExceeded")
        /// What arrived is not what was sent.
        public static let checksumMismatch = Code(rawValue: "checksumMismatch")
        /// The file changed while it was being read or sent.
        public static let changed = Code(rawValue: "changed")
        /// An interrupted upload that the server has forgotten; start anew.
        public static let uploadExpired = Code(rawValue: "uploadExpired")
        /// The range lies outside of the file.
        public static let rangeNotSatisfiable = Code(rawValue: "rangeNotSatisfiable")
        /// A file on this device cannot be read or written.
        public static let localFile = Code(rawValue: "localFile")
        public static let unavailable = Code(rawValue: "unavailable")
        public static let rateLimited = Code(rawValue: "rateLimited")
        public static let deadlineExceeded = Code(rawValue: "deadlineExceeded")
        public static let cancelled = Code(rawValue: "cancelled")
        public static let unsupported = Code(rawValue: "unsupported")
        public static let shutDown = Code(rawValue: "shutDown")
        /// Another user signed in while it was under way. It does not go on in that user's name; an upload of a file that is
        /// noted down can be resumed by whoever began it.
        public static let sessionChanged = Code(rawValue: "sessionChanged")
        public static let unknown = Code(rawValue: "unknown")

        static let usuallyRetryable: Set<Code> = [.unavailable, .rateLimited, .deadlineExceeded, .checksumMismatch]
    }
}

extension FileStorageError {
    public static func unsupported(
        _ operation: String, by provider: InfrastructureProvider, instead alternative: String
    ) -> FileStorageError {
        FileStorageError(.unsupported, "File storage on “\(provider)” does not support \(operation). \(alternative)")
    }

    package static func wrapping(_ error: any Error) -> FileStorageError {
        switch error {
        case let error as FileStorageError: error
        case is CancellationError: FileStorageError(.cancelled, "The call was cancelled.")
        default: FileStorageError(.unknown, "The call failed for a reason of its own.", underlying: error)
        }
    }
}
