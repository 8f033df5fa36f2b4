import Foundation

/// Why a call to an ``AuthClient`` failed.
public struct AuthError: ClientError {
    public static let area = "Auth"
    public let details: ErrorDetails
    /// With `.secondFactorRequired`, the challenge. Answer it with ``AuthClient/answer(_:with:)``.
    public private(set) var challenge: SecondFactorChallenge?

    public init(_ details: ErrorDetails) { self.details = details }

    /// The account has a second factor.
    public init(_ code: ErrorCode, _ message: String, challenge: SecondFactorChallenge) {
        self.init(code, message)
        self.challenge = challenge
    }

    public func saying(_ message: String) -> AuthError {
        var error = AuthError(details.saying(message))
        error.challenge = challenge
        return error
    }
}

extension ErrorCode {
    /// The password, code, link or token is wrong, or the account does not exist. The error does not say which.
    public static let invalidCredential = ErrorCode(rawValue: "invalidCredential")
    public static let userNotFound = ErrorCode(rawValue: "userNotFound")
    public static let userDisabled = ErrorCode(rawValue: "userDisabled")
    /// An account with this email address exists, perhaps with another sign-in method.
    public static let emailInUse = ErrorCode(rawValue: "emailInUse")
    public static let emailNotConfirmed = ErrorCode(rawValue: "emailNotConfirmed")
    public static let weakPassword = ErrorCode(rawValue: "weakPassword")
    /// The identity already belongs to another account.
    public static let identityInUse = ErrorCode(rawValue: "identityInUse")
    /// A code, link or browser sign-in has expired or was used before.
    public static let codeExpired = ErrorCode(rawValue: "codeExpired")
    /// The account has a second factor; see ``AuthError/challenge``.
    public static let secondFactorRequired = ErrorCode(rawValue: "secondFactorRequired")
    /// The change needs a fresh sign-in: call ``AuthClient/reauthenticate(with:)`` and try again.
    public static let recentSignInRequired = ErrorCode(rawValue: "recentSignInRequired")
    public static let notSignedIn = ErrorCode(rawValue: "notSignedIn")
    /// The server has ended the session; the user must sign in again.
    public static let sessionExpired = ErrorCode(rawValue: "sessionExpired")
    /// The server does not allow this way to sign in.
    public static let methodDisabled = ErrorCode(rawValue: "methodDisabled")
}

/// Errors of calls without a session.
extension AuthError {
    package static let noSession = AuthError(.notSignedIn, "No user is signed in.")
    package static let sessionChanged = AuthError(.sessionChanged, "The session changed while the call was running.")
    package static let sessionOver = AuthError(.sessionExpired, "The session has expired. Sign in again.")
    package static let sessionShutDown = AuthError(.shutDown, "The client was shut down.")
    package static let otherAccount = AuthError(
        .invalidCredential, "The credential belongs to another account. Use one of the signed-in account.")
    package static let otherAddress = AuthError(
        .invalidCredential, "The link was sent to another address. Sign in with that address.")
    package static let waiterCancelled = AuthError(.cancelled, "The call was cancelled.")
    package static let sessionStays = AuthError(
        .localStore,
        "Signed out until the program ends: the session on this device can be neither replaced nor removed. Make its folder "
            + "writable, then sign out again.", isRetryable: true)
    package static let sessionLocked = AuthError(
        .localStore, "The session cannot be read while the device is locked. Try again once it is unlocked.",
        isRetryable: true)
}
