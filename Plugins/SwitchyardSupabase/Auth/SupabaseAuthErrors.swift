import Switchyard
import SwitchyardBytes
import SwitchyardProviderHTTP
import SwitchyardWire

/// Maps Supabase's auth codes and transport failures to the portable codes.
extension AuthError {
    init(_ failure: SupabaseAuthFailure) {
        switch failure.kind {
        case .refused(let code?, let status, let hint): self.init(code, status, hint, failure)
        case .refused(nil, let status, _): self.init(status: status, failure)
        case .unanswered(let error, let status): self.init(error, status, failure)
        case .unsafeAddress:
            self.init(.invalidArgument, PlainHTTP.refusal(of: "secret"))
        case .own(let error): self = error
        }
    }

    /// The same for the administrator's calls: a problem with their key does not concern a session.
    init(administration failure: SupabaseAuthFailure) {
        let problem: String? =
            switch (failure.code, failure.status) {
            case ("not_admin", _): "the key in serviceKey is another one, such as the publishable key"
            case ("bad_jwt", _), ("no_authorization", _), (nil, 401), (nil, 403):
                "the project does not accept the key in serviceKey"
            default: nil
            }
        guard let problem else {
            self.init(failure)
            return
        }
        self.init(
            .unauthenticated,
            "The administration of accounts was refused: \(problem). Copy the secret key (sb_secret_…) or the service_role key of "
                + "this very project: Project Settings, API Keys.", underlying: failure)
    }

    private init(_ serverCode: String, _ status: Int, _ hint: String, _ failure: SupabaseAuthFailure) {
        let isDisabled = serverCode.hasSuffix("_disabled") || serverCode.hasSuffix("_not_enabled")
        let (code, message): (Code, String) =
            switch serverCode {
            case "invalid_credentials": (.invalidCredential, "The email address or the password is wrong.")
            case "email_not_confirmed", "phone_not_confirmed":
                (
                    .emailNotConfirmed,
                    "The account's address or number is not confirmed yet. Follow the link or enter the code that was sent."
                )
            case "user_banned": (.userDisabled, "The account is disabled.")
            case "user_already_exists", "email_exists":
                (.emailInUse, "An account with this address or number already exists.")
            case "phone_exists": (.identityInUse, "An account with this number already exists.")
            // Another call for the same account was committed a moment earlier.
            case _ where failure.hasMet("users_email"):
                (.emailInUse, "An account with this address or number already exists.")
            case _ where failure.hasMet("users_phone"):
                (.identityInUse, "An account with this number already exists.")
            case _ where failure.hasMet("identities_"):
                (.identityInUse, "The identity already belongs to another account.")
            case "identity_already_exists": (.identityInUse, "The identity already belongs to another account.")
            case "weak_password", "same_password":
                (.weakPassword, "The password is too weak, or the same as before.")
            case "email_address_invalid", "email_address_not_authorized", "email_address_not_provided":
                (.invalidArgument, "The server does not accept this email address. Use another one.")
            case "validation_failed": AuthError.invalid(hint)
            case "user_not_found": (.userNotFound, "There is no such account.")
            case "reauthentication_needed", "current_password_required", "insufficient_aal":
                (.recentSignInRequired, "The change needs a recent sign-in. Reauthenticate and try again.")
            case "reauthentication_not_valid", "current_password_invalid", "bad_code_verifier", "bad_oauth_state",
                "bad_oauth_callback", "oauth_invalid_state", "flow_state_not_found", "flow_state_already_used",
                "mfa_verification_failed", "mfa_verification_rejected", "oauth_client_state_not_found":
                (.invalidCredential, "The code is wrong, or was used before. Request a new one.")
            case "otp_expired", "flow_state_expired", "mfa_challenge_expired", "oauth_client_state_expired":
                (.codeExpired, "The code or link is wrong or has expired. Request a new one.")
            case "session_expired", "session_not_found", "refresh_token_not_found", "refresh_token_already_used":
                (.sessionExpired, "The session is no longer valid. Sign in again.")
            case "bad_jwt", "no_authorization":
                (.sessionExpired, "The server does not accept the session's token. Sign in again.")
            case "over_request_rate_limit", "over_email_send_rate_limit", "over_sms_send_rate_limit":
                (.rateLimited, "Too many attempts. Try again later.")
            case "conflict", "request_timeout":
                (.unavailable, "The server is already handling the same request. Try again.")
            case "hook_timeout", "hook_timeout_after_retry":
                (
                    .unavailable,
                    "An auth hook of the project did not respond in time. Try again, or see the hook's logs."
                )
            case "not_admin", "user_sso_managed", "single_identity_not_deletable", "oauth_provider_not_supported",
                "email_conflict_identity_not_deletable", "unexpected_audience", "captcha_failed",
                "provider_email_needs_verification":
                (
                    .methodDisabled,
                    "The project's auth settings do not allow this (\(serverCode)). See Authentication in the dashboard."
                )
            case _ where isDisabled:
                (
                    .methodDisabled,
                    "This sign-in method is disabled for the project (\(serverCode)). Switch it on in the dashboard: "
                        + "Authentication, Sign In / Providers."
                )
            // The answer to identity tokens has another format, without codes.
            case "oauth:invalid request", "oauth:invalid_grant", "oauth:invalid_request":
                (.invalidCredential, "The server does not accept the token, or its nonce does not match.")
            case _ where status >= 500: (.unavailable, "The server failed to handle the call. Try again.")
            // Keep an unknown code, but not its text, which may contain anything.
            default:
                (
                    Code(rawValue: serverCode),
                    "The server refused the call (\(serverCode)). Look up the code in Supabase's documentation, and see "
                        + "Logs, Auth in the dashboard."
                )
            }
        self.init(code, message, retryAfter: failure.retryAfter, underlying: failure)
    }

