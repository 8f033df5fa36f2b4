import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardWire

/// Developer operations: reading emails that were not sent, following their links, deleting all accounts.
extension LocalAuth {
    func addEmulatorRoutes(to router: inout Router) {
        let project = "/emulator/v1/projects/{project}"
        router.on(.get, project + "/oobCodes") { self.look($0, LocalAuth.mailedCodes) }
        router.on(.get, project + "/verificationCodes") { self.look($0, LocalAuth.phonedCodes) }
        router.on(.delete, project + "/accounts") { request in
            self.look(request) { register in
                register.accounts = [:]
                return [:]
            }
        }
        router.on(.get, project + "/config") { self.look($0, LocalAuth.settings) }
        router.on(.patch, project + "/config") { await self.configure($0) }
        router.on(.get, "/emulator/action") { self.follow($0) }
        router.on(.get, "/emulator/browser") { self.browse($0) }
    }

    /// Changes settings, or with another method returns them.
    func configure(_ request: ServerRequest) async -> ServerResponse {
        guard request.method == .patch else { return look(request, LocalAuth.settings) }
        let body = try? JSON(parsing: (try? await request.body.collect(upTo: 1 << 16)) ?? [])
        return look(request) { register in
            if let allows = body?["signIn"]?["allowDuplicateEmails"]?.bool {
                register.settings.allowsDuplicateEmails = allows
            }
            if let protects = body?["emailPrivacyConfig"]?["enableImprovedEmailPrivacy"]?.bool {
                register.settings.protectsEmails = protects
            }
            return LocalAuth.settings(&register)
        }
    }

    /// The settings as administrators get them.
    func wholeSettings(of project: String?) -> JSON {
        let told = try? perform(in: project) { (register) throws(AuthFailure) in LocalAuth.settings(&register) }
        var settings = told?.object ?? [:]
        settings["blockingFunctions"] = [:]
        return .object(settings)
    }

    private func look(
        _ request: ServerRequest, _ body: (inout AccountDatabase) -> JSON
    ) -> ServerResponse {
        do throws(AuthFailure) {
            return LocalAuth.ok(
                try perform(in: request.parameters["project"]) { register throws(AuthFailure) in body(&register) })
        } catch {
            return .json(error.body.bytes(), status: error.code)
        }
    }

    private static func mailedCodes(_ register: inout AccountDatabase) -> JSON {
        [
            "oobCodes": .array(
                register.mailedCodes.map { mailed in
                    var code: JSONObject = [
                        "email": .string(mailed.email), "requestType": .string(mailed.purpose.rawValue),
                        "oobCode": .string(mailed.code), "oobLink": .string(mailed.link),
                    ]
                    code["newEmail"] = mailed.newEmail.map { .string($0) }
                    return .object(code)
                })
        ]
    }

    private static func phonedCodes(_ register: inout AccountDatabase) -> JSON {
        [
            "verificationCodes": .array(
                register.phonedCodes.map { sent in
                    [
                        "phoneNumber": .string(sent.phoneNumber), "code": .string(sent.code),
                        "sessionInfo": .string(sent.session),
                    ]
                })
        ]
    }

    private static func settings(_ register: inout AccountDatabase) -> JSON {
        [
            "signIn": ["allowDuplicateEmails": .bool(register.settings.allowsDuplicateEmails)],
            "emailPrivacyConfig": ["enableImprovedEmailPrivacy": .bool(register.settings.protectsEmails)],
        ]
    }

    // MARK: Links

    /// The texts of the pages behind mailed links, for valid and for expired links.
    private static let pages: [String: (done: String, purpose: String, again: String)] = [
        "resetPassword": (
            "The password has been successfully updated.", "reset your password", "resetting your password"
        ),
        "verifyEmail": ("The email has been successfully verified.", "verify your email", "verifying your email"),
        "verifyAndChangeEmail": (
            "The email has been successfully changed.", "verify and change your email",
            "verifying and changing your email"
        ),
        "recoverEmail": ("The email has been successfully reset.", "reset your email", "resetting your email"),
    ]

