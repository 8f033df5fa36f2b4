import SwitchyardBytes
package import SwitchyardServerKit
import SwitchyardWire

/// The paths of the vendor's emulator: its own address, then host and path of the actual service.
extension LocalAuth {
    package func addRoutes(to router: inout Router) {
        let toolkit = "/identitytoolkit.googleapis.com"
        router.on(.post, "/securetoken.googleapis.com/v1/token") { await self.answer($0, "token") }
        router.on(.post, toolkit + "/v2/accounts/{call}") { await self.answer($0, $0.parameters["call"] ?? "") }
        router.on(.get, toolkit + "/v2/passwordPolicy") { _ in LocalAuth.ok(LocalAuth.passwordPolicy) }
        router.on(.get, toolkit + "/v2/recaptchaConfig") { _ in LocalAuth.ok(["recaptchaEnforcementState": []]) }
        router.on(.get, toolkit + "/v1/projects") { _ in
            LocalAuth.ok(["projectId": "12345", "authorizedDomains": ["localhost"]])
        }
        router.on(.get, "/www.googleapis.com/identitytoolkit/v3/relyingparty/getProjectConfig") { _ in
            LocalAuth.ok(["projectId": "12345", "authorizedDomains": ["localhost"]])
        }
        router.on(.get, toolkit + "/v1/recaptchaParams") { _ in
            // Web clients request these before a code is sent, but do not use them here.
            LocalAuth.ok([
                "kind": "identitytoolkit#GetRecaptchaParamResponse",
                "recaptchaStoken":
                    "This-is-a-fake-token__Dont-send-this-to-the-Recaptcha-service__The-Auth-Emulator-does-not-support-Recaptcha",
                "recaptchaSiteKey": "Fake-key__Do-not-send-this-to-Recaptcha_",
            ])
        }
        router.on(.get, toolkit + "/v1/sessionCookiePublicKeys") { _ in
            LocalAuth.refused(
                .notImplemented("identitytoolkit.getSessionCookiePublicKeys is not implemented in the Auth Emulator."))
        }
        addProjectRoutes(to: &router)
        router.on(.get, toolkit + "/v1/projects/{project}/accounts:batchGet") {
            await self.answer($0, "accounts:batchGet")
        }
        for name in ["queryAccounts", "createSessionCookie"] {
            router.on(.post, toolkit + "/v1/projects/{project}:\(name)") { await self.answer($0, name) }
        }
        for pattern in ["/v1/projects/{project}/{call}", "/v1/{call}", "/v2/{call}"] {
            router.on(.post, toolkit + pattern) { await self.answer($0, $0.parameters["call"] ?? "") }
            router.on(nil, toolkit + pattern) { request in
                guard AccountDatabase.isCall(request.parameters["call"] ?? "") else {
                    return LocalAuth.refused(.notFound)
                }
                return LocalAuth.onlyPosted(request)
            }
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

    private func addProjectRoutes(to router: inout Router) {
        let path = "/identitytoolkit.googleapis.com/v2/projects/{project}/config"
        for method in [HTTPMethod.get, .patch] {
            router.on(method, path) { request in
                do throws(AuthFailure) {
                    _ = try self.rights(of: request)
                    let answer = await self.configure(request)
                    guard answer.status == 200 else { return answer }
                    return LocalAuth.ok(self.wholeSettings(of: request.parameters["project"]))
                } catch {
                    return LocalAuth.refused(error)
                }
            }
        }
    }

    static func refused(_ failure: AuthFailure) -> ServerResponse {
        .json(failure.body.bytes(), status: failure.code)
    }

    /// Answers requests with a wrong method.
    private static func onlyPosted(_ request: ServerRequest) -> ServerResponse {
        let path = request.rawPath + (request.rawQuery.map { "?" + $0 } ?? "")
        var response = ServerResponse.json(
            JSON.object(["message": .string("Method \(request.method.rawValue) not allowed for \(path)")]).bytes(),
            status: 405)
        response.headers["Allow"] = "POST"
        return response
    }

    /// Whether the caller is the developer, who has access to every project and needs no key.
    private func rights(of request: ServerRequest) throws(AuthFailure) -> Bool {
        let bearer = request.headers["Authorization"]
        // Server programs send a token of their service account, which cannot be checked here.
        let isAdmin = bearer == "Bearer owner" || bearer?.hasPrefix("Bearer ya29.") == true
        if request.parameters["project"] != nil, !isAdmin {
            guard bearer == nil else { throw .badCredentials }
            throw AuthFailure(
                "INSUFFICIENT_PERMISSION : Only authenticated requests can specify target_project_id.")
        }
        guard isAdmin || request.query("key")?.isEmpty == false || request.headers["x-goog-api-key"] != nil else {
            throw .missingKey
        }
        return isAdmin
    }

    static func ok(_ json: JSON) -> ServerResponse { .json(json.bytes()) }

    private func answer(_ request: ServerRequest, _ name: String) async -> ServerResponse {
        do throws(AuthFailure) {
            let isAdmin = try rights(of: request)
            let fields = try await LocalAuth.fields(of: request)
            let target = isAdmin ? (fields["targetProjectId"] ?? fields["target_project_id"])?.string : nil
            let call = call(fields, project: request.parameters["project"] ?? target, isAdmin: isAdmin)
            try call.checkShape(of: name)
            return LocalAuth.ok(
                .object(
                    try perform(in: call.project) { register throws(AuthFailure) in try register.perform(name, call) }))
        } catch {
            return LocalAuth.refused(error)
        }
    }

    /// The body, either JSON or a form; for a GET, the query.
    private static func fields(of request: ServerRequest) async throws(AuthFailure) -> JSONObject {
        if request.method == .get { return object(request.queryItems) }
        let bytes: [UInt8]
        do throws(ServerError) { bytes = try await request.body.collect(upTo: 1 << 20) } catch { throw .badJSON }
        if request.headers["Content-Type"]?.hasPrefix("application/x-www-form-urlencoded") == true {
            guard let form = FormCoding.decode(String(decoding: bytes, as: UTF8.self)) else { throw .badJSON }
            return object(form)
        }
        if let type = request.headers["Content-Type"], !bytes.isEmpty, !type.hasPrefix("application/json") {
            throw .badContentType(type)
        }
        guard let object = bytes.isEmpty ? JSONObject() : (try? JSON(parsing: bytes))?.object else { throw .badJSON }
        return object
    }

    private static func object(_ form: [(name: String, value: String)]) -> JSONObject {
        JSONObject(form.map { (key: $0.name, value: JSON.string($0.value)) })
    }
}

extension AccountDatabase {
    private typealias Call = @Sendable (inout AccountDatabase, AuthCall) throws(AuthFailure) -> JSONObject

    private static let calls: [String: Call] = [
        "token": { (register, call) throws(AuthFailure) in try register.refresh(call) },
        "accounts:signUp": { (register, call) throws(AuthFailure) in try register.signUp(call) },
        "accounts": { (register, call) throws(AuthFailure) in try register.signUp(call) },
        "accounts:signInWithPassword": { (register, call) throws(AuthFailure) in try register.signInWithPassword(call)
        },
        "accounts:signInWithCustomToken": { (register, call) throws(AuthFailure) in
            try register.signInWithCustomToken(call)
        },
        "accounts:signInWithIdp": { (register, call) throws(AuthFailure) in try register.signInWithIdentity(call) },
        "accounts:signInWithEmailLink": { (register, call) throws(AuthFailure) in
            try register.signInWithEmailLink(call)
        },
        "accounts:signInWithPhoneNumber": { (register, call) throws(AuthFailure) in try register.signInWithPhone(call)
        },
        "accounts:sendVerificationCode": { (register, call) throws(AuthFailure) in try register.sendPhoneCode(call) },
        "accounts:createAuthUri": { (register, call) throws(AuthFailure) in try register.createAuthURI(call) },
        "accounts:sendOobCode": { (register, call) throws(AuthFailure) in try register.sendCode(call) },
        "accounts:resetPassword": { (register, call) throws(AuthFailure) in try register.resetPassword(call) },
        "accounts:update": { (register, call) throws(AuthFailure) in try register.update(call) },
        "accounts:lookup": { (register, call) throws(AuthFailure) in try register.lookup(call) },
        "accounts:delete": { (register, call) throws(AuthFailure) in try register.delete(call) },
        "accounts:batchGet": { (register, call) throws(AuthFailure) in try register.list(call) },
        "accounts:batchCreate": { (register, call) throws(AuthFailure) in try register.createMany(call) },
        "accounts:batchDelete": { (register, call) throws(AuthFailure) in try register.deleteMany(call) },
        "accounts:query": { (register, call) throws(AuthFailure) in try register.query(call) },
        "createSessionCookie": { (register, call) throws(AuthFailure) in try register.makeCookie(call) },
        "queryAccounts": { (register, call) throws(AuthFailure) in try register.query(call) },
        "accounts:revokeToken": { (register, call) throws(AuthFailure) in try register.revokeProviderToken(call) },
        "mfaEnrollment:start": { (register, call) throws(AuthFailure) in try register.startEnrollment(call) },
        "mfaEnrollment:finalize": { (register, call) throws(AuthFailure) in try register.finishEnrollment(call) },
        "mfaEnrollment:withdraw": { (register, call) throws(AuthFailure) in try register.withdrawFactor(call) },
        "mfaSignIn:start": { (register, call) throws(AuthFailure) in try register.startSecondFactor(call) },
        "mfaSignIn:finalize": { (register, call) throws(AuthFailure) in try register.finishSecondFactor(call) },
    ]

    /// Calls for administrators only.
    private static let administrative: Set = [
        "accounts:batchGet", "accounts:batchCreate", "accounts:batchDelete", "accounts:query", "queryAccounts",
        "createSessionCookie",
    ]

    /// Calls that the vendor supports, but neither its emulator nor this server.
    private static let missing: Set = [
        "accounts:signInWithGameCenter", "accounts:verifyIosClient", "accounts:issueSamlResponse",
    ]

    static func isCall(_ name: String) -> Bool { calls[name] != nil || missing.contains(name) }

    /// Makes one call by its name.
    mutating func perform(_ name: String, _ call: AuthCall) throws(AuthFailure) -> JSONObject {
        guard !Self.missing.contains(name) else {
            let full = name.split(separator: ":").joined(separator: ".")
            throw .notImplemented("identitytoolkit.\(full) is not implemented in the Auth Emulator.")
        }
        guard let perform = Self.calls[name], call.isAdmin || !Self.administrative.contains(name) else {
            throw .notFound
        }
        return try perform(&self, call)
    }

    /// Revokes a token of an identity provider. None is stored here, so nothing needs to be done.
    private func revokeProviderToken(_ call: AuthCall) throws(AuthFailure) -> JSONObject {
        _ = try signedIn(call)
        guard call.text("providerId") == "apple.com" else { throw AuthFailure("INVALID_PROVIDER_ID") }
        _ = try call.required("token", or: "MISSING_TOKEN")
        return [:]
    }
}
