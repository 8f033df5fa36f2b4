import SwitchyardBytes
import SwitchyardServerKit

/// How a user signed in; it goes into the tokens and stays when they are refreshed.
struct AuthSignIn: Sendable {
    /// `password`, `anonymous`, `custom`, `phone`, or the identity provider.
    var provider: String
    /// In seconds.
    var at: Int64
    /// Claims of a custom token.
    var claims = JSONObject()
    /// The kind and the ID of the second factor that was verified.
    var factor: (kind: String, id: String)?
}

extension AccountDatabase {
    /// The last step of every successful sign-in: returns either the tokens, or the second-factor challenge.
    mutating func signIn(
        _ id: String, _ signIn: AuthSignIn, _ call: AuthCall, adding extra: JSONObject = JSONObject()
    ) throws(AuthFailure) -> JSONObject {
        guard var account = accounts[id] else { throw AuthFailure("USER_NOT_FOUND") }
        guard account.isDisabled != true else { throw AuthFailure("USER_DISABLED") }
        var answer = extra
        answer["localId"] = .string(id)
        if signIn.factor == nil, !account.factors.isEmpty {
            answer["mfaPendingCredential"] = .string(pendingCredential(id, signIn, call))
            answer["mfaInfo"] = .array(account.factors.map { factorInfo($0, isOwner: false) })
            return answer
        }
        account.lastLoginAt = call.milliseconds
        account.lastRefreshAt = call.milliseconds
        accounts[id] = account
        for member in tokens(of: account, signIn, call).members { answer[member.key] = member.value }
        return answer
    }

    /// New tokens for an existing session.
    func tokens(of account: LocalAccount, _ signIn: AuthSignIn, _ call: AuthCall) -> JSONObject {
        [
            "idToken": .string(idToken(of: account, signIn, call)),
            "refreshToken": .string(refreshToken(of: account, signIn, call)), "expiresIn": "3600",
        ]
    }

    func idToken(of account: LocalAccount, _ signIn: AuthSignIn, _ call: AuthCall) -> String {
        var claims = JSONObject()
        if let name = account.displayName { claims["name"] = .string(name) }
        if let picture = account.photoURL { claims["picture"] = .string(picture) }
        if let text = account.customAttributes, let own = (try? JSON(parsing: text))?.object {
            for member in own.members { claims[member.key] = member.value }
        }
        for member in signIn.claims.members { claims[member.key] = member.value }
        var identities = JSONObject()
        if let email = account.email {
            claims["email"] = .string(email)
            claims["email_verified"] = .bool(account.isEmailVerified)
            identities["email"] = [.string(email)]
        }
        if let number = account.phoneNumber {
            claims["phone_number"] = .string(number)
            identities["phone"] = [.string(number)]
        }
        for link in account.links { identities[link.provider] = [.string(link.rawID)] }
        if signIn.provider == "anonymous" { claims["provider_id"] = "anonymous" }
        var firebase: JSONObject = [
            "identities": .object(identities), "sign_in_provider": .string(signIn.provider),
        ]
        if let factor = signIn.factor {
            firebase["sign_in_second_factor"] = .string(factor.kind)
            firebase["second_factor_identifier"] = .string(factor.id)
        }
        claims["firebase"] = .object(firebase)
        claims["iss"] = .string("https://securetoken.google.com/\(call.project)")
        claims["aud"] = .string(call.project)
        claims["sub"] = .string(account.id)
        claims["user_id"] = .string(account.id)
        claims["auth_time"] = .integer(signIn.at)
        claims["iat"] = .integer(call.seconds)
        claims["exp"] = .integer(call.seconds + 3600)
        return LocalIDToken(claims: claims, stamp: stamp(of: account)).text(call.signer)
    }

    private func refreshToken(of account: LocalAccount, _ signIn: AuthSignIn, _ call: AuthCall) -> String {
        var content = AccountDatabase.json(signIn)
        content["user"] = .string(account.id)
        content["project"] = .string(call.project)
        content["revocations"] = .integer(Int64(account.revocations))
        // Two refreshes within a second return different tokens, as with the vendor.
        content["nonce"] = .string(RandomID.make(length: 8))
        return call.seal.close(.object(content), as: .refreshToken)
    }

