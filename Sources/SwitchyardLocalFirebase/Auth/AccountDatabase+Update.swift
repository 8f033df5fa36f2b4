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

/// Administrators' operations on many accounts at once.
extension AccountDatabase {
    private static let batchLimit = 1000

    /// Imports accounts from another service. Those that cannot be imported are reported individually.
    mutating func createMany(_ call: AuthCall) throws(AuthFailure) -> JSONObject {
        let users = call.fields["users"]?.array ?? []
        guard !users.isEmpty else { throw AuthFailure("MISSING_USER_ACCOUNT") }
        guard users.count <= Self.batchLimit else { throw AuthFailure("MAXIMUM_USER_COUNT_EXCEEDED") }
        let overwrites = call.flag("allowOverwrite") ?? false
        var errors: [JSON] = []
        for (index, user) in users.enumerated() {
            do throws(Refusal) {
                let account = try imported(user, overwrites: overwrites, call)
                accounts[account.id] = account
            } catch {
                errors.append(["index": .integer(Int64(index)), "message": .string(error.message)])
            }
        }
        return ["kind": "identitytoolkit#UploadAccountResponse", "error": .array(errors)]
    }

    private struct Refusal: Error {
        let message: String
    }

    /// Imports have their own texts for claims that cannot be.
    private static func importing(_ failure: AuthFailure) -> String {
        switch failure.message {
        case "INVALID_CLAIMS": "Invalid custom claims provided."
        case "CLAIMS_TOO_LARGE": "Custom claims provided are too large."
        default: "Custom claims provided include a reserved claim."
        }
    }

    private func imported(_ user: JSON, overwrites: Bool, _ call: AuthCall) throws(Refusal) -> LocalAccount {
        guard let id = user["localId"]?.string, !id.isEmpty else { throw Refusal(message: "localId is missing") }
        guard overwrites || accounts[id] == nil else {
            throw Refusal(message: "localId belongs to an existing account - can not overwrite.")
        }
        var account = LocalAccount(id: id, milliseconds: call.milliseconds)
        if let text = user["email"]?.string {
            guard let email = try? AccountDatabase.email(text) else { throw Refusal(message: "email is invalid") }
            if let owner = self.account(email: email), owner.id != id {
                throw Refusal(message: "email exists in other account in database")
            }
            account.email = email
        }
        if let text = user["phoneNumber"]?.string {
            guard let number = try? AccountDatabase.number(text) else {
                throw Refusal(message: "phone number format is invalid")
            }
            if let owner = self.account(phoneNumber: number), owner.id != id {
                throw Refusal(message: "phone number exists in other account in database")
            }
            account.phoneNumber = number
        }
        if let text = user["customAttributes"]?.string {
            do throws(AuthFailure) { account.customAttributes = try AccountDatabase.claims(text) } catch {
                throw Refusal(message: Self.importing(error))
            }
        }
        if let password = user["rawPassword"]?.string {
            account.password = StoredPassword(password)
            account.passwordUpdatedAt = call.milliseconds
        }
        account.isEmailVerified = user["emailVerified"]?.bool ?? false
        account.isDisabled = user["disabled"]?.bool ?? false
        account.createdAt = Self.number(user["createdAt"]) ?? account.createdAt
        account.lastLoginAt = Self.number(user["lastLoginAt"])
        account.validSince = Self.number(user["validSince"]) ?? account.validSince
        account.isImported = true
        account.displayName = user["displayName"]?.string
        account.photoURL = user["photoUrl"]?.string
        for info in user["providerUserInfo"]?.array ?? [] {
            guard let provider = info["providerId"]?.string, !["password", "phone"].contains(provider),
                let rawID = info["rawId"]?.string
            else { continue }
            account.links.append(
                LocalAccount.ProviderLink(
                    provider: provider, rawID: rawID, email: info["email"]?.string,
                    displayName: info["displayName"]?.string, photoURL: info["photoUrl"]?.string))
        }
        return account
    }

    /// A number, which is usually written as text.
    private static func number(_ json: JSON?) -> Int64? { json?.int64 ?? json?.string.flatMap { Int64($0) } }

    mutating func deleteMany(_ call: AuthCall) throws(AuthFailure) -> JSONObject {
        let ids = call.list("localIds")
        guard (1...Self.batchLimit).contains(ids.count) else { throw AuthFailure("LOCAL_ID_LIST_EXCEEDS_LIMIT") }
        let isForced = call.flag("force") ?? false
        var errors: [JSON] = []
        for (index, id) in ids.enumerated() {
            guard let account = accounts[id] else { continue }
            guard isForced || account.isDisabled == true else {
                errors.append([
                    "index": .integer(Int64(index)), "localId": .string(id),
                    "message": "NOT_DISABLED : Disable the account before batch deletion.",
                ])
                continue
            }
            accounts[id] = nil
            mailedCodes.removeAll { $0.userID == id }
        }
        return errors.isEmpty ? [:] : ["errors": .array(errors)]
    }

    /// The number of accounts, and a list of them.
    func query(_ call: AuthCall) throws(AuthFailure) -> JSONObject {
        guard call.fields["expression"] == nil else { throw .notImplemented("expression is not implemented.") }
        var answer: JSONObject = ["recordsCount": .string(String(accounts.count))]
        guard call.flag("returnUserInfo") != false else { return answer }
        let isDescending = call.text("order") == "DESC"
        let sorted = accounts.values.sorted { isDescending ? $0.id > $1.id : $0.id < $1.id }
        let offset = max(call.text("offset").flatMap { Int($0) } ?? 0, 0)
        let limit = min(max(call.text("limit").flatMap { Int($0) } ?? 500, 0), 500)
        answer["userInfo"] = .array(sorted.dropFirst(offset).prefix(limit).map { .object(description(of: $0)) })
        return answer
    }
}
