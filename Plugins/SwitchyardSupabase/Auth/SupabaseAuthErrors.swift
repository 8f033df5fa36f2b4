import Switchyard
import SwitchyardProviderHTTP
import SwitchyardWire

/// The one table from Supabase's auth codes, and from what can happen on the way, to our codes.
extension AuthError {
    init(_ failure: SupabaseAuthFailure) {
        switch failure.kind {
        case .refused(let code?, let status, let hint): self.init(code, status, hint, failure)
        case .refused(nil, let status, _): self.init(status: status, failure)
        case .unanswered(let error, let status): self.init(error, status, failure)
        case .unsafeAddress:
            self.init(.invalidArgument, "The address is plain HTTP to another machine; no secret is sent there.")
        case .own(let error): self = error
        }
    }

    private init(_ serverCode: String, _ status: Int, _ hint: String, _ failure: SupabaseAuthFailure) {
        let isDisabled = serverCode.hasSuffix("_disabled") || serverCode.hasSuffix("_not_enabled")
        let (code, message): (Code, String) =
            switch serverCode {
            case "invalid_credentials": (.invalidCredential, "The address or the password is wrong.")
            case "email_not_confirmed", "phone_not_confirmed":
                (.emailNotConfirmed, "The address or number of the account is not confirmed yet.")
            case "user_banned": (.userDisabled, "The account is disabled.")
            case "user_already_exists", "email_exists", "phone_exists":
                (.emailInUse, "An account with this address or number exists already.")
            case "identity_already_exists": (.identityInUse, "The identity belongs to another account already.")
            case "weak_password", "same_password":
                (.weakPassword, "The password is too weak, or the same as before.")
            case "email_address_invalid", "email_address_not_authorized", "email_address_not_provided":
                (.invalidArgument, "The server does not take this e-mail address.")
            case "validation_failed": AuthError.invalid(hint)
            case "user_not_found": (.userNotFound, "There is no such account.")
            case "reauthentication_needed", "current_password_required", "insufficient_aal":
                (.recentSignInRequired, "The change needs a fresh sign-in: reauthenticate and try again.")
            case "reauthentication_not_valid", "current_password_invalid", "bad_code_verifier", "bad_oauth_state",
                "bad_oauth_callback", "oauth_invalid_state", "flow_state_not_found", "flow_state_already_used",
                "mfa_verification_failed", "mfa_verification_rejected", "oauth_client_state_not_found":
                (.invalidCredential, "The code is wrong, or was used before.")
            case "otp_expired", "flow_state_expired", "mfa_challenge_expired", "oauth_client_state_expired":
                (.codeExpired, "The code or link is wrong or has run out; ask for a new one.")
            case "session_expired", "session_not_found", "refresh_token_not_found", "refresh_token_already_used":
                (.sessionExpired, "The server no longer takes the session; sign in again.")
            case "bad_jwt", "no_authorization":
                (.sessionExpired, "The server does not take the session's token; sign in again.")
            case "over_request_rate_limit", "over_email_send_rate_limit", "over_sms_send_rate_limit":
                (.rateLimited, "There were too many attempts; try again later.")
            case "conflict", "request_timeout": (.unavailable, "The server is busy with the same thing; try again.")
            case "hook_timeout", "hook_timeout_after_retry":
                (.unavailable, "A function of the project's own did not answer in time.")
            case "not_admin", "user_sso_managed", "single_identity_not_deletable", "oauth_provider_not_supported",
                "email_conflict_identity_not_deletable", "unexpected_audience", "captcha_failed",
                "provider_email_needs_verification":
                (.methodDisabled, "The project does not allow this (\(serverCode)); see its auth settings.")
            case _ where isDisabled:
                (.methodDisabled, "The project has this way to sign in switched off (\(serverCode)).")
            // The shape that answers identity tokens knows no codes.
            case "oauth:invalid request", "oauth:invalid_grant", "oauth:invalid_request":
                (.invalidCredential, "The token is not one that the server takes, or its nonce does not fit.")
            case _ where status >= 500: (.unavailable, "The server had a mishap; try again.")
            // A code that is not known here keeps its name; the text that came with it may hold anything.
            default: (Code(rawValue: serverCode), "The server refused the call (\(serverCode)).")
            }
        self.init(code, message, retryAfter: failure.retryAfter, underlying: failure)
    }

    /// One code for all that is wrong with what was sent: the text tells them apart.
    private static func invalid(_ hint: String) -> (Code, String) {
        if ["Unable to validate email", "An email address", "Invalid email format"].contains(where: hint.hasPrefix) {
            return (.invalidArgument, "This is no e-mail address.")
        }
        if ["Password cannot be longer", "Signup requires a valid password"].contains(where: hint.hasPrefix) {
            return (.weakPassword, "The password is empty or too long; it may have 72 bytes.")
        }
        return (.invalidArgument, "The server does not take what was sent.")
    }

    private init(status: Int, _ failure: SupabaseAuthFailure) {
        let (code, message): (Code, String) =
            switch status {
            case 401, 403: (.methodDisabled, "The project does not take the API key, or does not allow this.")
            case 429: (.rateLimited, "There were too many attempts; try again later.")
            case 408, 409, 500...: (.unavailable, "The server had a mishap; try again.")
            default: (Code(rawValue: "HTTP_\(status)"), "The server refused the call (HTTP \(status)).")
            }
        self.init(code, message, retryAfter: failure.retryAfter, underlying: failure)
    }

    private init(_ error: TransportError?, _ status: Int?, _ failure: SupabaseAuthFailure) {
        guard let error else {
            let reason = status.map { " (HTTP \($0))" } ?? ""
            self.init(
                .unavailable, "The server's answer is none\(reason).", retryAfter: failure.retryAfter,
                underlying: failure)
            return
        }
        self.init(error)
    }
}
