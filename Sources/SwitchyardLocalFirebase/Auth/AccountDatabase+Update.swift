import SwitchyardBytes

/// Changes to an account: by its owner, by an administrator, or by a code from an email.
extension AccountDatabase {
    mutating func update(_ call: AuthCall) throws(AuthFailure) -> JSONObject {
        if let code = call.text("oobCode") { return try applyCode(code, call) }
        var account: LocalAccount
        var signIn: AuthSignIn?
        guard call.fields["provider"] == nil else { throw .notImplemented("provider is not implemented yet.") }
        if call.isAdmin, call.text("idToken") == nil {
            let id = try call.required("localId", or: "MISSING_LOCAL_ID")
            guard let named = accounts[id] else { throw AuthFailure("USER_NOT_FOUND") }
            account = named
            try changeAsAdministrator(&account, call)
        } else {
            guard call.text("idToken") != nil else {
                throw AuthFailure("INVALID_REQ_TYPE : Unsupported request parameters.")
            }
            guard call.fields["customAttributes"] == nil else { throw .insufficientPermission }
            guard call.fields["disableUser"] == nil else { throw AuthFailure("OPERATION_NOT_ALLOWED") }
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
        if call.text("email") != nil { answer["newEmail"] = account.email.map { .string($0) } }
        if let signIn, revokes {
            for member in tokens(of: account, signIn, call).members { answer[member.key] = member.value }
        }
        return answer
    }

    func changed(_ account: LocalAccount) -> JSONObject {
        var answer: JSONObject = [
            "kind": "identitytoolkit#SetAccountInfoResponse", "localId": .string(account.id),
            "providerUserInfo": .array(providers(of: account)),
        ]
        if account.email != nil { answer["emailVerified"] = .bool(account.isEmailVerified) }
        if account.password != nil { answer["passwordHash"] = AccountDatabase.redacted }
        answer["email"] = account.email.map { .string($0) }
        answer["displayName"] = account.displayName.map { .string($0) }
        answer["photoUrl"] = account.photoURL.map { .string($0) }
        return answer
    }

    /// - Returns: Whether the changes end the account's sessions.
    private mutating func changeCredentials(
        _ account: inout LocalAccount, _ call: AuthCall
    ) throws(AuthFailure) -> Bool {
        var revokes = false
        if let text = call.text("email") {
            let email = try AccountDatabase.email(text)
            if email != account.email {
                try checkIsFree(email, for: account.id)
                guard call.isAdmin || !settings.protectsEmails else {
                    throw AuthFailure(
                        "OPERATION_NOT_ALLOWED : Please verify the new email before changing email.")
                }
                account.initialEmail = account.initialEmail ?? account.email
                if let old = account.email, !call.isAdmin {
                    // The owner of the old address can undo the change.
                    mail(.recoverEmail, email: old, newEmail: nil, userID: account.id, call)
                }
                account.email = email
                account.isEmailVerified = call.isAdmin && call.flag("emailVerified") ?? false
                revokes = true
            }
        }
        if let text = call.text("password") {
            account.password = try AccountDatabase.password(text)
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
        // An empty string is also a name.
        if let name = call.fields["displayName"]?.string {
            guard name.count <= 256 else { throw AuthFailure("INVALID_PROFILE_ATTRIBUTE : DISPLAY_NAME") }
            account.displayName = name
        }
        if let photo = call.fields["photoUrl"]?.string {
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
            default: throw .notImplemented("deleteAttribute: \(attribute)")
            }
        }
    }

    private func changeAsAdministrator(_ account: inout LocalAccount, _ call: AuthCall) throws(AuthFailure) {
        if let isDisabled = call.flag("disableUser") { account.isDisabled = isDisabled }
        if let isVerified = call.flag("emailVerified") { account.isEmailVerified = isVerified }
        if let text = call.text("phoneNumber") {
            let number = try AccountDatabase.number(text)
            try checkIsFree(phoneNumber: number, for: account.id)
            account.phoneNumber = number
        }
        if let text = call.text("customAttributes") { account.customAttributes = try AccountDatabase.claims(text) }
        if call.fields["linkProviderUserInfo"] != nil { try link(call.object("linkProviderUserInfo"), to: &account) }
        if call.fields["mfa"] != nil { try replaceFactors(of: &account, call.object("mfa")) }
        if let text = call.text("createdAt"), let time = Int64(text) { account.createdAt = time }
        if let text = call.text("lastLoginAt"), let time = Int64(text) { account.lastLoginAt = time }
        if let text = call.text("validSince"), let seconds = Int64(text) { account.revokeSessions(at: seconds) }
    }

    private func link(_ info: AuthCall, to account: inout LocalAccount) throws(AuthFailure) {
        let provider = try info.required("providerId", or: "MISSING_PROVIDER_ID")
        let rawID = try info.required("rawId", or: "MISSING_RAW_ID")
        if let owner = self.account(provider: provider, rawID: rawID), owner.id != account.id {
            throw AuthFailure("FEDERATED_USER_ID_ALREADY_LINKED")
        }
        account.links.removeAll { $0.provider == provider }
        account.links.append(
            LocalAccount.ProviderLink(
                provider: provider, rawID: rawID, email: info.text("email"), displayName: info.text("displayName"),
                photoURL: info.text("photoUrl"), screenName: info.text("screenName")))
    }

    private func replaceFactors(of account: inout LocalAccount, _ given: AuthCall) throws(AuthFailure) {
        var factors: [LocalAccount.SecondFactor] = []
        for entry in given.fields["enrollments"]?.array ?? [] {
            guard let text = entry["phoneInfo"]?.string else { throw AuthFailure("INVALID_MFA_PHONE_NUMBER") }
            let since = entry["enrolledAt"]?.string.flatMap { RFC3339.parse($0) }.map { $0.seconds * 1000 }
            factors.append(
                LocalAccount.SecondFactor(
                    id: entry["mfaEnrollmentId"]?.string ?? RandomID.make(length: 28),
                    displayName: entry["displayName"]?.string, enrolledAt: since ?? given.milliseconds,
                    phoneNumber: try AccountDatabase.number(text)))
        }
        account.factors = factors
    }
}