    /// The service has one code for all invalid arguments; the text distinguishes them.
    private static func invalid(_ hint: String) -> (Code, String) {
        if ["Unable to validate email", "An email address", "Invalid email format"].contains(where: hint.hasPrefix) {
            return (.invalidArgument, "This is not an email address.")
        }
        if ["Password cannot be longer", "Signup requires a valid password"].contains(where: hint.hasPrefix) {
            return (.weakPassword, "The password is empty or too long; it may have 72 bytes.")
        }
        return (.invalidArgument, "The server does not accept the input. Check the arguments of the call.")
    }

    private init(status: Int, _ failure: SupabaseAuthFailure) {
        let (code, message): (Code, String) =
            switch status {
            // The key belongs to the app, not the user, so no session ends because of it.
            case 401, 403:
                (
                    .unauthenticated,
                    "The project does not accept the key (HTTP \(status)). Copy the publishable key of this very project: "
                        + "Project Settings, API Keys."
                )
            case 429: (.rateLimited, "Too many attempts. Try again later.")
            case 408, 409, 500...: (.unavailable, "The server failed to handle the call. Try again.")
            default:
                (
                    Code(rawValue: "HTTP_\(status)"),
                    "The server refused the call without a reason (HTTP \(status)). Check that the url is a Supabase project's."
                )
            }
        self.init(code, message, retryAfter: failure.retryAfter, underlying: failure)
    }

    private init(_ error: TransportError?, _ status: Int?, _ failure: SupabaseAuthFailure) {
        guard let error else {
            let reason = status.map { " (HTTP \($0))" } ?? ""
            self.init(
                .unavailable,
                "The server returned an invalid response\(reason). Check that the url is a Supabase project's.",
                retryAfter: failure.retryAfter,
                underlying: failure)
            return
        }
        self.init(error)
    }
}

