import Switchyard
import SwitchyardBytes
import SwitchyardProviderHTTP
import SwitchyardWire

/// The kind of call that failed: the same code can mean different things.
enum FirebaseAuthCall: Sendable {
    case signIn
    /// A call for the signed-in user, including a token refresh.
    case account
    /// A call about any account, made in the project's name.
    case project
}

/// Maps Firebase's auth codes and transport failures to the portable codes.
extension AuthError {
    init(_ failure: FirebaseAuthFailure, in call: FirebaseAuthCall) {
        switch failure.kind {
        case .refused(let code, _): self.init(code, failure, in: call)
        case .unanswered(let error, let status): self.init(error, status, failure)
        case .own(let error): self = error
        case .unsafeAddress:
            self.init(.invalidArgument, PlainHTTP.refusal(of: "secret"))
        case .appCheck(let error):
            self.init(
                .unavailable, "The source of App Check tokens failed. Try again.", isRetryable: true, underlying: error)
        }
    }

    private init(_ serverCode: String, _ failure: FirebaseAuthFailure, in call: FirebaseAuthCall) {
        let (code, message): (Code, String) =
            switch serverCode {
            case "USER_NOT_FOUND" where call == .project, "EMAIL_NOT_FOUND" where call == .project:
                (.userNotFound, "There is no such account.")
            case "DUPLICATE_LOCAL_ID", "PHONE_NUMBER_EXISTS":
                (.identityInUse, "An account with this ID or phone number exists already.")
            case "INVALID_LOCAL_ID", "MISSING_LOCAL_ID":
                (.invalidArgument, "The account's ID is not valid. Use 1 to 128 characters.")
            case "INVALID_CLAIMS", "FORBIDDEN_CLAIM", "CLAIMS_TOO_LARGE":
                (
                    .invalidArgument,
                    "Firebase rejects these claims: some names are reserved, and the limit is 1000 bytes."
                )
            case "PERMISSION_DENIED" where call == .project, "INSUFFICIENT_PERMISSION" where call == .project,
                "UNAUTHENTICATED" where call == .project, "ACCESS_TOKEN_EXPIRED" where call == .project,
                "ACCESS_TOKEN_SCOPE_INSUFFICIENT" where call == .project,
                "IAM_PERMISSION_DENIED" where call == .project:
                (
                    .unauthenticated,
                    "Firebase's credential may not administer the accounts of this project. Does it belong to this "
                        + "project, and does its account have the role Firebase Authentication Admin?"
                )
            case "INVALID_LOGIN_CREDENTIALS", "INVALID_PASSWORD", "MISSING_PASSWORD", "REJECTED_CREDENTIAL",
                "EMAIL_NOT_FOUND":
                (.invalidCredential, "The email address or the password is wrong.")
            case "INVALID_IDP_RESPONSE", "INVALID_CREDENTIAL_OR_PROVIDER_ID", "INVALID_PENDING_TOKEN",
                "MISSING_OR_INVALID_NONCE", "INVALID_CUSTOM_TOKEN", "CREDENTIAL_MISMATCH":
                (
                    .invalidCredential,
                    "The server does not accept the token, or the token belongs to another app. Get a new one for this app."
                )
            case "INVALID_OOB_CODE", "INVALID_CODE", "INVALID_SESSION_INFO", "INVALID_TEMPORARY_PROOF":
                (.invalidCredential, "The code or link is wrong, or was used before. Request a new one.")
            case "EXPIRED_OOB_CODE", "SESSION_EXPIRED":
                (.codeExpired, "The code or link has expired. Request a new one.")
            case "INVALID_MFA_PENDING_CREDENTIAL", "MISSING_MFA_PENDING_CREDENTIAL":
                (.codeExpired, "The sign-in took too long. Begin again.")
            case "USER_NOT_FOUND" where call == .signIn: (.userNotFound, "There is no such account.")
            case "USER_NOT_FOUND": (.sessionExpired, "The account no longer exists.")
            case "EMAIL_EXISTS":
                (.emailInUse, "An account with this email address exists, perhaps with another sign-in method.")
            case "FEDERATED_USER_ID_ALREADY_LINKED":
                (.identityInUse, "The identity already belongs to another account.")
            case "WEAK_PASSWORD", "PASSWORD_DOES_NOT_MEET_REQUIREMENTS":
                (.weakPassword, "The password is too weak; use at least six characters, or what the project asks for.")
            case "USER_DISABLED": (.userDisabled, "The account is disabled.")
            case "INVALID_EMAIL", "MISSING_EMAIL", "INVALID_IDENTIFIER", "MISSING_IDENTIFIER",
                "INVALID_RECIPIENT_EMAIL", "MISSING_NEW_EMAIL", "INVALID_NEW_EMAIL":
                (.invalidArgument, "This is not an email address.")
            case "INVALID_PHONE_NUMBER", "MISSING_PHONE_NUMBER":
                (.invalidArgument, "This is not a phone number with a country code, such as +15550100.")
            case "TOO_MANY_ATTEMPTS_TRY_LATER", "RESET_PASSWORD_EXCEED_LIMIT", "QUOTA_EXCEEDED", "RESOURCE_EXHAUSTED":
                (.rateLimited, "Too many attempts. Try again later.")
            case "CREDENTIAL_TOO_OLD_LOGIN_AGAIN":
                (.recentSignInRequired, "The change needs a recent sign-in. Reauthenticate and try again.")
            case "TOKEN_EXPIRED", "INVALID_REFRESH_TOKEN", "INVALID_ID_TOKEN", "MISSING_ID_TOKEN",
                "MISSING_REFRESH_TOKEN":
                (.sessionExpired, "The session is no longer valid. Sign in again.")
            case "UNVERIFIED_EMAIL": (.emailNotConfirmed, "Confirm the account's email address first.")
            case "OPERATION_NOT_ALLOWED", "PASSWORD_LOGIN_DISABLED", "ADMIN_ONLY_OPERATION", "PROJECT_DISABLED",
                "EMAIL_CHANGE_NEEDS_VERIFICATION", "UNSUPPORTED_TENANT_OPERATION", "UNSUPPORTED_FIRST_FACTOR":
                (
                    .methodDisabled,
                    "The project does not allow this. See the Firebase console: Authentication, Sign-in method."
                )
            case "MISSING_RECAPTCHA_TOKEN", "INVALID_RECAPTCHA_TOKEN", "CAPTCHA_CHECK_FAILED",
                "MISSING_CLIENT_IDENTIFIER":
                (
                    Code(rawValue: serverCode),
                    "The project enforces a captcha or an app attestation, which this client cannot provide. Switch the "
                        + "enforcement off in the Firebase console, or use another sign-in method."
                )
            case FirebaseAuthFailure.appCheckRefusal:
                (
                    Code(rawValue: serverCode),
                    "The project enforces App Check, and the server accepted no App Check token. Give the Firebase module a "
                        + "working appCheck, or switch the enforcement off in the Firebase console."
                )
            // The key belongs to the app, not the user, so no session ends because of it.
            case "API_KEY_INVALID", "keyInvalid", "PERMISSION_DENIED":
                (
                    .unauthenticated,
                    "The project does not accept the API key (\(serverCode)). Copy apiKey from the Firebase console: Project "
                        + "settings, General."
                )
            case "API_KEY_IOS_APP_BLOCKED":
                (
                    .unauthenticated,
                    "The API key is restricted to an Apple app (\(serverCode)). Set bundleID in Firebase's configuration."
                )
            case _ where serverCode.hasPrefix("API_KEY_"):
                (
                    .unauthenticated,
                    "The API key may not be used for accounts (\(serverCode)). See its restrictions in the Google Cloud "
                        + "console: APIs & Services, Credentials."
                )
            case "CONFIGURATION_NOT_FOUND":
                (
                    .failedPrecondition,
                    "The project of this API key has no accounts yet (\(serverCode)). Open Authentication in the Firebase "
                        + "console and press Get started, or correct apiKey."
                )
            case "PROJECT_NOT_FOUND", "INVALID_PROJECT_ID", "CONSUMER_INVALID", "RESOURCE_PROJECT_INVALID":
                (
                    .failedPrecondition,
                    "No project has this ID (\(serverCode)). Check project in Firebase's configuration."
                )
            case "SERVICE_DISABLED", "CONSUMER_SUSPENDED", "BILLING_DISABLED":
                (
                    .failedPrecondition,
                    "The project does not offer accounts (\(serverCode)). See Identity Toolkit API in the Google "
                        + "Cloud console: APIs & Services."
                )
            case "INVALID_CONTINUE_URI", "MISSING_CONTINUE_URI", "UNAUTHORIZED_DOMAIN":
                (.invalidArgument, "The project does not know the redirect URL. Add it to the authorized domains.")
            case "SECOND_FACTOR_EXISTS", "SECOND_FACTOR_LIMIT_EXCEEDED", "MFA_ENROLLMENT_NOT_FOUND",
                "MISSING_MFA_ENROLLMENT_ID":
                (Code(rawValue: serverCode), "The account's second factors do not allow this (\(serverCode)).")
            case "NOT_IMPLEMENTED":
                (
                    .unsupported,
                    "The server does not have this call (\(serverCode)). A local server may lack what a project has: check "
                        + "hosts and emulators in Firebase's configuration, or use another sign-in method."
                )
            // Keep an unknown code, but not its text, which may contain anything.
            default:
                (
                    Code(rawValue: serverCode),
                    "The server refused the call (\(serverCode)). Look up the code in Firebase's documentation, and see "
                        + "Authentication in the Firebase console."
                )
            }
        self.init(code, message, retryAfter: failure.retryAfter, underlying: failure)
    }