    /// `POST /v1/token`: the only answer in snake case.
    mutating func refresh(_ call: AuthCall) throws(AuthFailure) -> JSONObject {
        guard call.text("grantType") == "refresh_token" else {
            throw AuthFailure(call.text("grantType") == nil ? "MISSING_GRANT_TYPE" : "INVALID_GRANT_TYPE")
        }
        let text = try call.required("refreshToken", or: "MISSING_REFRESH_TOKEN")
        guard let content = call.seal.open(text, as: .refreshToken), content["project"]?.string == call.project,
            let id = content["user"]?.string
        else { throw AuthFailure("INVALID_REFRESH_TOKEN") }
        guard var account = accounts[id] else { throw AuthFailure("USER_NOT_FOUND") }
        guard account.isDisabled != true else { throw AuthFailure("USER_DISABLED") }
        guard content["revocations"]?.int == account.revocations else { throw AuthFailure("TOKEN_EXPIRED") }
        account.lastRefreshAt = call.milliseconds
        accounts[id] = account
        let fresh = tokens(of: account, AccountDatabase.signIn(content), call)
        let idToken = fresh["idToken"] ?? .null
        return [
            "access_token": idToken, "id_token": idToken, "refresh_token": fresh["refreshToken"] ?? .null,
            "expires_in": "3600", "token_type": "Bearer", "user_id": .string(id), "project_id": "12345",
        ]
    }

    /// For administrators: a token for a web server's cookies, which is valid for longer.
    func makeCookie(_ call: AuthCall) throws(AuthFailure) -> JSONObject {
        let (account, token) = try signedIn(call)
        let duration = call.text("validDuration").flatMap { Int64($0) } ?? 14 * 86_400
        guard (300...(14 * 86_400)).contains(duration) else { throw AuthFailure("INVALID_DURATION") }
        var claims = token.claims
        claims["iss"] = .string("https://session.firebase.google.com/\(call.project)")
        claims["iat"] = .integer(call.seconds)
        claims["exp"] = .integer(call.seconds + duration)
        return ["sessionCookie": .string(LocalIDToken(claims: claims, stamp: stamp(of: account)).text(call.signer))]
    }

    // MARK: Sign-ins in sealed text

    static func json(_ signIn: AuthSignIn) -> JSONObject {
        var content: JSONObject = ["provider": .string(signIn.provider), "at": .integer(signIn.at)]
        if !signIn.claims.members.isEmpty { content["claims"] = .object(signIn.claims) }
        if let factor = signIn.factor {
            content["factorKind"] = .string(factor.kind)
            content["factor"] = .string(factor.id)
        }
        return content
    }

    static func signIn(_ content: JSONObject) -> AuthSignIn {
        var signIn = AuthSignIn(
            provider: content["provider"]?.string ?? "", at: content["at"]?.int64 ?? 0,
            claims: content["claims"]?.object ?? JSONObject())
        if let kind = content["factorKind"]?.string, let id = content["factor"]?.string { signIn.factor = (kind, id) }
        return signIn
    }

    private static let ownClaims: Set = [
        "name", "picture", "email", "email_verified", "phone_number", "provider_id", "firebase", "iss", "aud", "sub",
        "user_id", "auth_time", "iat", "exp",
    ]

    /// How the owner of a token signed in, for new tokens during a session.
    func continued(_ token: LocalIDToken) -> AuthSignIn {
        var signIn = AuthSignIn(provider: token.signInProvider, at: token.signedInAt)
        if signIn.provider == "custom" {
            // A custom token is gone once used; its claims stay in the tokens created from it.
            signIn.claims = JSONObject(distinct: token.claims.members.filter { !Self.ownClaims.contains($0.key) })
        }
        if let kind = token.firebase["sign_in_second_factor"]?.string,
            let id = token.firebase["second_factor_identifier"]?.string
        {
            signIn.factor = (kind, id)
        }
        return signIn
    }
}
