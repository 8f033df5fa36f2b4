import SwitchyardBytes
package import SwitchyardServerKit
import SwitchyardWire

/// The paths of the vendor's emulator: its own address, then host and path of the real service.
extension LocalAuth {
    package func addRoutes(to router: inout Router) {
        let toolkit = "/identitytoolkit.googleapis.com"
        router.on(.post, "/securetoken.googleapis.com/v1/token") { await self.answer($0, "token") }
        router.on(.post, toolkit + "/v2/accounts/{call}") { await self.answer($0, $0.parameters["call"] ?? "") }
        router.on(.get, toolkit + "/v2/passwordPolicy") { _ in LocalAuth.ok(LocalAuth.passwordPolicy) }
        router.on(.get, toolkit + "/v2/recaptchaConfig") { _ in LocalAuth.ok(["recaptchaEnforcementState": []]) }
        router.on(.get, toolkit + "/v1/projects") { _ in
            LocalAuth.ok(["projectId": "12345", "authorizedDomains": ["localhost", "127.0.0.1"]])
        }
        for pattern in ["/v1/projects/{project}/{call}", "/v1/{call}", "/v2/{call}"] {
            router.on(nil, toolkit + pattern) { await self.answer($0, $0.parameters["call"] ?? "") }
        }
        router.on(.post, "/www.googleapis.com/identitytoolkit/v3/relyingparty/{call}") { request in
            await self.answer(request, LocalAuth.legacyNames[request.parameters["call"] ?? ""] ?? "")
        }
        addEmulatorRoutes(to: &router)
    }

    /// The former names of calls, which some clients still use.
    private static let legacyNames = [
        "signupNewUser": "accounts:signUp", "verifyPassword": "accounts:signInWithPassword",
        "verifyCustomToken": "accounts:signInWithCustomToken", "verifyAssertion": "accounts:signInWithIdp",
        "emailLinkSignin": "accounts:signInWithEmailLink", "verifyPhoneNumber": "accounts:signInWithPhoneNumber",
        "getOobConfirmationCode": "accounts:sendOobCode", "resetPassword": "accounts:resetPassword",
        "setAccountInfo": "accounts:update", "getAccountInfo": "accounts:lookup",
        "deleteAccount": "accounts:delete", "createAuthUri": "accounts:createAuthUri",
        "sendVerificationCode": "accounts:sendVerificationCode",
    ]

    private static let passwordPolicy: JSON = [
        "customStrengthOptions": ["minPasswordLength": 6, "maxPasswordLength": 4096],
        "allowedNonAlphanumericCharacters": [], "enforcementState": "OFF", "forceUpgradeOnSignin": false,
        "schemaVersion": 1,
    ]

    static func ok(_ json: JSON) -> ServerResponse { .json(json.bytes()) }

    private func answer(_ request: ServerRequest, _ name: String) async -> ServerResponse {
        do throws(AuthFailure) {
            let isAdmin = request.headers["Authorization"] == "Bearer owner"
            guard isAdmin || request.query("key")?.isEmpty == false || request.headers["x-goog-api-key"] != nil else {
                throw .missingKey
            }
            if let project = request.parameters["project"], project != self.project || !isAdmin {
                throw isAdmin ? AuthFailure("PROJECT_NOT_FOUND") : .missingKey
            }
            let call = call(try await LocalAuth.fields(of: request), isAdmin: isAdmin)
            return LocalAuth.ok(
                .object(try perform { register throws(AuthFailure) in try register.perform(name, call) }))
        } catch {
            return .json(error.body.bytes(), status: error.code)
        }
    }

    /// The body, be it JSON or a form; of a GET the query.
    private static func fields(of request: ServerRequest) async throws(AuthFailure) -> JSONObject {
        if request.method == .get { return object(request.queryItems) }
        let bytes: [UInt8]
        do throws(ServerError) { bytes = try await request.body.collect(upTo: 1 << 20) } catch { throw .badJSON }
        if request.headers["Content-Type"]?.hasPrefix("application/x-www-form-urlencoded") == true {
            guard let form = FormCoding.decode(String(decoding: bytes, as: UTF8.self)) else { throw .badJSON }
            return object(form)
        }
        guard let object = bytes.isEmpty ? JSONObject() : (try? JSON(parsing: bytes))?.object else { throw .badJSON }
        return object
    }

    private static func object(_ form: [(name: String, value: String)]) -> JSONObject {
        JSONObject(form.map { (key: $0.name, value: JSON.string($0.value)) })
    }
}

extension AuthRegister {
    /// One call by its name.
    mutating func perform(_ name: String, _ call: AuthCall) throws(AuthFailure) -> JSONObject {
        switch name {
        case "token": try refresh(call)
        case "accounts:signUp", "accounts": try signUp(call)
        case "accounts:signInWithPassword": try signInWithPassword(call)
        case "accounts:signInWithCustomToken": try signInWithCustomToken(call)
        case "accounts:signInWithIdp": try signInWithIdentity(call)
        case "accounts:signInWithEmailLink": try signInWithEmailLink(call)
        case "accounts:signInWithPhoneNumber": try signInWithPhone(call)
        case "accounts:sendVerificationCode": try sendPhoneCode(call)
        case "accounts:createAuthUri": try createAuthURI(call)
        case "accounts:sendOobCode": try sendCode(call)
        case "accounts:resetPassword": try resetPassword(call)
        case "accounts:update": try update(call)
        case "accounts:lookup": try lookup(call)
        case "accounts:delete": try delete(call)
        case "accounts:batchGet" where call.isAdmin: list(call)
        case "accounts:revokeToken": try revokeProviderToken(call)
        case "mfaEnrollment:start": try startEnrollment(call)
        case "mfaEnrollment:finalize": try finishEnrollment(call)
        case "mfaEnrollment:withdraw": try withdrawFactor(call)
        case "mfaSignIn:start": try startSecondFactor(call)
        case "mfaSignIn:finalize": try finishSecondFactor(call)
        default: throw .notFound
        }
    }

    /// A token of an identity provider is given back. None is kept here, so there is nothing to do but to answer.
    private func revokeProviderToken(_ call: AuthCall) throws(AuthFailure) -> JSONObject {
        _ = try signedIn(call)
        guard call.text("providerId") == "apple.com" else { throw AuthFailure("INVALID_PROVIDER_ID") }
        _ = try call.required("token", or: "MISSING_TOKEN")
        return [:]
    }
}