    private init(_ error: TransportError?, _ status: Int?, _ failure: FirebaseAuthFailure) {
        guard let error else {
            let reason = status.map { " (HTTP \($0))" } ?? ""
            self.init(
                .unavailable,
                "The server returned an invalid response\(reason). Check hosts and emulators in Firebase's configuration.",
                retryAfter: failure.retryAfter,
                underlying: failure)
            return
        }
        self.init(error)
    }
}

/// Why a call to Firebase's auth service failed, in the service's terms.
struct FirebaseAuthFailure: Error, Sendable {
    enum Kind: Sendable {
        /// `code` as in the service's tables, such as `EMAIL_EXISTS`; never the text that may follow it.
        case refused(code: String, status: Int)
        /// No answer, or one that the service did not write.
        case unanswered(TransportError?, status: Int?)
        /// The address is plain HTTP to another machine.
        case unsafeAddress
        case appCheck(any Error)
        /// An error that this client found, in the answer or before the call.
        case own(AuthError)
    }

    let kind: Kind
    var retryAfter: Duration?

    init(_ kind: Kind, retryAfter: Duration? = nil) {
        self.kind = kind
        self.retryAfter = retryAfter
    }

    static func refused(_ code: String) -> FirebaseAuthFailure {
        FirebaseAuthFailure(.refused(code: code, status: 200))
    }
    static func own(_ error: AuthError) -> FirebaseAuthFailure { FirebaseAuthFailure(.own(error)) }