/// Why a call to Supabase's auth service failed, in the service's terms.
struct SupabaseAuthFailure: Error, Sendable {
    enum Kind: Sendable {
        /// - `code`: The service's code; `nil` if there is none.
        /// - `hint`: The message, for codes with several meanings. Never shown.
        case refused(code: String?, status: Int, hint: String)
        /// No answer, or one that the service did not write.
        case unanswered(TransportError?, status: Int?)
        /// The address is plain HTTP to another machine.
        case unsafeAddress
        /// An error that this client found, in the answer or before the call.
        case own(AuthError)
    }

    let kind: Kind
    var retryAfter: Duration?

    init(_ kind: Kind) { self.kind = kind }

    static func own(_ code: AuthError.Code, _ message: String) -> SupabaseAuthFailure {
        SupabaseAuthFailure(.own(AuthError(code, message)))
    }
    /// A success that lacks required values.
    static let unreadable = SupabaseAuthFailure(.unanswered(nil, status: nil))

    var code: String? { if case .refused(let code, _, _) = kind { code } else { nil } }
    var status: Int? { if case .refused(_, let status, _) = kind { status } else { nil } }

    /// Whether the database found a row of this kind there already, by the beginning of the constraint's name. The service finds
    /// out beforehand, except where two calls are under way at the same moment.
    func hasMet(_ constraint: String) -> Bool {
        guard case .refused(let code, _, let hint) = kind else { return false }
        return (code == "database_23505" || hint.includes("23505") || hint.includes("duplicate key value"))
            && hint.includes("\"\(constraint)")
    }

    /// Whether the token was refused, independent of the call: the service reports this for an expired token.
    var isAboutToken: Bool { code == "bad_jwt" || code == "no_authorization" || (code == nil && status == 401) }

    /// The least pause before the same call may be sent again, if the answer shows that it was not carried out: a gateway did not
    /// reach the service, or the service did not reach its database. That usually passes within seconds.
    var pauseBeforeRepetition: Duration? {
        let isPassing =
            switch kind {
            case .refused(nil, let status, _), .unanswered(nil, let status?): [502, 503].contains(status)
            // Refused connections of the database: it starts, or has none left.
            case .refused(let code?, _, _): ["database_57P03", "database_53300"].contains(code)
            case .unanswered, .unsafeAddress, .own: false
            }
        return isPassing ? retryAfter ?? .zero : nil
    }

    /// Parses three body formats: the current one, the previous one and OAuth's. A gateway before the service may also answer.
    init(_ response: HTTPResponse, now: Int64) {
        retryAfter = response.headers["Retry-After"].flatMap { RetryAfter.delay($0, now: now) }
        let body = try? JSON(parsing: response.body)
        guard let body, body.object != nil else {
            // A page comes from a proxy, or from a server that is not Supabase's.
            let isForeign = response.body.isWebPage && ![407, 413, 429].contains(response.status)
            kind =
                response.status >= 500 || response.status == 400 || isForeign
                ? .unanswered(nil, status: response.status)
                : .refused(code: response.headers["x-sb-error-code"], status: response.status, hint: "")
            return
        }
        let hint = (body["msg"] ?? body["message"] ?? body["error_description"] ?? body["error"])?.string ?? ""
        var code = body["code"]?.string
        // A code of five letters and digits is a database state, raised by a trigger of the project.
        if let text = code, text.utf8.count == 5, !text.utf8.contains(UInt8(ascii: "_")) { code = "database_\(text)" }
        code = code ?? body["error_code"]?.string ?? response.headers["x-sb-error-code"]
        if code == nil, let error = body["error"]?.string { code = "oauth:\(error)" }
        kind = .refused(code: code, status: response.status, hint: hint)
        // Only the text says how long to wait.
        if retryAfter == nil, response.status == 429 { retryAfter = Self.seconds(in: hint) }
    }

    /// The number in “… after N seconds.”
    private static func seconds(in text: String) -> Duration? {
        let words = text.split(separator: " ")
        guard let place = words.firstIndex(where: { $0.hasPrefix("second") }), place > 0 else { return nil }
        return Int64(words[place - 1]).flatMap { (0...86_400).contains($0) ? .seconds($0) : nil }
    }
}
