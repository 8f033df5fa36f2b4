import SwitchyardBytes

/// Changes to an account: by its owner, by an administrator, or by a code out of a mail.
extension AuthRegister {
    mutating func update(_ call: AuthCall) throws(AuthFailure) -> JSONObject {
        if let code = call.text("oobCode") { return try applyCode(code, call) }
        var account: LocalAccount
        var signIn: AuthSignIn?
        if call.isAdmin, let id = call.text("localId") {
            guard let named = accounts[id] else { throw AuthFailure("USER_NOT_FOUND") }
            account = named
            try changeAsAdministrator(&account, call)
        } else {
            let changesCredentials = call.text("email") != nil || call.text("password") != nil
            let (own, token) = changesCredentials ? try recentlySignedIn(call) : try signedIn(call)
            account = own
            signIn = continued(token)
        }
        let revokes = try changeCredentials(&account, call)
        try changeProfile(&account, call)
        if revokes { account.revokeSessions(at: call.seconds) }
        accounts[account.id] = account
        var answer = changed(account)
        if let signIn, revokes {
            for member in tokens(of: account, signIn, call).members { answer[member.key] = member.value }
        }
        return answer
    }

    func changed(_ account: LocalAccount) -> JSONObject {
        var answer: JSONObject = [
            "kind": "identitytoolkit#SetAccountInfoResponse", "localId": .string(account.id),
            "emailVerified": .bool(account.isEmailVerified), "providerUserInfo": .array(providers(of: account)),
        ]
        answer["email"] = account.email.map { .string($0) }
        answer["displayName"] = account.displayName.map { .string($0) }
        answer["photoUrl"] = account.photoURL.map { .string($0) }
        return answer
    }

    /// - Returns: Whether what was changed ends the account's sessions.
    private mutating func changeCredentials(
        _ account: inout LocalAccount, _ call: AuthCall
    ) throws(AuthFailure) -> Bool {
        var revokes = false
        if let text = call.text("email") {
            let email = try AuthRegister.email(text)
            if email != account.email {
                try checkIsFree(email, for: account.id)
                guard call.isAdmin || !settings.protectsEmails else {
                    throw AuthFailure(
                        "OPERATION_NOT_ALLOWED : Please verify the new email before changing email.")
                }
                account.initialEmail = account.initialEmail ?? account.email
                account.email = email
                account.isEmailVerified = call.flag("emailVerified") ?? false
                revokes = true
            }
        }
        if let text = call.text("password") {
            account.password = try AuthRegister.password(text)
            account.passwordUpdatedAt = call.milliseconds
            revokes = true
        }
        for provider in call.list("deleteProvider") {
            switch provider {
            case "password":
                account.password = nil
                account.usesEmailLink = false
                account.email = nil
                account.isEmailVerified = false
            case "phone": account.phoneNumber = nil
            default: account.links.removeAll { $0.provider == provider }
            }
        }
        return revokes
    }

    private func changeProfile(_ account: inout LocalAccount, _ call: AuthCall) throws(AuthFailure) {
        if let name = call.text("displayName") {
            guard name.count <= 256 else { throw AuthFailure("INVALID_PROFILE_ATTRIBUTE : DISPLAY_NAME") }
            account.displayName = name
        }
        if let photo = call.text("photoUrl") {
            guard photo.count <= 2048 else { throw AuthFailure("INVALID_PROFILE_ATTRIBUTE : PHOTO_URL") }
            account.photoURL = photo
        }
        for attribute in call.list("deleteAttribute") {
            switch attribute {
            case "DISPLAY_NAME": account.displayName = nil
            case "PHOTO_URL": account.photoURL = nil
            case "PASSWORD": account.password = nil
            case "EMAIL":
                account.email = nil
                account.isEmailVerified = false
            case "PROVIDER", "RAW_USER_INFO": throw .notImplemented("Deleting \(attribute)")
            default: throw AuthFailure("INVALID_ARGUMENT", status: "INVALID_ARGUMENT")
            }
        }
    }

    private func changeAsAdministrator(_ account: inout LocalAccount, _ call: AuthCall) throws(AuthFailure) {
        if let isDisabled = call.flag("disableUser") { account.isDisabled = isDisabled }
        if let isVerified = call.flag("emailVerified") { account.isEmailVerified = isVerified }
        if let number = call.text("phoneNumber") { account.phoneNumber = number }
        if let text = call.text("customAttributes") {
            guard (try? JSON(parsing: text))?.object != nil else { throw AuthFailure("INVALID_CLAIMS") }
            account.customAttributes = text
        }
        if let text = call.text("validSince"), let seconds = Int64(text) { account.revokeSessions(at: seconds) }
    }
}
