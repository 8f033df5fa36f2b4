/// What `localizedDescription` and alerts show: English sentences for the people who use the app, one for each code.
///
/// ``ClientError/message`` stays the text for developers and logs. An app in another language chooses its own texts by
/// ``ClientError/code``.
extension ClientError {
    /// What happened, for people: never the message, and nothing about the provider.
    public var errorDescription: String? { code.forPeople.event }
    /// What people can do, if anything.
    public var recoverySuggestion: String? {
        code.forPeople.remedy ?? (code.forPeople == .unexplained && isRetryable ? "Try again later." : nil)
    }
}

extension ErrorCode {
    /// Two sentences for people.
    struct Explanation: Sendable, Equatable {
        let event: String
        let remedy: String?

        init(_ event: String, _ remedy: String? = nil) {
            self.event = event
            self.remedy = remedy
        }

        /// For codes of a provider, and those that are a mistake of the app.
        static let unexplained = Explanation("That did not work.")
    }

    var forPeople: Explanation { Self.explanations[self] ?? .unexplained }

    private static let notSaved = Explanation(
        "The data on this device cannot be read or saved.", "Check the free space, then restart the app.")
    private static let offline = Explanation(
        "There is no connection to the server.", "Check the network, then try again.")
    private static let forbidden = Explanation("You are not allowed to do this.")
    private static let signedOut = Explanation("You are not signed in.", "Sign in, then try again.")
    private static let limited = Explanation("A limit has been reached.", "Try again later.")
    private static let busy = Explanation("The service is busy.", "Try again in a moment.")
    private static let overtaken = Explanation("Something changed in the meantime.", "Try again.")

    private static let explanations: [ErrorCode: Explanation] = [
        .notFound: Explanation("It could not be found."), .alreadyExists: Explanation("It exists already."),
        .unauthorized: forbidden, .notAllowed: forbidden,
        .unauthenticated: signedOut, .notSignedIn: signedOut, .sessionExpired: signedOut, .tokenExpired: signedOut,
        .tokenRevoked: signedOut, .sessionChanged: Explanation("Another account was signed in.", "Try again."),
        .resourceExhausted: limited, .quotaExceeded: limited,
        .rateLimited: Explanation("There were too many attempts.", "Wait a moment, then try again."),
        .unavailable: offline, .networkError: offline,
        .deadlineExceeded: Explanation("The server did not answer in time.", "Check the network, then try again."),
        .overloaded: busy, .internal: busy, .serverError: busy,
        .cancelled: Explanation("This was cancelled."), .unsupported: Explanation("This is not available here."),
        .localStore: notSaved, .localFile: notSaved,
        .locked: Explanation("The data on this device is in use.", "Close what else is open, then try again."),
        .shutDown: Explanation("This is closed.", "Restart the app."),
        .aborted: overtaken, .changed: overtaken,
        .failedPrecondition: Explanation("This is not possible at the moment."),
        .codingFailed: Explanation("The data has an unknown form.", "Look for a new version of the app."),
        .invalidCredential: Explanation("The email address, password or code is wrong.", "Check it, then try again."),
        .userNotFound: Explanation("There is no such account."),
        .userDisabled: Explanation("This account is disabled."),
        .emailInUse: Explanation("Another account has this email address.", "Sign in to it, or use another one."),
        .emailNotConfirmed: Explanation("The email address is not confirmed.", "Open the link in the message."),
        .weakPassword: Explanation("The password is too simple.", "Choose a longer one."),
        .identityInUse: Explanation("Another account uses this way to sign in.", "Sign in to that account."),
        .codeExpired: Explanation("The code or link has expired.", "Ask for a new one."),
        .secondFactorRequired: Explanation("Signing in needs a second step.", "Enter the code."),
        .recentSignInRequired: Explanation("This needs a recent sign-in.", "Sign in again, then repeat it."),
        .methodDisabled: Explanation("This way to sign in is not available.", "Choose another one."),
        .tooLarge: Explanation("This is too large.", "Choose something smaller."),
        .checksumMismatch: Explanation("The file arrived damaged.", "Try again."),
        .uploadExpired: Explanation("The upload was interrupted for too long.", "Start it again."),
        .permissionDenied: Explanation("Notifications are switched off.", "Allow them in the settings."),
    ]
}
