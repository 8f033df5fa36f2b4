import SwitchyardBytes

/// Looking up and deleting accounts.
extension AccountDatabase {
    mutating func lookup(_ call: AuthCall) throws(AuthFailure) -> JSONObject {
        let found: [LocalAccount]
        if call.isAdmin, call.text("idToken") == nil {
            let ids = Set(call.list("localId"))
            let emails = Set(call.list("email").map { $0.lowercased() })
            let numbers = Set(call.list("phoneNumber"))
            guard call.fields["initialEmail"] == nil else {
                throw .notImplemented("Lookup by initialEmail is not implemented.")
            }
            let linked = Set(
                (call.fields["federatedUserId"]?.array ?? []).compactMap { person in
                    person["rawId"]?.string.flatMap { id in
                        self.account(provider: person["providerId"]?.string ?? "", rawID: id)?.id
                    }
                })
            found = accounts.values.filter { account in
                ids.contains(account.id) || linked.contains(account.id)
                    || account.email.map { emails.contains($0) } ?? false
                    || account.phoneNumber.map { numbers.contains($0) } ?? false
            }
        } else {
            found = [try signedIn(call).account]
        }
        var answer: JSONObject = ["kind": "identitytoolkit#GetAccountInfoResponse"]
        if !found.isEmpty { answer["users"] = .array(found.map { .object(description(of: $0)) }) }
        return answer
    }

    /// For administrators: all accounts in pages, sorted by ID.
    func list(_ call: AuthCall) throws(AuthFailure) -> JSONObject {
        if let text = call.text("maxResults"), Int(text) == nil { throw .malformed("", "must be integer") }
        let after = call.text("nextPageToken") ?? ""
        let rest = accounts.values.filter { $0.id > after }.sorted { $0.id < $1.id }
        let wanted = call.text("maxResults").flatMap { Int($0) } ?? 0
        // A negative number stands for all, as with the vendor's emulator.
        let count = wanted < 0 ? Int.max : wanted == 0 ? 20 : min(wanted, 1000)
        var answer: JSONObject = [
            "kind": "identitytoolkit#DownloadAccountResponse",
            "users": .array(rest.prefix(count).map { .object(description(of: $0)) }),
        ]
        // A full page has a token, even if it is the last: the next one is empty then.
        if rest.count >= count { answer["nextPageToken"] = .string(rest[count - 1].id) }
        return answer
    }

    mutating func delete(_ call: AuthCall) throws(AuthFailure) -> JSONObject {
        let id: String
        if call.isAdmin, call.fields["idToken"] == nil {
            let named = try call.required("localId", or: "MISSING_LOCAL_ID")
            guard accounts[named] != nil else { throw AuthFailure("USER_NOT_FOUND") }
            id = named
        } else {
            id = try recentlySignedIn(call).account.id
        }
        accounts[id] = nil
        mailedCodes.removeAll { $0.userID == id }
        return ["kind": "identitytoolkit#DeleteAccountResponse"]
    }

    /// An account as shown to its owner and to administrators.
    func description(of account: LocalAccount) -> JSONObject {
        var user: JSONObject = [
            "localId": .string(account.id), "createdAt": .string(String(account.createdAt)),
        ]
        // Unset values are omitted.
        user["lastLoginAt"] = account.lastLoginAt.map { .string(String($0)) }
        user["lastRefreshAt"] = account.lastRefreshAt.map { .string(AccountDatabase.time(milliseconds: $0)) }
        if account.email != nil || account.isImported == true { user["emailVerified"] = .bool(account.isEmailVerified) }
        user["disabled"] = account.isDisabled.map { .bool($0) }
        if account.password != nil || account.revocations > 0 || account.isImported == true {
            user["validSince"] = .string(String(account.validSince))
        }
        user["email"] = account.email.map { .string($0) }
        user["initialEmail"] = account.initialEmail.map { .string($0) }
        user["displayName"] = account.displayName.map { .string($0) }
        user["photoUrl"] = account.photoURL.map { .string($0) }
        user["screenName"] = account.screenName.map { .string($0) }
        user["phoneNumber"] = account.phoneNumber.map { .string($0) }
        user["customAttributes"] = account.customAttributes.map { .string($0) }
        user["passwordUpdatedAt"] = account.passwordUpdatedAt.map { .integer($0) }
        if account.password != nil {
            user["passwordHash"] = AccountDatabase.redacted
            user["salt"] = AccountDatabase.redacted
        }
        if account.isCustom { user["customAuth"] = true }
        if account.usesEmailLink { user["emailLinkSignin"] = true }
        let providers = providers(of: account)
        if !providers.isEmpty { user["providerUserInfo"] = .array(providers) }
        if !account.factors.isEmpty { user["mfaInfo"] = .array(account.factors.map { factorInfo($0, isOwner: true) }) }
        return user
    }

    /// Replaces values that are not returned.
    static let redacted: JSON = "UkVEQUNURUQ="

    /// The account's sign-in methods, including password and phone.
    func providers(of account: LocalAccount) -> [JSON] {
        var providers: [JSON] = []
        if let email = account.email, account.password != nil || account.usesEmailLink {
            var info: JSONObject = [
                "providerId": "password", "email": .string(email), "federatedId": .string(email),
                "rawId": .string(email),
            ]
            info["displayName"] = account.displayName.map { .string($0) }
            info["photoUrl"] = account.photoURL.map { .string($0) }
            providers.append(.object(info))
        }
        if let number = account.phoneNumber {
            providers.append(["providerId": "phone", "phoneNumber": .string(number), "rawId": .string(number)])
        }
        for link in account.links {
            var info: JSONObject = [
                "providerId": .string(link.provider), "rawId": .string(link.rawID),
                "federatedId": .string(link.rawID),
            ]
            info["email"] = link.email.map { .string($0) }
            info["displayName"] = link.displayName.map { .string($0) }
            info["photoUrl"] = link.photoURL.map { .string($0) }
            info["screenName"] = link.screenName.map { .string($0) }
            providers.append(.object(info))
        }
        return providers
    }

    /// A second factor. Only its owner sees a complete phone number.
    func factorInfo(_ factor: LocalAccount.SecondFactor, isOwner: Bool) -> JSON {
        var info: JSONObject = [
            "mfaEnrollmentId": .string(factor.id)
        ]
        info["enrolledAt"] = factor.enrolledAt.map { .string(AccountDatabase.time(milliseconds: $0)) }
        info["displayName"] = factor.displayName.map { .string($0) }
        if let number = factor.phoneNumber {
            let hidden = "+" + String(repeating: "*", count: max(0, number.count - 5)) + number.suffix(4)
            info["phoneInfo"] = .string(isOwner ? number : hidden)
            if isOwner { info["unobfuscatedPhoneInfo"] = .string(number) }
        } else {
            info["totpInfo"] = [:]
        }
        return .object(info)
    }

    static func time(milliseconds: Int64) -> String {
        let (seconds, rest) = milliseconds.quotientAndRemainder(dividingBy: 1000)
        let moment = RFC3339.Moment(
            seconds: rest < 0 ? seconds - 1 : seconds, nanoseconds: Int32(rest < 0 ? rest + 1000 : rest) * 1_000_000)
        return RFC3339.format(moment, fraction: .digits(3))
    }
}
