import SwitchyardBytes
import SwitchyardServerKit

/// Signing in with an account at an identity provider.
extension AccountDatabase {
    mutating func signInWithIdentity(_ call: AuthCall) throws(AuthFailure) -> JSONObject {
        let assertion = try assertion(call)
        do throws(AuthFailure) {
            if call.text("idToken") != nil { return try link(assertion, call) }
            return try signIn(with: assertion, call)
        } catch {
            // If the caller asks for the credential, some refusals include it and then look like success.
            let returned = ["FEDERATED_USER_ID_ALREADY_LINKED", "EMAIL_EXISTS"]
            guard call.flag("returnIdpCredential") == true, returned.contains(error.message) else { throw error }
            var answer = assertion.answer
            answer["emailVerified"] = .bool(assertion.isEmailVerified)
            answer["errorMessage"] = .string(error.message)
            answer["pendingToken"] = .string(pendingToken(assertion, call))
            return answer
        }
    }

    /// The user with the provider's ID, or with a confirmed address; otherwise a new one.
    private mutating func signIn(with assertion: IdentityAssertion, _ call: AuthCall) throws(AuthFailure) -> JSONObject
    {
        var answer = assertion.answer
        var account: LocalAccount
        var isNew = false
        if let known = self.account(provider: assertion.provider, rawID: assertion.rawID) {
            account = known
            account.links.removeAll { $0.provider == assertion.provider }
        } else if !settings.allowsDuplicateEmails, let email = assertion.email, let owner = self.account(email: email) {
            guard assertion.isEmailVerified else {
                answer["needConfirmation"] = true
                answer["localId"] = .string(owner.id)
                answer["verifiedProvider"] = .array(
                    owner.isEmailVerified ? AccountDatabase.methods(of: owner).map { .string($0) } : [])
                answer["pendingToken"] = .string(pendingToken(assertion, call))
                return answer
            }
            account = owner
            if !owner.isEmailVerified {
                // The creator of the account never proved ownership of the address, so their credentials are removed.
                account.password = nil
                account.phoneNumber = nil
                account.links = []
                account.factors = []
                account.usesEmailLink = false
                account.revokeSessions(at: call.seconds)
            }
            account.isEmailVerified = true
        } else {
            guard call.flag("autoCreate") != false else { throw AuthFailure("USER_NOT_FOUND") }
            account = newAccount(call)
            account.isEmailVerified = assertion.isEmailVerified
            isNew = true
        }
        guard account.isDisabled != true else { throw AuthFailure("USER_DISABLED") }
        take(assertion, into: &account)
        if isNew { answer["isNewUser"] = true }
        accounts[account.id] = account
        return try signIn(
            account.id, AuthSignIn(provider: assertion.provider, at: call.seconds), call, adding: answer)
    }

    private mutating func link(_ assertion: IdentityAssertion, _ call: AuthCall) throws(AuthFailure) -> JSONObject {
        var (account, token) = try signedIn(call)
        if self.account(provider: assertion.provider, rawID: assertion.rawID) != nil {
            throw AuthFailure("FEDERATED_USER_ID_ALREADY_LINKED")
        }
        if !settings.allowsDuplicateEmails, let email = assertion.email { try checkIsFree(email, for: account.id) }
        account.links.removeAll { $0.provider == assertion.provider }
        account.links.append(assertion.link)
        if account.email == nil {
            account.email = assertion.email
            account.isEmailVerified = assertion.isEmailVerified
        } else if account.email == assertion.email, assertion.isEmailVerified {
            account.isEmailVerified = true
        }
        accounts[account.id] = account
        var signIn = continued(token)
        signIn.provider = assertion.provider
        signIn.at = call.seconds
        var answer = assertion.answer
        answer["localId"] = .string(account.id)
        answer["emailVerified"] = .bool(assertion.isEmailVerified)
        for member in tokens(of: account, signIn, call).members { answer[member.key] = member.value }
        return answer
    }

    private func take(_ assertion: IdentityAssertion, into account: inout LocalAccount) {
        account.links.append(assertion.link)
        account.displayName = assertion.displayName ?? account.displayName
        account.photoURL = assertion.photoURL ?? account.photoURL
        account.screenName = assertion.screenName ?? account.screenName
        if let email = assertion.email, account.email == nil {
            account.email = email
            account.isEmailVerified = assertion.isEmailVerified
        }
    }

    // MARK: Parsing assertions

