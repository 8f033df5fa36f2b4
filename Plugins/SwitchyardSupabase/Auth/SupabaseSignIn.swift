import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardProviderKit
import SwitchyardWire

/// The calls for each kind of credential.
extension SupabaseAuthAdapter {
    /// - Parameter current: The account that is signed in on this device.
    static func grant(
        _ credential: AuthCredential, _ service: SupabaseAuthService, current: AuthUser.ID? = nil
    ) async throws(SupabaseAuthFailure) -> SupabaseGrant {
        switch credential.kind {
        case .anonymous:
            // An empty object works, but an empty body does not.
            return try SupabaseGrant(
                session: try await service.call(.post, "/signup", ["data": [:]]), at: service.now())
        case .password(let email, let password):
            return try await service.token(
                "password", ["email": .string(email), "password": .string(password.reveal())])
        case .customToken:
            throw SupabaseAuthFailure(
                .own(
                    .unsupported(
                        "custom tokens", by: "supabase", instead: "Use an identity token, or third-party sessions.")))
        case .identityToken:
            return try await service.token("id_token", service.identity(credential))
        case .browser(let signIn, let callback):
            return try await service.exchange(signIn, callback)
        case .phoneCode(let verification, let code):
            return try await service.session(
                verifying: [
                    "type": "sms", "phone": .string(verification.phoneNumber), "token": .string(code.reveal()),
                ])
        case .emailLink(let email, let link):
            return try await service.session(ofLink: link, email, current)
        }
    }
}

extension SupabaseAuthFailure {
    /// A new address that must be confirmed from both mailboxes.
    fileprivate static let halfConfirmed = own(
        .emailNotConfirmed, "The link was accepted. Open the one in the email to the other address, too.")
}

extension SupabaseAuthService {
    func identity(_ credential: AuthCredential) -> JSONObject {
        guard case .identityToken(let provider, let token, let access, let nonce) = credential.kind else { return [:] }
        var body: JSONObject = ["provider": .string(provider.supabaseName), "id_token": .string(token.reveal())]
        body["access_token"] = access.map { .string($0.reveal()) }
        // The raw nonce: the token contains its hash.
        body["nonce"] = nonce.map(JSON.string)
        return body
    }

    func exchange(_ signIn: BrowserSignIn, _ callback: URL) async throws(SupabaseAuthFailure) -> SupabaseGrant {
        let items = try Self.items(of: callback, for: signIn.redirectURL)
        guard let code = items["code"] else {
            throw .own(.invalidCredential, "The redirect URL contains no code. Begin the sign-in again.")
        }
        return try await token("pkce", ["auth_code": .string(code), "code_verifier": .string(signIn.verifier)])
    }

    /// Signs in with the link from the email, or the address to which it leads.
    ///
    /// A link says nothing about its account, so it may be another user's: the account's address has to be the one that the
    /// user entered. Only the link for a change of the `current` account's address may have been sent to the old one.
    func session(
        ofLink link: URL, _ email: String, _ current: AuthUser.ID?
    ) async throws(SupabaseAuthFailure) -> SupabaseGrant {
        let items = try Self.items(of: link)
        let grant = try await grant(items)
        let isOwnChange = items["type"] == "email_change" && grant.user.id == current
        guard isOwnChange || grant.user.email?.lowercased() == email.lowercased() else {
            // A session that came with the address was not made by this call.
            if items["access_token"] == nil { await giveBack(grant) }
            throw SupabaseAuthFailure(.own(.otherAddress))
        }
        return grant
    }

