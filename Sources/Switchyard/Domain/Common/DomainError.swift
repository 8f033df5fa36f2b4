import Foundation

/// Why a call to a domain client failed. All domain clients share these few codes, whatever went wrong underneath.
///
/// `UserError`, `ContactsError`, `CheckInError` and `NotificationError` are all this type. ``ClientError/underlying`` is the
/// storage, auth or file error that caused it, if any.
public struct DomainError: ClientError {
    public static let area = "Domain"
    public let details: ErrorDetails
    public init(_ details: ErrorDetails) { self.details = details }

    /// No user is signed in. Not called `unauthenticated`, so that a `catch` of that name means the code.
    static let noUser = DomainError(.unauthenticated, "No user is signed in. Sign in and try again.")

    /// Maps the core clients' codes to domain codes.
    init(_ error: some ClientError) {
        let code: ErrorCode =
            switch error.code {
            case .unauthenticated, .notSignedIn, .sessionExpired, .userDisabled, .userNotFound: .unauthenticated
            case .sessionChanged where error is AuthError: .unauthenticated
            case .unauthorized: .notAllowed
            case .invalidArgument, .tooLarge: .invalidArgument
            case .unavailable, .deadlineExceeded: .networkError
            case .notFound, .alreadyExists, .unsupported, .overloaded, .cancelled, .unknown: error.code
            default: .serverError
            }
        self.init(
            code, error.message, isRetryable: error.isRetryable, retryAfter: error.retryAfter, underlying: error)
    }

    /// Runs `body`, and converts the errors of core clients to domain errors.
    @discardableResult
    static func mapping<Result>(_ body: () async throws -> Result) async throws(DomainError) -> Result {
        do {
            return try await body()
        } catch let error as DomainError {
            throw error
        } catch let error as any ClientError {
            throw DomainError(error)
        } catch {
            throw .wrapping(error)
        }
    }
}

extension ErrorCode {
    /// The user is signed in, but the rules forbid it.
    public static let notAllowed = ErrorCode(rawValue: "notAllowed")
    /// The server could not be reached.
    public static let networkError = ErrorCode(rawValue: "networkError")
    /// The server was reached, but could not do it.
    public static let serverError = ErrorCode(rawValue: "serverError")
}
