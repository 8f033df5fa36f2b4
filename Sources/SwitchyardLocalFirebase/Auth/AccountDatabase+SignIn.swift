import SwitchyardBytes
import SwitchyardServerKit

/// Signing up and in: with a password, anonymously, or with a custom token.
extension AccountDatabase {
    /// Signs up with a password, anonymously, or, with an ID token, adds a password to an account without one.
    mutating func signUp(_ call: AuthCall) throws(AuthFailure) -> JSONObject {
        if call.isAdmin { return try createAccount(call) }
        if call.text("idToken") != nil { return try linkPassword(call) }
        guard call.fields["email"] != nil || call.fields["password"] != nil else {
            let account = newAccount(call)
            accounts[account.id] = account
            return try signIn(
                account.id, AuthSignIn(provider: "anonymous", at: call.seconds), call,
                adding: ["kind": "identitytoolkit#SignupNewUserResponse"])
        }
        guard call.text("localId") == nil else { throw AuthFailure("UNEXPECTED_PARAMETER : User ID") }
        let hasPassword = call.text("password") != nil
        guard let text = call.text("email") else { throw AuthFailure(hasPassword ? "MISSING_EMAIL" : "INVALID_EMAIL") }
        let email = try AccountDatabase.email(text)
        let password = try AccountDatabase.password(call.required("password", or: "MISSING_PASSWORD"))
        try checkIsFree(email)
        var account = newAccount(call)
        account.email = email
        account.displayName = call.text("displayName")
        account.password = password
        account.passwordUpdatedAt = call.milliseconds
        accounts[account.id] = account
        var answer: JSONObject = ["kind": "identitytoolkit#SignupNewUserResponse", "email": .string(email)]
        answer["displayName"] = account.displayName.map { .string($0) }
        return try signIn(
            account.id, AuthSignIn(provider: "password", at: call.seconds), call, adding: answer)
    }

    private mutating func linkPassword(_ call: AuthCall) throws(AuthFailure) -> JSONObject {
        var (account, _) = try signedIn(call)
        let email = try AccountDatabase.email(call.required("email", or: "MISSING_EMAIL"))
        let password = try AccountDatabase.password(call.required("password", or: "MISSING_PASSWORD"))
        try checkIsFree(email, for: account.id)
        if account.email != email { account.isEmailVerified = false }
        account.email = email
        account.password = password
        account.passwordUpdatedAt = call.milliseconds
        account.revokeSessions(at: call.seconds)
        accounts[account.id] = account
        var answer = tokens(of: account, AuthSignIn(provider: "password", at: call.seconds), call)
        answer["kind"] = "identitytoolkit#SignupNewUserResponse"
        answer["localId"] = .string(account.id)
        answer["email"] = .string(email)
        return answer
    }

    private mutating func createAccount(_ call: AuthCall) throws(AuthFailure) -> JSONObject {
        if let id = call.text("localId"), accounts[id] != nil { throw AuthFailure("DUPLICATE_LOCAL_ID") }
        let email = try call.text("email").map { text throws(AuthFailure) in try AccountDatabase.email(text) }
        if let email { try checkIsFree(email) }
        let number = try call.text("phoneNumber").map { text throws(AuthFailure) in try AccountDatabase.number(text) }
        if let number { try checkIsFree(phoneNumber: number) }
        var account = newAccount(call, id: call.text("localId"))
        account.email = email
        if let text = call.text("password") {
            account.password = try AccountDatabase.password(text)
            account.passwordUpdatedAt = call.milliseconds
        }
        account.displayName = call.text("displayName")
        account.photoURL = call.text("photoUrl")
        account.phoneNumber = number
        account.isEmailVerified = call.flag("emailVerified") ?? false
        account.isDisabled = call.flag("disabled") == true ? true : nil
        for info in call.fields["mfaInfo"]?.array ?? [] {
            guard let text = info["phoneInfo"]?.string else { throw AuthFailure("INVALID_MFA_PHONE_NUMBER") }
            account.factors.append(
                LocalAccount.SecondFactor(
                    id: RandomID.make(length: 28), displayName: info["displayName"]?.string,
                    enrolledAt: nil, phoneNumber: try AccountDatabase.number(text)))
        }
        accounts[account.id] = account
        var answer: JSONObject = [
            "kind": "identitytoolkit#SignupNewUserResponse", "localId": .string(account.id),
        ]
        answer["email"] = email.map { .string($0) }
        answer["displayName"] = account.displayName.map { .string($0) }
        return answer
    }

    mutating func signInWithPassword(_ call: AuthCall) throws(AuthFailure) -> JSONObject {
        let email = try call.address(or: "MISSING_EMAIL")
        let password = try call.required("password", or: "MISSING_PASSWORD")
        guard let account = account(email: email) else {
            throw AuthFailure(settings.protectsEmails ? "INVALID_LOGIN_CREDENTIALS" : "EMAIL_NOT_FOUND")
        }
        guard account.isDisabled != true else { throw AuthFailure("USER_DISABLED") }
        guard let stored = account.password, stored.matches(password) else {
            throw AuthFailure(settings.protectsEmails ? "INVALID_LOGIN_CREDENTIALS" : "INVALID_PASSWORD")
        }
        var answer: JSONObject = [
            "kind": "identitytoolkit#VerifyPasswordResponse", "registered": true, "email": .string(email),
        ]
        answer["displayName"] = account.displayName.map { .string($0) }
        answer["profilePicture"] = account.photoURL.map { .string($0) }
        return try signIn(account.id, AuthSignIn(provider: "password", at: call.seconds), call, adding: answer)
    }

