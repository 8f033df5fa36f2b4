import Foundation

/// Why a call to a domain client failed: the same few reasons for all of them, whatever went wrong underneath.
///
/// `UserError`, `ContactsError`, `CheckInError` and `NotificationError` are this type for their client.
public struct DomainError<Domain: DomainErrorDomain>: ClientError {
    public let code: DomainErrorCode
    public let message: String
    public let isRetryable: Bool
    public let retryAfter: Duration?
    /// The storage, auth or file error that caused it, when one did.
    public let underlying: (any Error)?

    public typealias Code = DomainErrorCode

    public init(
        _ code: Code, _ message: String, isRetryable: Bool? = nil, retryAfter: Duration? = nil,
        underlying: (any Error)? = nil
    ) {
        self.code = code
        self.message = message
        self.isRetryable = isRetryable ?? (code == .networkError)
        self.retryAfter = retryAfter
        self.underlying = underlying
    }

    public var description: String { "\(Domain.errorName)(\(code.rawValue)): \(message)" }
}

/// The client that a ``DomainError`` belongs to.
public protocol DomainErrorDomain: Sendable {
    static var errorName: String { get }
}

public struct DomainErrorCode: ErrorCode {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Nobody is signed in, or the session is over.
    public static let notAuthenticated = DomainErrorCode(rawValue: "notAuthenticated")
    /// Somebody is signed in, but the rules forbid it.
    public static let notAllowed = DomainErrorCode(rawValue: "notAllowed")
    public static let notFound = DomainErrorCode(rawValue: "notFound")
    public static let alreadyExists = DomainErrorCode(rawValue: "alreadyExists")
    public static let invalidArgument = DomainErrorCode(rawValue: "invalidArgument")
    /// The server could not be reached.
    public static let networkError = DomainErrorCode(rawValue: "networkError")
    /// The server could be reached and could not do it.
    public static let serverError = DomainErrorCode(rawValue: "serverError")
    public static let unsupported = DomainErrorCode(rawValue: "unsupported")
    public static let cancelled = DomainErrorCode(rawValue: "cancelled")
    public static let unknown = DomainErrorCode(rawValue: "unknown")
}

/// The one table from the core clients' codes to a domain's.
extension DomainError {
    init(_ error: StorageError) {
        let code: Code =
            switch error.code {
            case .unauthenticated: .notAuthenticated
            case .unauthorized: .notAllowed
            case .notFound: .notFound
            case .alreadyExists: .alreadyExists
            case .invalidArgument: .invalidArgument
            case .unavailable, .deadlineExceeded: .networkError
            case .unsupported: .unsupported
            case .cancelled: .cancelled
            case .unknown: .unknown
            default: .serverError
            }
        self.init(
            code, error.message, isRetryable: error.isRetryable, retryAfter: error.retryAfter, underlying: error)
    }

    init(_ error: AuthError) {
        let code: Code =
            switch error.code {
            case .notSignedIn, .sessionExpired, .sessionChanged, .userDisabled, .userNotFound: .notAuthenticated
            case .unavailable, .deadlineExceeded: .networkError
            case .unsupported: .unsupported
            case .cancelled: .cancelled
            case .unknown: .unknown
            default: .serverError
            }
        self.init(
            code, error.message, isRetryable: error.isRetryable, retryAfter: error.retryAfter, underlying: error)
    }

    init(_ error: FileStorageError) {
        let code: Code =
            switch error.code {
            case .unauthenticated: .notAuthenticated
            case .unauthorized: .notAllowed
            case .notFound: .notFound
            case .invalidArgument, .tooLarge: .invalidArgument
            case .unavailable, .deadlineExceeded: .networkError
            case .unsupported: .unsupported
            case .cancelled: .cancelled
            case .unknown: .unknown
            default: .serverError
            }
        self.init(
            code, error.message, isRetryable: error.isRetryable, retryAfter: error.retryAfter, underlying: error)
    }

    static var notAuthenticated: DomainError {
        DomainError(.notAuthenticated, "Nobody is signed in; sign in and try again.")
    }

    /// Runs `body`, with the errors of any core client turned into this domain's.
    @discardableResult
    static func mapping<Result>(
        _ body: () async throws -> Result
    ) async throws(DomainError) -> Result {
        do {
            return try await body()
        } catch let error as DomainError {
            throw error
        } catch let error as StorageError {
            throw DomainError(error)
        } catch let error as AuthError {
            throw DomainError(error)
        } catch let error as FileStorageError {
            throw DomainError(error)
        } catch is CancellationError {
            throw DomainError(.cancelled, "The call was cancelled.")
        } catch {
            throw DomainError(.unknown, "The call failed for a reason of its own.", underlying: error)
        }
    }
}
