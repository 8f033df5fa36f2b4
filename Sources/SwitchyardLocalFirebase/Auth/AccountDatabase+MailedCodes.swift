import SwitchyardBytes

/// Codes sent by email. Nothing is actually sent: `GET /emulator/v1/projects/…/oobCodes` shows them.
extension AccountDatabase {
    mutating func sendCode(_ call: AuthCall) throws(AuthFailure) -> JSONObject {
        let name = try call.required("requestType", or: "MISSING_REQ_TYPE")
        guard let purpose = MailedCode.Purpose(rawValue: Self.purposes[name] ?? name) else {
            throw .notImplemented(name)
        }
        guard call.isAdmin || call.flag("returnOobLink") != true else { throw .insufficientPermission }
        if let address = call.text("continueUrl"), !AuthCall.isAddress(address) {
            throw AuthFailure("INVALID_CONTINUE_URI : ((expected an absolute URI with valid scheme and host))")
        }
        var answer: JSONObject = ["kind": "identitytoolkit#GetOobConfirmationCodeResponse"]
        let mailed: MailedCode
        switch purpose {
        case .verifyEmail, .changeEmail:
            guard let account = try owner(call), let email = account.email else { throw AuthFailure("MISSING_EMAIL") }
            var newEmail: String?
            if purpose == .changeEmail {
                let address = try call.address("newEmail", or: "MISSING_NEW_EMAIL")
                newEmail = address
                answer["email"] = .string(email)
                if self.account(email: address) != nil {
                    guard settings.protectsEmails else { throw AuthFailure("EMAIL_EXISTS") }
                    return answer
                }
            }
            mailed = mail(purpose, email: email, newEmail: newEmail, userID: account.id, call)
        case .passwordReset, .emailSignIn:
            let given = try call.required("email", or: "MISSING_EMAIL")
            let email: String
            do throws(AuthFailure) { email = try AccountDatabase.email(given) } catch {
                // A malformed address belongs to no account.
                throw purpose == .passwordReset && !settings.protectsEmails ? AuthFailure("EMAIL_NOT_FOUND") : error
            }
            answer["email"] = .string(email)
            let account = account(email: email)
            if purpose == .passwordReset, account == nil {
                guard settings.protectsEmails else { throw AuthFailure("EMAIL_NOT_FOUND") }
                return answer
            }
            if purpose == .emailSignIn, call.text("continueUrl") == nil { throw AuthFailure("MISSING_CONTINUE_URI") }
            mailed = mail(purpose, email: email, newEmail: nil, userID: account?.id, call)
        case .recoverEmail: throw .notImplemented(name)
        }
        answer["email"] = .string(mailed.email)
        if call.isAdmin, call.flag("returnOobLink") == true {
            answer["oobCode"] = .string(mailed.code)
            answer["oobLink"] = .string(mailed.link)
        }
        return answer
    }

    /// The account for a code: that of the token, or the one named by an administrator.
    private func owner(_ call: AuthCall) throws(AuthFailure) -> LocalAccount? {
        if call.isAdmin, call.flag("returnOobLink") == true, call.text("idToken") == nil,
            let email = call.text("email")
        {
            guard let account = account(email: email.lowercased()) else { throw AuthFailure("USER_NOT_FOUND") }
            return account
        }
        guard call.text("idToken") != nil else { throw AuthFailure("INVALID_ID_TOKEN") }
        return try signedIn(call).account
    }

    /// Purposes by their numbers, which some clients send.
    private static let purposes = [
        "1": "PASSWORD_RESET", "4": "VERIFY_EMAIL", "5": "RECOVER_EMAIL", "6": "EMAIL_SIGNIN",
        "7": "VERIFY_AND_CHANGE_EMAIL",
    ]

    @discardableResult
    mutating func mail(
        _ purpose: MailedCode.Purpose, email: String, newEmail: String?, userID: String?, _ call: AuthCall
    ) -> MailedCode {
        let code = RandomID.make(length: 54)
        var items = [("mode", purpose.mode), ("lang", "en"), ("oobCode", code), ("apiKey", "local")]
        if let address = call.text("continueUrl") { items.append(("continueUrl", address)) }
        let query = FormCoding.encode(items.map { (name: $0.0, value: $0.1) }, space: .percent)
        let mailed = MailedCode(
            code: code, purpose: purpose, email: email, newEmail: newEmail, userID: userID,
            link: "\(call.origin)/emulator/action?\(query)", sentAt: call.seconds)
        mailedCodes.append(mailed)
        news = (news ?? []) + [mailed.message(at: call.milliseconds)]
        return mailed
    }