    /// The page behind a mailed link: performs the link's action, and continues to the app if the link has its address.
    private func follow(_ request: ServerRequest) -> ServerResponse {
        var fields = JSONObject(request.queryItems.map { (key: $0.name, value: JSON.string($0.value)) })
        let back = fields["continueUrl"]?.string
        let mode = fields["mode"]?.string ?? ""
        for (name, example) in [("oobCode", "YOUR_OOB_CODE"), ("apiKey", "YOUR_API_KEY")]
        where fields[name]?.string?.isEmpty != false {
            return LocalAuth.refusal(
                "missing \(name) query parameter",
                [("instructions", "Please modify the URL to specify an \(name), such as ...&\(name)=\(example)")])
        }
        if mode == "signIn" {
            guard let back else {
                return LocalAuth.refusal(
                    "Missing continueUrl query parameter",
                    [("instructions", "To sign in, append &continueUrl=YOUR_APP_URL to the link.")])
            }
            // The app finishes the sign-in itself: it gets the link's own parameters.
            fields["continueUrl"] = nil
            return LocalAuth.redirect(to: back, adding: fields.members.map { ($0.key, $0.value.string ?? "") })
        }
        guard let page = LocalAuth.pages[mode] else { return LocalAuth.refusal("Invalid mode") }
        do throws(AuthFailure) {
            let call = call(fields)
            let code = try call.required("oobCode", or: "MISSING_OOB_CODE")
            if mode == "resetPassword", call.text("newPassword") == nil {
                let mailed = try perform { register throws(AuthFailure) in try register.resetPassword(call) }
                let address = request.rawPath + (request.rawQuery.map { "?" + $0 } ?? "")
                return LocalAuth.refusal(
                    "missing newPassword query parameter",
                    [
                        (
                            "instructions",
                            "To reset the password for \(mailed["email"]?.string ?? ""), send an HTTP GET request to the following URL."
                        ),
                        ("instructions2", "You may use a web browser or any HTTP client, such as curl."),
                        ("urlTemplate", "\(call.origin)\(address)&newPassword=NEW_PASSWORD_HERE"),
                    ])
            }
            let answer = try perform { register throws(AuthFailure) in
                mode == "resetPassword" ? try register.resetPassword(call) : try register.applyCode(code, call)
            }
            if let back { return LocalAuth.redirect(to: back, adding: []) }
            return LocalAuth.ok([
                "authEmulator": .object(["success": .string(page.done), "email": answer["email"] ?? .null])
            ])
        } catch {
            guard ["INVALID_OOB_CODE", "EXPIRED_OOB_CODE"].contains(error.message) else {
                return LocalAuth.refusal(error.message)
            }
            return LocalAuth.refusal(
                "Your request to \(page.purpose) has expired or the link has already been used.",
                [("instructions", "Try \(page.again) again.")])
        }
    }

    /// The page of an identity provider; the query contains the user.
    private func browse(_ request: ServerRequest) -> ServerResponse {
        guard let session = request.query("session"), let provider = request.query("providerId"),
            let back = request.query("back"),
            seal.open(session, as: .browserSession)?["provider"]?.string == provider
        else { return LocalAuth.refusal("INVALID_SESSION_INFO") }
        guard let subject = request.query("sub"), !subject.isEmpty else {
            return .text("Add sub=… (and email=…, name=…) to the address to sign in with \(provider).\n")
        }
        var claims: JSONObject = ["sub": .string(subject), "email_verified": true]
        for name in ["email", "name", "picture"] { claims[name] = request.query(name).map { .string($0) } }
        let form = FormCoding.encode([
            (name: "providerId", value: provider), (name: "id_token", value: JSON.object(claims).text()),
        ])
        let code = seal.close(["session": .string(session), "form": .string(form)], as: .browserCode)
        let state = request.query("state").map { [("state", $0)] } ?? []
        return LocalAuth.redirect(to: back, adding: [("code", code)] + state)
    }

    private static func refusal(_ message: String, _ more: [(String, String)] = []) -> ServerResponse {
        var page: JSONObject = ["error": .string(message)]
        for (name, text) in more { page[name] = .string(text) }
        return .json(JSON.object(["authEmulator": .object(page)]).bytes(), status: 400)
    }

    private static func redirect(to address: String, adding items: [(String, String)]) -> ServerResponse {
        // A line break in the address would end the header field.
        guard address.utf8.allSatisfy({ $0 > 32 && $0 < 127 }) else { return refusal("INVALID_CONTINUE_URI") }
        let query = FormCoding.encode(items.map { (name: $0.0, value: $0.1) }, space: .percent)
        let separator = items.isEmpty ? "" : address.contains("?") ? "&" : "?"
        let target = address + separator + query
        var response = ServerResponse.text("See Other. Redirecting to \(target)", status: 303)
        response.headers["Location"] = target
        return response
    }
}