    /// A success without the required values.
    static let unreadable = FirebaseAuthFailure(.unanswered(nil, status: nil))

    /// This client's own code: the service sends only text if it refuses an App Check token.
    static let appCheckRefusal = "INVALID_APP_CHECK_TOKEN"

    /// Whether the ID token was refused, independent of the call.
    var isAboutToken: Bool { code == "TOKEN_EXPIRED" || code == "INVALID_ID_TOKEN" }
    /// Whether the account or its session is gone.
    var endsSession: Bool { isAboutToken || code == "USER_NOT_FOUND" || code == "USER_DISABLED" }

    var code: String? { if case .refused(let code, _) = kind { code } else { nil } }

    /// The least pause before the same call may be sent again, if the answer shows that it was not carried out: a gateway did not
    /// reach the service.
    var pauseBeforeRepetition: Duration? {
        guard case .unanswered(nil, let status?) = kind, [502, 503].contains(status) else { return nil }
        return retryAfter ?? .zero
    }

    /// From an answer with an error status.
    init(_ response: HTTPResponse, now: Int64) {
        retryAfter = response.headers["Retry-After"].flatMap { RetryAfter.delay($0, now: now) }
        // Proxies answer with pages; the service itself answers with JSON.
        let error = (try? JSON(parsing: response.body))?["error"]
        guard let error, let code = Self.code(error), response.status < 500 || !Self.mishaps.contains(code) else {
            kind =
                switch response.status {
                case 429: .refused(code: "QUOTA_EXCEEDED", status: 429)
                case 501 where error != nil: .refused(code: "NOT_IMPLEMENTED", status: 501)
                default: .unanswered(nil, status: response.status)
                }
            return
        }
        kind = .refused(code: response.status == 429 ? "QUOTA_EXCEEDED" : code, status: response.status)
    }

    /// The codes of internal failures of the service.
    private static let mishaps: Set<String> = [
        "INTERNAL", "INTERNAL_ERROR", "BACKEND_ERROR", "UNAVAILABLE", "UNKNOWN", "DEADLINE_EXCEEDED",
    ]

    /// `CODE` or `CODE : human text`, with any spacing. About keys the message has only text, and the reason is in another
    /// field.
    private static func code(_ error: JSON) -> String? {
        if let message = error["message"]?.string {
            let head = message.prefix { $0 != ":" }.split(separator: " ")
            if head.count == 1, let word = head.first, word.utf8.allSatisfy(isOfCode) { return String(word) }
            if message.includes("App Check") { return appCheckRefusal }
        }
        let reasons = (error["details"]?.array ?? []).compactMap { $0["reason"]?.string }
        if let reason = reasons.first ?? error["errors"]?[0]?["reason"]?.string { return reason }
        if error["message"]?.string?.hasPrefix("API key not valid") == true { return "API_KEY_INVALID" }
        return error["status"]?.string
    }

    private static func isOfCode(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            || byte == UInt8(ascii: "_")
    }
}
