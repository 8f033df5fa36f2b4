import Switchyard
import SwitchyardBytes
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@testable import SwitchyardSupabase

@Suite struct SupabaseAuthErrorTests {
    private func error(_ body: String, status: Int = 400, headers: HTTPHeaders = [:]) -> AuthError {
        AuthError(SupabaseAuthFailure(HTTPResponse(status: status, headers: headers, body: Array(body.utf8)), now: 0))
    }

    @Test(arguments: [
        ("invalid_credentials", AuthError.Code.invalidCredential), ("email_not_confirmed", .emailNotConfirmed),
        ("user_banned", .userDisabled), ("user_already_exists", .emailInUse), ("email_exists", .emailInUse),
        ("identity_already_exists", .identityInUse), ("weak_password", .weakPassword), ("same_password", .weakPassword),
        ("email_address_invalid", .invalidArgument), ("user_not_found", .userNotFound),
        ("reauthentication_needed", .recentSignInRequired), ("insufficient_aal", .recentSignInRequired),
        ("otp_expired", .codeExpired), ("flow_state_expired", .codeExpired),
        ("flow_state_not_found", .invalidCredential),
        ("session_expired", .sessionExpired), ("refresh_token_already_used", .sessionExpired),
        ("bad_jwt", .sessionExpired), ("signup_disabled", .methodDisabled),
        ("email_provider_disabled", .methodDisabled),
        ("mfa_totp_enroll_not_enabled", .methodDisabled), ("not_admin", .methodDisabled), ("conflict", .unavailable),
        ("over_request_rate_limit", .rateLimited), ("mfa_verification_failed", .invalidCredential),
    ])
    func `The same code in each shape is the same error`(serverCode: String, code: AuthError.Code) {
        #expect(error(#"{"code":"\#(serverCode)","message":"x"}"#, status: 422).code == code)
        #expect(error(#"{"code":422,"error_code":"\#(serverCode)","msg":"x"}"#, status: 422).code == code)
        #expect(error("{}", status: 422, headers: ["x-sb-error-code": serverCode]).code == code)
    }

    @Test func `One code for all that is wrong is told apart by its text`() {
        func code(_ text: String) -> AuthError.Code {
            error(#"{"code":"validation_failed","message":"\#(text)"}"#).code
        }
        #expect(code("Unable to validate email address: invalid format") == .invalidArgument)
        #expect(code("Password cannot be longer than 72 characters") == .weakPassword)
        #expect(code("Signup requires a valid password") == .weakPassword)
    }

    @Test(arguments: [
        ("users_email_partial_key", AuthError.Code.emailInUse), ("users_phone_key", .identityInUse),
        ("identities_provider_id_provider_unique", .identityInUse), ("profiles_name_key", .unavailable),
    ])
    func `An account that another call made at the same moment is in use`(_ constraint: String, _ code: AuthError.Code)
    {
        let text = #"duplicate key value violates unique constraint \"\#(constraint)\""#
        for body in [
            #"{"code":"23505","message":"\#(text)","severity":"ERROR"}"#,
            #"{"code":500,"error_code":"unexpected_failure","msg":"\#(text) (SQLSTATE 23505)"}"#,
            #"{"code":"unexpected_failure","message":"Database error: \#(text)"}"#,
        ] {
            let failed = error(body, status: 500)
            #expect(failed.code == code)
            #expect(failed.isRetryable == (code == .unavailable))
            #expect(!failed.description.contains("constraint"))
        }
    }

    @Test func `How long to wait stands in the text only`() {
        let limited = error(
            #"{"code":"over_email_send_rate_limit","message":"For security purposes, you can only request this after 47 seconds."}"#,
            status: 429)
        #expect(limited.code == .rateLimited && limited.retryAfter == .seconds(47) && limited.isRetryable)
    }

    @Test func `A refusal of the database, of the gateway, and of no one we know`() {
        #expect(error(#"{"code":"P0001","message":"alice@example.com is barred"}"#, status: 500).code == .unavailable)
        let raised = error(#"{"code":"P0001","message":"alice@example.com is barred"}"#, status: 409)
        #expect(raised.code.rawValue == "database_P0001" && !raised.description.contains("alice"))
        let key = error(#"{"message":"Invalid API key","hint":"x"}"#, status: 401)
        #expect(key.code == .unauthenticated && !key.isRetryable)
        #expect(key.message.contains("does not accept the key (HTTP 401). Copy the publishable key"))
        for status in [401, 403, 404] { #expect(error("<html>Welcome</html>", status: status).code == .unavailable) }
        #expect(error("<html>Bad Gateway</html>", status: 502).code == .unavailable)
        #expect(error("", status: 429).code == .rateLimited)
        #expect(error(#"{"code":"brand_new","message":"x"}"#).code.rawValue == "brand_new")
        #expect(error(#"{"code":"unexpected_failure","message":"x"}"#, status: 500).isRetryable)
    }

    @Test(arguments: [Int64.min, 999, Int64.max])
    func `A token whose end cannot be reckoned with makes no session`(end: Int64) {
        let token = FixedAuthClient.token(["sub": "alice", "exp": .integer(end)])
        let answer: JSON = ["access_token": .string(token), "refresh_token": "r", "user": ["id": "alice"]]
        #expect(throws: SupabaseAuthFailure.self) {
            try SupabaseGrant(session: answer, at: Timestamp(clampingSeconds: 1000, nanoseconds: 0))
        }
    }
}
