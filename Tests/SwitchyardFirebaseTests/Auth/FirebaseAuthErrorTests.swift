import Switchyard
import SwitchyardBytes
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@testable import SwitchyardFirebase

@Suite struct FirebaseAuthErrorTests {
    private func failure(_ body: String, status: Int = 400, headers: HTTPHeaders = [:]) -> FirebaseAuthFailure {
        FirebaseAuthFailure(HTTPResponse(status: status, headers: headers, body: Array(body.utf8)), now: 1000)
    }
    private func message(_ text: String) -> String { #"{"error":{"code":400,"message":"\#(text)"}}"# }
    private func code(_ serverCode: String, _ call: FirebaseAuthCall = .signIn) -> AuthError.Code {
        AuthError(failure(message(serverCode)), in: call).code
    }

    @Test(arguments: [
        ("INVALID_LOGIN_CREDENTIALS", AuthError.Code.invalidCredential), ("INVALID_PASSWORD", .invalidCredential),
        ("INVALID_IDP_RESPONSE", .invalidCredential), ("MISSING_OR_INVALID_NONCE", .invalidCredential),
        ("INVALID_CUSTOM_TOKEN", .invalidCredential), ("INVALID_OOB_CODE", .invalidCredential),
        ("INVALID_CODE", .invalidCredential), ("EXPIRED_OOB_CODE", .codeExpired), ("SESSION_EXPIRED", .codeExpired),
        ("INVALID_MFA_PENDING_CREDENTIAL", .codeExpired), ("EMAIL_NOT_FOUND", .invalidCredential),
        ("EMAIL_EXISTS", .emailInUse), ("FEDERATED_USER_ID_ALREADY_LINKED", .identityInUse),
        ("WEAK_PASSWORD", .weakPassword), ("PASSWORD_DOES_NOT_MEET_REQUIREMENTS", .weakPassword),
        ("USER_DISABLED", .userDisabled), ("INVALID_EMAIL", .invalidArgument), ("MISSING_EMAIL", .invalidArgument),
        ("TOO_MANY_ATTEMPTS_TRY_LATER", .rateLimited), ("QUOTA_EXCEEDED", .rateLimited),
        ("CREDENTIAL_TOO_OLD_LOGIN_AGAIN", .recentSignInRequired), ("TOKEN_EXPIRED", .sessionExpired),
        ("INVALID_REFRESH_TOKEN", .sessionExpired), ("INVALID_ID_TOKEN", .sessionExpired),
        ("OPERATION_NOT_ALLOWED", .methodDisabled), ("ADMIN_ONLY_OPERATION", .methodDisabled),
        ("PASSWORD_LOGIN_DISABLED", .methodDisabled), ("UNVERIFIED_EMAIL", .emailNotConfirmed),
        ("INVALID_CONTINUE_URI", .invalidArgument), ("UNAUTHORIZED_DOMAIN", .invalidArgument),
    ])
    func `Codes of the server`(serverCode: String, code: AuthError.Code) {
        #expect(self.code(serverCode) == code)
    }

    @Test func `An account that is not found is somebody unknown, or the end of a session`() {
        #expect(code("USER_NOT_FOUND", .signIn) == .userNotFound)
        #expect(code("USER_NOT_FOUND", .account) == .sessionExpired)
    }

    @Test(arguments: [
        "WEAK_PASSWORD : Password should be at least 6 characters", "WEAK_PASSWORD: no space", "WEAK_PASSWORD",
        " WEAK_PASSWORD :x : y",
    ])
    func `A code is separated from the text behind it`(text: String) { #expect(code(text) == .weakPassword) }

    @Test func `What is not known keeps its name, and no text of the server shows`() {
        let error = AuthError(
            failure(message("BLOCKING_FUNCTION_ERROR_RESPONSE : alice@example.com is barred")), in: .signIn)
        #expect(error.code.rawValue == "BLOCKING_FUNCTION_ERROR_RESPONSE" && !error.isRetryable)
        #expect(!error.description.contains("alice"))
    }

    @Test func `What the server does not have is unsupported, and what it says of a failure of its own may pass`() {
        let missing = failure(
            #"{"error":{"code":501,"message":"Not there.","status":"NOT_IMPLEMENTED"}}"#, status: 501)
        let error = AuthError(missing, in: .signIn)
        #expect(error.code == .unsupported && !error.isRetryable)
        let broken = AuthError(
            failure(#"{"error":{"code":503,"message":"BACKEND_ERROR"}}"#, status: 503), in: .signIn)
        #expect(broken.code == .unavailable && broken.isRetryable)
        let page = AuthError(failure("<html>", status: 501), in: .signIn)
        #expect(page.code == .unavailable)
        let refused = AuthError(failure(message("USER_DISABLED"), status: 500), in: .signIn)
        #expect(refused.code == .userDisabled)
    }

    @Test func `About keys the truth stands aside`() {
        let invalid = failure(
            #"{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT","details":[{"reason":"API_KEY_INVALID"}]}}"#
        )
        let error = AuthError(invalid, in: .signIn)
        #expect(error.code == .unauthenticated && !error.isRetryable)
        #expect(error.message.contains("does not accept the API key (API_KEY_INVALID). Copy apiKey"))
        let old = failure(#"{"error":{"code":400,"message":"Bad Request","errors":[{"reason":"keyInvalid"}]}}"#)
        #expect(AuthError(old, in: .signIn).code == .unauthenticated)
        #expect(AuthError(old, in: .signIn).message.contains("apiKey"))
        let bare = failure(#"{"error":{"message":"API key not valid. Please pass a valid API key.","status":"X"}}"#)
        #expect(AuthError(bare, in: .signIn).code == .unauthenticated)
        let blocked = failure(
            #"{"error":{"code":403,"message":"Requests from this ios client application <empty> are blocked.","status":"PERMISSION_DENIED","details":[{"reason":"API_KEY_IOS_APP_BLOCKED"}]}}"#,
            status: 403)
        #expect(AuthError(blocked, in: .signIn).code == .unauthenticated)
        #expect(AuthError(blocked, in: .signIn).message.contains("bundleID"))
    }

    @Test(
        arguments: [
            ("API_KEY_SERVICE_BLOCKED", .unauthenticated, "See its restrictions"),
            ("API_KEY_HTTP_REFERRER_BLOCKED", .unauthenticated, "See its restrictions"),
            ("CONFIGURATION_NOT_FOUND", .failedPrecondition, "Open Authentication"),
            ("PROJECT_NOT_FOUND", .failedPrecondition, "Check project"),
            ("CONSUMER_INVALID", .failedPrecondition, "Check project"),
            ("SERVICE_DISABLED", .failedPrecondition, "Identity Toolkit API"),
        ] as [(String, AuthError.Code, String)])
    func `What is wrong with the project has the code that documents have for it, the server's word and the next step`(
        serverCode: String, code: AuthError.Code, step: String
    ) {
        let error = AuthError(failure(message(serverCode)), in: .signIn)
        #expect(error.code == code && !error.isRetryable)
        #expect(error.message.contains("(\(serverCode))") && error.message.contains(step))
    }

    @Test func `Pages, broken answers and the server's own troubles are the network's`() {
        for (body, status) in [
            ("<html>Bad Gateway</html>", 502), (message("INTERNAL_ERROR"), 500), ("", 400), ("{}", 404),
            ("{\"error\":", 400),
        ] {
            let error = AuthError(failure(body, status: status), in: .signIn)
            #expect(error.code == .unavailable && error.isRetryable, "\(status) \(body)")
        }
    }

    @Test func `Too many requests say how long to wait`() {
        let error = AuthError(
            failure("<html>", status: 429, headers: ["Retry-After": "17"]), in: .signIn)
        #expect(error.code == .rateLimited && error.isRetryable && error.retryAfter == .seconds(17))
    }

    @Test(arguments: [
        (TransportError.Code.cancelled, AuthError.Code.cancelled), (.stalled, .deadlineExceeded),
        (.deadlineExceeded, .deadlineExceeded), (.shutDown, .shutDown), (.hostNotFound, .unavailable),
        (.untrustedPeer, .unavailable), (.bodyTooLarge, .unavailable),
    ])
    func `What can happen on the way`(code: TransportError.Code, mapped: AuthError.Code) {
        let failure = FirebaseAuthFailure(.unanswered(TransportError(code, "x"), status: nil))
        #expect(AuthError(failure, in: .signIn).code == mapped)
    }

    @Test(arguments: [
        (Int64.min / 2, Int64.max), (Int64.min, Int64(0)), (Int64.max, Int64.min), (Int64(5), Int64(5)),
    ])
    func `A token that lasts longer than can be reckoned has no lifetime`(issued: Int64, end: Int64) throws {
        let claims: JSON = ["sub": "alice", "iat": .integer(issued), "exp": .integer(end)]
        let token = try #require(FirebaseIDToken("e30." + Base64.encode(claims.bytes(), alphabet: .url) + ".c2ln"))
        #expect(token.lifetime == nil)
    }
}