    /// The code, if it is still valid.
    private func mailed(_ code: String, _ call: AuthCall) throws(AuthFailure) -> MailedCode {
        guard let mailed = mailedCodes.first(where: { $0.code == code }) else { throw AuthFailure("INVALID_OOB_CODE") }
        guard mailed.sentAt + AccountDatabase.codeLifetime > call.seconds else { throw AuthFailure("EXPIRED_OOB_CODE") }
        return mailed
    }

    /// Checks a code, or sets the password with it.
    mutating func resetPassword(_ call: AuthCall) throws(AuthFailure) -> JSONObject {
        let mailed = try mailed(call.required("oobCode", or: "MISSING_OOB_CODE"), call)
        var answer: JSONObject = [
            "kind": "identitytoolkit#ResetPasswordResponse", "requestType": .string(mailed.purpose.rawValue),
        ]
        if mailed.purpose != .emailSignIn { answer["email"] = .string(mailed.email) }
        answer["newEmail"] = mailed.newEmail.map { .string($0) }
        guard let text = call.text("newPassword") else { return answer }
        guard mailed.purpose == .passwordReset, let id = mailed.userID else { throw AuthFailure("INVALID_OOB_CODE") }
        guard var account = accounts[id] else { throw AuthFailure("USER_NOT_FOUND") }
        guard account.isDisabled != true else { throw AuthFailure("USER_DISABLED") }
        account.password = try AccountDatabase.password(text)
        account.passwordUpdatedAt = call.milliseconds
        account.isEmailVerified = true
        account.revokeSessions(at: call.seconds)
        accounts[id] = account
        mailedCodes.removeAll { $0.code == mailed.code }
        return answer
    }

    /// Applies the other links: confirms the address, changes it, or changes it back.
    mutating func applyCode(_ code: String, _ call: AuthCall) throws(AuthFailure) -> JSONObject {
        let mailed = try mailed(code, call)
        guard mailed.purpose != .emailSignIn else { throw .notImplemented(mailed.purpose.rawValue) }
        guard let id = mailed.userID else { throw AuthFailure("INVALID_OOB_CODE") }
        guard var account = accounts[id] else { throw AuthFailure("USER_NOT_FOUND") }
        switch mailed.purpose {
        case .verifyEmail:
            guard account.email == mailed.email else { throw AuthFailure("INVALID_OOB_CODE") }
            account.isEmailVerified = true
        case .changeEmail:
            guard let email = mailed.newEmail, account.email == mailed.email else {
                throw AuthFailure("INVALID_OOB_CODE")
            }
            try checkIsFree(email, for: id)
            account.initialEmail = account.initialEmail ?? account.email
            account.email = email
            account.isEmailVerified = true
            account.revokeSessions(at: call.seconds)
            mail(.recoverEmail, email: mailed.email, newEmail: nil, userID: id, call)
        case .recoverEmail:
            try checkIsFree(mailed.email, for: id)
            account.email = mailed.email
            account.isEmailVerified = true
            account.revokeSessions(at: call.seconds)
        case .passwordReset, .emailSignIn: throw .notImplemented(mailed.purpose.rawValue)
        }
        accounts[id] = account
        mailedCodes.removeAll { $0.code == code }
        var answer = changed(account)
        if mailed.purpose == .changeEmail { answer["newEmail"] = account.email.map { .string($0) } }
        return answer
    }

    mutating func signInWithEmailLink(_ call: AuthCall) throws(AuthFailure) -> JSONObject {
        let email = try AccountDatabase.email(call.required("email", or: "MISSING_EMAIL"))
        let mailed = try mailed(call.required("oobCode", or: "MISSING_OOB_CODE"), call)
        guard mailed.purpose == .emailSignIn else { throw AuthFailure("INVALID_OOB_CODE") }
        guard mailed.email == email else {
            throw AuthFailure(
                "INVALID_EMAIL : The email provided does not match the sign-in email address.")
        }
        var account: LocalAccount
        let owner = self.account(email: email)
        if call.text("idToken") != nil {
            account = try signedIn(call).account
            try checkIsFree(email, for: account.id)
        } else {
            account = owner ?? newAccount(call)
        }
        guard account.isDisabled != true else { throw AuthFailure("USER_DISABLED") }
        account.email = email
        account.isEmailVerified = true
        account.usesEmailLink = true
        accounts[account.id] = account
        mailedCodes.removeAll { $0.code == mailed.code }
        let isNew = owner == nil && call.text("idToken") == nil
        return try signIn(
            account.id, AuthSignIn(provider: "password", at: call.seconds), call,
            adding: [
                "kind": "identitytoolkit#EmailLinkSigninResponse", "email": .string(email),
                "isNewUser": .bool(isNew),
            ])
    }
}
