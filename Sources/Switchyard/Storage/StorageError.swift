import Foundation

/// Why a call to a ``StorageClient`` failed.
public struct StorageError: ClientError {
    public static let area = "Storage"
    public let details: ErrorDetails
    /// Whether the server has examined the request and will never carry it out: it breaks a rule, or a precondition does not
    /// hold. Only such an answer removes a pending write from the queue.
    ///
    /// It is `false` if the server's answer is unknown: no code by itself means a rejection.
    public private(set) var isRefusal = false

    public init(_ details: ErrorDetails) { self.details = details }

    public init(
        _ code: ErrorCode, _ message: String, isRetryable: Bool? = nil, retryAfter: Duration? = nil,
        underlying: (any Error)? = nil, isRefusal: Bool
    ) {
        self.init(code, message, isRetryable: isRetryable, retryAfter: retryAfter, underlying: underlying)
        self.isRefusal = isRefusal
    }

    /// This error, marked as a rejection by the server, or not.
    public func asRefusal(_ isRefusal: Bool = true) -> StorageError {
        StorageError(
            code, message, isRetryable: isRefusal ? false : isRetryable, retryAfter: retryAfter,
            underlying: underlying, isRefusal: isRefusal)
    }

    /// This error, marked as permanent: repeating the call fails again.
    package func asLasting() -> StorageError {
        StorageError(
            code, message, isRetryable: false, retryAfter: retryAfter, underlying: underlying, isRefusal: isRefusal)
    }

    public func saying(_ message: String) -> StorageError {
        var error = StorageError(details.saying(message))
        error.isRefusal = isRefusal
        return error
    }

    /// Compares the details and whether it is a refusal, without the underlying error.
    public static func == (left: StorageError, right: StorageError) -> Bool {
        left.details == right.details && left.isRefusal == right.isRefusal
    }

    /// The app has switched the network off; nothing is sent until it switches it on.
    package static let networkSwitchedOff = StorageError(
        .unavailable, "The network is switched off with disableNetwork(). Call enableNetwork() to switch it on.")

    /// The same for a transaction, which cannot wait in the queue as a batch does.
    package var ofTransaction: StorageError {
        code == .shutDown ? self : saying("A transaction needs the server. \(message)")
    }

    /// A write of a user who is no longer signed in.
    package static let writerLeft = StorageError(
        .sessionChanged,
        "The write was not queued because the user who made it is no longer signed in. Write again.")

    package static func invalid(_ message: String) -> StorageError { StorageError(.invalidArgument, message) }
}

extension ErrorCode {
    /// A precondition on the document's version does not hold, or the backend lacks an index for the query.
    public static let failedPrecondition = ErrorCode(rawValue: "failedPrecondition")
    /// Another client changed the documents of a transaction in between.
    public static let aborted = ErrorCode(rawValue: "aborted")
    /// A stored document does not fit the type to decode it to, or the other way round.
    public static let codingFailed = ErrorCode(rawValue: "codingFailed")
}
