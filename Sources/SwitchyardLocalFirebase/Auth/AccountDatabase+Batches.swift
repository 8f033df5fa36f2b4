import SwitchyardBytes

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
                throw Refusal(message: error.message)
            }
        }
        if let password = user["rawPassword"]?.string {
            account.password = StoredPassword(password)
            account.passwordUpdatedAt = call.milliseconds
        }
        account.isEmailVerified = user["emailVerified"]?.bool ?? false
        account.isDisabled = user["disabled"]?.bool ?? false
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

    mutating func deleteMany(_ call: AuthCall) throws(AuthFailure) -> JSONObject {
        let ids = call.list("localIds")
        guard (1...Self.batchLimit).contains(ids.count) else { throw AuthFailure("LOCAL_ID_LIST_EXCEEDS_LIMIT") }
        let isForced = call.flag("force") ?? false
        var errors: [JSON] = []
        for (index, id) in ids.enumerated() {
            guard let account = accounts[id] else { continue }
            guard isForced || account.isDisabled else {
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
