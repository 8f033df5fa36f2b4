import Foundation

/// Why a call to a ``StorageClient`` failed.
public struct StorageError: ClientError {
    public static let area = "Storage"
    public let details: ErrorDetails
    /// Whether the server has looked at what was asked for and will never do it, whoever asks again: a broken rule, a
    /// precondition that does not hold. Only such an answer takes a write that waits out of its queue.
    ///
    /// Not so where nobody knows what the server would say: no code alone means a refusal.
    public private(set) var isRefusal = false

    public init(_ details: ErrorDetails) { self.details = details }

    public init(
        _ code: ErrorCode, _ message: String, isRetryable: Bool? = nil, retryAfter: Duration? = nil,
        underlying: (any Error)? = nil, isRefusal: Bool
    ) {
        self.init(code, message, isRetryable: isRetryable, retryAfter: retryAfter, underlying: underlying)
        self.isRefusal = isRefusal
    }

    /// This error as the server's refusal, or as none.
    public func asRefusal(_ isRefusal: Bool = true) -> StorageError {
        StorageError(
            code, message, isRetryable: isRefusal ? false : isRetryable, retryAfter: retryAfter,
            underlying: underlying, isRefusal: isRefusal)
    }

    /// This error as one that the same call meets again, however often it is made.
    package func asLasting() -> StorageError {
        StorageError(
            code, message, isRetryable: false, retryAfter: retryAfter, underlying: underlying, isRefusal: isRefusal)
    }

    public func saying(_ message: String) -> StorageError {
        var error = StorageError(details.saying(message))
        error.isRefusal = isRefusal
        return error
    }

    /// Nothing is sent, and nothing is asked, until the app itself says so.
    package static let networkSwitchedOff = StorageError(
        .unavailable, "The network is switched off with disableNetwork(). Call enableNetwork() to switch it on.")

    package static func invalid(_ message: String) -> StorageError { StorageError(.invalidArgument, message) }
}

extension ErrorCode {
    /// A precondition on the document's version does not hold, or the backend lacks an index for the query.
    public static let failedPrecondition = ErrorCode(rawValue: "failedPrecondition")
    /// Somebody else changed the documents of a transaction in between.
    public static let aborted = ErrorCode(rawValue: "aborted")
    /// A stored document does not fit the type it was to be decoded into, or the other way round.
    public static let codingFailed = ErrorCode(rawValue: "codingFailed")
}