    /// A custom token from an app's server. As in the vendor's emulator, its signature is not checked, since no service
    /// account is known here, and bare claims are accepted.
    mutating func signInWithCustomToken(_ call: AuthCall) throws(AuthFailure) -> JSONObject {
        let token = try call.required("token", or: "MISSING_CUSTOM_TOKEN")
        guard let content = TestToken.claims(token) else {
            throw AuthFailure(
                token.first == "{"
                    ? "INVALID_CUSTOM_TOKEN : ((Auth Emulator only accepts strict JSON or JWTs as fake custom tokens.))"
                    : "INVALID_CUSTOM_TOKEN : Invalid assertion format")
        }
        let wanted =
            "https://identitytoolkit.googleapis.com/google.identity.identitytoolkit.v1.IdentityToolkit"
        if token.first != "{", content["aud"]?.string != wanted {
            throw AuthFailure(
                "INVALID_CUSTOM_TOKEN : ((Invalid aud (audience): \(content["aud"]?.string ?? "undefined") "
                    + "Note: Firebase ID Tokens / third-party tokens cannot be used with signInWithCustomToken.))")
        }
        if let claims = content["claims"] {
            guard let claims = claims.object else { throw AuthFailure("INVALID_CLAIMS") }
            try AccountDatabase.check(claims: claims)
        }
        guard let id = content["uid"]?.string ?? content["user_id"]?.string, !id.isEmpty, id.count <= 128 else {
            throw AuthFailure("MISSING_IDENTIFIER")
        }
        let isNew = accounts[id] == nil
        var account = accounts[id] ?? newAccount(call, id: id)
        if isNew { account.isCustom = true }
        guard account.isDisabled != true else { throw AuthFailure("USER_DISABLED") }
        accounts[id] = account
        let claims = content["claims"]?.object ?? JSONObject()
        var answer = try signIn(
            id, AuthSignIn(provider: "custom", at: call.seconds, claims: claims), call,
            adding: ["kind": "identitytoolkit#VerifyCustomTokenResponse", "isNewUser": .bool(isNew)])
        // Unlike all other answers, this one has the ID only in the token.
        answer["localId"] = nil
        return answer
    }
}

/// Codes sent to a phone. Nothing is actually sent: `GET /emulator/v1/projects/…/verificationCodes` shows them.
extension AccountDatabase {
    mutating func sendPhoneCode(_ call: AuthCall) throws(AuthFailure) -> JSONObject {
        guard let number = call.text("phoneNumber") else { throw .badPhoneNumber }
        return ["sessionInfo": .string(try send(to: number, call))]
    }

    /// - Returns: The ID of the code's session.
    mutating func send(to number: String, _ call: AuthCall) throws(AuthFailure) -> String {
        _ = try AccountDatabase.number(number)
        let digits = String(Int.random(in: 0..<1_000_000))
        let sent = PhonedCode(
            session: RandomID.make(length: 64), phoneNumber: number,
            code: String(repeating: "0", count: 6 - digits.count) + digits, sentAt: call.seconds)
        phonedCodes.append(sent)
        news = (news ?? []) + [sent.message(at: call.milliseconds)]
        return sent.session
    }

    /// The number to which the session's code was sent; uses up the code.
    mutating func redeem(_ call: AuthCall) throws(AuthFailure) -> String {
        let session = try call.required("sessionInfo", or: "MISSING_SESSION_INFO")
        let code = try call.required("code", or: "MISSING_CODE")
        guard let sent = phonedCodes.first(where: { $0.session == session }) else {
            throw AuthFailure("INVALID_SESSION_INFO")
        }
        guard sent.sentAt + AccountDatabase.phoneCodeLifetime > call.seconds else {
            throw AuthFailure("SESSION_EXPIRED")
        }
        guard sent.code == code else { throw AuthFailure("INVALID_CODE") }
        phonedCodes.removeAll { $0.session == session }
        return try AccountDatabase.number(sent.phoneNumber)
    }

    mutating func signInWithPhone(_ call: AuthCall) throws(AuthFailure) -> JSONObject {
        let linked = call.text("idToken") == nil ? nil : try signedIn(call).account
        let number: String
        if let proof = call.text("temporaryProof") {
            let given = try call.required("phoneNumber", or: "MISSING_PHONE_NUMBER")
            guard let content = call.seal.open(proof, as: .temporaryProof), let proved = content["number"]?.string,
                proved == given, (content["until"]?.int64 ?? 0) > call.seconds
            else { throw AuthFailure("INVALID_TEMPORARY_PROOF") }
            number = proved
        } else {
            number = try redeem(call)
        }
        let owner = account(phoneNumber: number)
        if let linked, let owner, owner.id != linked.id {
            guard call.text("temporaryProof") == nil else { throw AuthFailure("PHONE_NUMBER_EXISTS") }
            let proof = call.seal.close(
                ["number": .string(number), "until": .integer(call.seconds + 3600)], as: .temporaryProof)
            return [
                "temporaryProof": .string(proof), "temporaryProofExpiresIn": "3600", "phoneNumber": .string(number),
            ]
        }
        if linked == nil, owner == nil, call.text("operation") == "REAUTH" { throw AuthFailure("USER_NOT_FOUND") }
        var account = linked ?? owner ?? newAccount(call)
        guard account.isDisabled != true else { throw AuthFailure("USER_DISABLED") }
        account.phoneNumber = number
        accounts[account.id] = account
        return try signIn(
            account.id, AuthSignIn(provider: "phone", at: call.seconds), call,
            adding: ["phoneNumber": .string(number), "isNewUser": .bool(linked == nil && owner == nil)])
    }
}