    private func assertion(_ call: AuthCall) throws(AuthFailure) -> IdentityAssertion {
        guard let address = call.text("requestUri") else { throw AuthFailure("MISSING_REQUEST_URI") }
        guard AuthCall.isAddress(address) else { throw AuthFailure("INVALID_REQUEST_URI") }
        guard call.flag("returnRefreshToken") != true else {
            throw .notImplemented("returnRefreshToken is not implemented yet.")
        }
        // With a trailing slash, as written by URL parsers.
        let normal = address.dropFirst(8).contains("/") ? address : address + "/"
        if let token = call.text("pendingToken") {
            guard let content = call.seal.open(token, as: .pendingCredential), let text = content["form"]?.string,
                let form = FormCoding.decode(text)
            else {
                throw AuthFailure("INVALID_CREDENTIAL_OR_PROVIDER_ID : Invalid IdP response/credential: \(normal)")
            }
            return try IdentityAssertion(form, at: normal)
        }
        if let body = call.text("postBody"), let form = FormCoding.decode(body) {
            return try IdentityAssertion(form, at: "\(normal)?\(body)")
        }
        let behind = ["?", "#"].compactMap { mark in
            address.split(separator: mark, maxSplits: 1).dropFirst().first.map { $0.prefix { $0 != "#" } }
        }
        let items = behind.compactMap { FormCoding.decode($0) }.flatMap { $0 }
        if items.contains(where: { $0.name == "providerId" }) { return try IdentityAssertion(items, at: normal) }
        // The browser returned: its code is valid only for the session that was started.
        guard let code = items.first(where: { $0.name == "code" })?.value,
            let content = call.seal.open(code, as: .browserCode),
            let session = call.text("sessionId"), content["session"]?.string == session,
            call.seal.open(session, as: .browserSession) != nil,
            let text = content["form"]?.string, let form = FormCoding.decode(text)
        else {
            throw AuthFailure("INVALID_CREDENTIAL_OR_PROVIDER_ID : Invalid IdP response/credential: \(normal)")
        }
        return try IdentityAssertion(form, at: normal)
    }

    private func pendingToken(_ assertion: IdentityAssertion, _ call: AuthCall) -> String {
        var items = [(name: "providerId", value: assertion.provider), (name: "id_token", value: assertion.claims)]
        if let token = assertion.accessToken { items.append((name: "access_token", value: token)) }
        return call.seal.close(["form": .string(FormCoding.encode(items))], as: .pendingCredential)
    }

    // MARK: Sign-in methods

    /// The sign-in methods of an address, and the page of a provider for a browser.
    mutating func createAuthURI(_ call: AuthCall) throws(AuthFailure) -> JSONObject {
        let back = try call.required("continueUri", or: "MISSING_CONTINUE_URI")
        guard AuthCall.isAddress(back) else { throw AuthFailure("INVALID_CONTINUE_URI") }
        let provider = call.text("providerId")
        // A caller that passes a session ID expects it back; a browser's session ID has to be sealed.
        let given = provider == nil ? call.text("sessionId") : nil
        let session =
            given
            ?? call.seal.close(
                ["provider": provider.map { .string($0) } ?? .null, "nonce": .string(RandomID.make())],
                as: .browserSession)
        var answer: JSONObject = [
            "kind": "identitytoolkit#CreateAuthUriResponse", "sessionId": .string(session),
        ]
        if let provider {
            let query = FormCoding.encode(
                [
                    (name: "providerId", value: provider), (name: "session", value: session),
                    (name: "back", value: back), (name: "state", value: RandomID.make()),
                ],
                space: .percent)
            answer["providerId"] = .string(provider)
            answer["authUri"] = .string("\(call.origin)/emulator/browser?\(query)")
        }
        if let identifier = call.text("identifier") {
            guard let email = try? AccountDatabase.email(identifier) else { throw AuthFailure("INVALID_IDENTIFIER") }
            if !settings.protectsEmails {
                let account = account(email: email)
                let methods = account.map(AccountDatabase.methods) ?? []
                answer["registered"] = .bool(account != nil)
                answer["allProviders"] = .array(
                    Set(methods.map { $0 == "emailLink" ? "password" : $0 }).sorted().map { .string($0) })
                answer["signinMethods"] = .array(methods.map { .string($0) })
            }
        } else if provider == nil {
            throw AuthFailure("MISSING_IDENTIFIER")
        }
        return answer
    }

    static func methods(of account: LocalAccount) -> [String] {
        (account.password == nil ? [] : ["password"]) + (account.usesEmailLink ? ["emailLink"] : [])
            + account.links.map(\.provider)
    }
}
