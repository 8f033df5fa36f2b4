public import Foundation

/// The shape of all clients' errors: an open code to branch on, a readable message, and whether a retry makes sense.
///
/// ```swift
/// do throws(StorageError) {
///     try await storage.updateDocument("users/alice", ["age": 30])
/// } catch .notFound {
///     show("There is no such user.")
/// } catch let error where error.isRetryable {
///     show("Try again later.")
/// }
/// ```
///
/// No error message contains document contents, tokens or email addresses, so you can log errors as they are.
///
/// Errors are equal if they say the same, so the state of a screen that holds one is `Equatable` without code. The underlying
/// error does not count: no two of them can be compared.
public protocol ClientError: Error, LocalizedError, CustomStringConvertible, Sendable, Hashable {
    typealias Code = ErrorCode

    /// The area of these errors, as named in messages: `Storage`.
    static var area: String { get }
    /// The codes after which the same call may succeed, unless an error says otherwise.
    static var retryable: Set<ErrorCode> { get }

    var details: ErrorDetails { get }
    init(_ details: ErrorDetails)
    /// The same error with another message.
    func saying(_ message: String) -> Self
}

/// The contents of every ``ClientError``.
public struct ErrorDetails: Sendable {
    public let code: ErrorCode
    public let message: String
    public let isRetryable: Bool
    public let retryAfter: Duration?
    public let underlying: (any Error)?

    public init(
        _ code: ErrorCode, _ message: String, isRetryable: Bool, retryAfter: Duration? = nil,
        underlying: (any Error)? = nil
    ) {
        self.code = code
        self.message = message
        self.isRetryable = isRetryable
        self.retryAfter = retryAfter
        self.underlying = underlying
    }

    func saying(_ message: String) -> ErrorDetails {
        ErrorDetails(code, message, isRetryable: isRetryable, retryAfter: retryAfter, underlying: underlying)
    }
}

extension ErrorDetails: Hashable {
    /// Compares everything but the underlying error.
    public static func == (left: ErrorDetails, right: ErrorDetails) -> Bool {
        left.code == right.code && left.message == right.message && left.isRetryable == right.isRetryable
            && left.retryAfter == right.retryAfter
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(code)
        hasher.combine(message)
    }
}

extension ClientError {
    /// By default, `isRetryable` depends on `code`.
    public init(
        _ code: ErrorCode, _ message: String, isRetryable: Bool? = nil, retryAfter: Duration? = nil,
        underlying: (any Error)? = nil
    ) {
        self.init(
            ErrorDetails(
                code, message, isRetryable: isRetryable ?? Self.retryable.contains(code), retryAfter: retryAfter,
                underlying: underlying))
    }

    /// The error for an operation that a provider does not support.
    public static func unsupported(
        _ operation: String, by provider: InfrastructureProvider, instead alternative: String
    ) -> Self {
        Self(.unsupported, "\(area) on “\(provider)” does not support \(operation). \(alternative)")
    }

    /// `error` as this type: itself if it is one, a cancellation, or wrapped in `.unknown`.
    package static func wrapping(_ error: any Error) -> Self {
        switch error {
        case let error as Self: error
        case is CancellationError: Self(.cancelled, "The call was cancelled.")
        default: Self(.unknown, "The call failed with an unexpected error.", underlying: error)
        }
    }

    public static var retryable: Set<ErrorCode> { ErrorCode.passing }

    public func saying(_ message: String) -> Self { Self(details.saying(message)) }

    /// The error code. Branch on this, never on the message. Unknown server codes keep their name.
    public var code: ErrorCode { details.code }
    /// A readable message: what is wrong and, if possible, what to change.
    public var message: String { details.message }
    /// Whether the same call may succeed later without a change by the caller.
    public var isRetryable: Bool { details.isRetryable }
    /// How long the server asked to wait before trying again.
    public var retryAfter: Duration? { details.retryAfter }
    /// The underlying error, for debugging. Its message is never part of this error's description.
    public var underlying: (any Error)? { details.underlying }

    public var description: String { "\(Self.self)(\(code.rawValue)): \(message)" }

    /// Compares the ``details``, without the underlying error.
    public static func == (left: Self, right: Self) -> Bool { left.details == right.details }
    public func hash(into hasher: inout Hasher) { hasher.combine(details) }
}

/// Lets `catch .notFound` work where the error's type is known.
public func ~= (code: ErrorCode, error: some ClientError) -> Bool { error.code == code }