    private func grant(_ items: [String: String]) async throws(SupabaseAuthFailure) -> SupabaseGrant {
        if let access = items["access_token"], let refresh = items["refresh_token"] {
            let user = try await call(.get, "/user", as: Secret(access))
            var session: JSONObject = [
                "access_token": .string(access), "refresh_token": .string(refresh), "user": user,
            ]
            session["expires_in"] = items["expires_in"].flatMap { Int64($0) }.map(JSON.integer)
            return try SupabaseGrant(session: .object(session), at: now())
        }
        if let hash = items["token_hash"] ?? items["token"] {
            // One name covers both sign-in and confirmation; only a new address has a separate one.
            let type = items["type"] == "email_change" ? "email_change" : "email"
            return try await session(verifying: ["type": .string(type), "token_hash": .string(hash)])
        }
        guard items["message"] == nil else { throw SupabaseAuthFailure.halfConfirmed }
        throw .own(.invalidCredential, "This is not a sign-in link. Pass the whole link of the mail.")
    }

    /// Ends a new session on the server, if possible, because this device does not use it.
    func giveBack(_ grant: SupabaseGrant) async {
        _ = try? await call(.post, "/logout?scope=local", as: grant.tokens.access)
    }

    func session(verifying body: JSONObject) async throws(SupabaseAuthFailure) -> SupabaseGrant {
        let answer = try await call(.post, "/verify", body)
        guard answer["access_token"] != nil else {
            // Confirmed, but not yet from both mailboxes.
            throw SupabaseAuthFailure.halfConfirmed
        }
        return try SupabaseGrant(session: answer, at: now())
    }

    /// Verifies a code with a new challenge, so that nothing has to be stored in between.
    func verify(
        _ factor: SecondFactor.ID, _ code: Secret, as bearer: Secret
    ) async throws(SupabaseAuthFailure) -> SupabaseGrant {
        let factorPath = "/factors/\(PercentCoding.encode(factor))"
        guard let id = try await call(.post, "\(factorPath)/challenge", [:], as: bearer)["id"]?.string else {
            throw SupabaseAuthFailure.unreadable
        }
        let answer = try await call(
            .post, "\(factorPath)/verify", ["challenge_id": .string(id), "code": .string(code.reveal())], as: bearer)
        return try SupabaseGrant(session: answer, at: now())
    }

    /// Stores a factor's name in the user's own data, since the service names factors only until they are verified.
    ///
    /// - Returns: The account with the name.
    func name(
        factor: SecondFactor.ID, _ name: String, of grant: SupabaseGrant
    ) async throws(SupabaseAuthFailure) -> AuthUser {
        let bearer = grant.tokens.access
        let own = try await call(.get, "/user", as: bearer)["user_metadata"]
        var names = own?[SecondFactor.namesKey]?.object ?? [:]
        names[factor] = .string(name)
        let json = try await call(
            .put, "/user", ["data": .object([SecondFactor.namesKey: .object(names)])], as: bearer)
        guard let user = AuthUser(supabase: json), user.id == grant.user.id else { throw .unreadable }
        return user
    }

    /// The items of an address, from its query and, always for failures, from its fragment.
    private static func items(
        of address: URL, for expected: URL? = nil
    ) throws(SupabaseAuthFailure) -> [String: String] {
        let text = address.absoluteString
        func withoutQuery(_ text: String) -> Substring { text.prefix { $0 != "?" && $0 != "#" } }
        if let expected, withoutQuery(text) != withoutQuery(expected.absoluteString) {
            throw .own(
                .invalidArgument, "This is not the sign-in's redirect URL. Pass the one that the browser came back to.")
        }
        var items: [String: String] = [:]
        for part in text.split(whereSeparator: { $0 == "?" || $0 == "#" }).dropFirst() {
            for item in FormCoding.decode(part) ?? [] where items[item.name] == nil { items[item.name] = item.value }
        }
        guard items["error"] == nil, items["error_code"] == nil else {
            let isExpired = items["error_code"]?.hasSuffix("_expired") == true
            throw .own(
                isExpired ? .codeExpired : .invalidCredential,
                isExpired
                    ? "The link has expired. Request a new one."
                    : "The sign-in was cancelled or refused. Begin it again.")
        }
        return items
    }
}
