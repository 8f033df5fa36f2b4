import Foundation

/// Why a call to an ``AuthClient`` failed.
public struct AuthError: ClientError {
    public let code: Code
    public let message: String
    public let isRetryable: Bool
    public let retryAfter: Duration?
    public let underlying: (any Error)?
    /// With `.secondFactorRequired`: what is asked for. Answer it with ``AuthClient/answer(_:with:)``.
    public let challenge: SecondFactorChallenge?

    /// `isRetryable` is by default what is usual for `code`.
    public init(
        _ code: Code, _ message: String, isRetryable: Bool? = nil, retryAfter: Duration? = nil,
        challenge: SecondFactorChallenge? = nil, underlying: (any Error)? = nil
    ) {
        self.code = code
        self.message = message
        self.isRetryable = isRetryable ?? Code.usuallyRetryable.contains(code)
        self.retryAfter = retryAfter
        self.challenge = challenge
        self.underlying = underlying
    }

    public init(
        _ code: Code, _ message: String, isRetryable: Bool?, retryAfter: Duration?, underlying: (any Error)?
    ) {
        self.init(
            code, message, isRetryable: isRetryable, retryAfter: retryAfter, challenge: nil, underlying: underlying)
    }

    public struct Code: ErrorCode {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        public static let invalidArgument = Code(rawValue: "invalidArgument")
        /// The password, code, link or token is wrong. Deliberately silent about which part.
        public static let invalidCredential = Code(rawValue: "invalidCredential")
        public static let userNotFound = Code(rawValue: "userNotFound")
        public static let userDisabled = Code(rawValue: "userDisabled")
        /// An account with this address exists, perhaps with another way to sign in.
        public static let emailInUse = Code(rawValue: "emailInUse")
        public static let emailNotConfirmed = Code(rawValue: "emailNotConfirmed")
        public static let weakPassword = Code(rawValue: "weakPassword")
        /// The identity belongs to another account already.
        public static let identityInUse = Code(rawValue: "identityInUse")
        /// A code, link or browser sign-in came too late or was used before.
        public static let codeExpired = Code(rawValue: "codeExpired")
        /// The account has a second factor; see ``AuthError/challenge``.
        public static let secondFactorRequired = Code(rawValue: "secondFactorRequired")
        /// The change needs a fresh sign-in: call ``AuthClient/reauthenticate(with:)`` and try again.
        public static let recentSignInRequired = Code(rawValue: "recentSignInRequired")
        public static let notSignedIn = Code(rawValue: "notSignedIn")
        /// The session is over on the server; the user must sign in again.
        public static let sessionExpired = Code(rawValue: "sessionExpired")
        /// Another sign-in or sign-out overtook the call.
        public static let sessionChanged = Code(rawValue: "sessionChanged")
        /// The server does not allow this way to sign in.
        public static let methodDisabled = Code(rawValue: "methodDisabled")
        public static let rateLimited = Code(rawValue: "rateLimited")
        public static let unavailable = Code(rawValue: "unavailable")
        public static let deadlineExceeded = Code(rawValue: "deadlineExceeded")
        public static let cancelled = Code(rawValue: "cancelled")
        public static let unsupported = Code(rawValue: "unsupported")
        /// The session kept on this device cannot be read or written, or is locked by another process.
        public static let localStore = Code(rawValue: "localStore")
        public static let shutDown = Code(rawValue: "shutDown")
        public static let unknown = Code(rawValue: "unknown")

        static let usuallyRetryable: Set<Code> = [.rateLimited, .unavailable, .deadlineExceeded]
    }
}

extension AuthError {
    public static func unsupported(
        _ operation: String, by provider: InfrastructureProvider, instead alternative: String
    ) -> AuthError {
        AuthError(.unsupported, "Auth on “\(provider)” does not support \(operation). \(alternative)")
    }

    package static func wrapping(_ error: any Error) -> AuthError {
        switch error {
        case let error as AuthError: error
        case is CancellationError: AuthError(.cancelled, "The call was cancelled.")
        default: AuthError(.unknown, "The call failed for a reason of its own.", underlying: error)
        }
    }
}
