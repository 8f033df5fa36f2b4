import Foundation
public import Switchyard
import SwitchyardBytes
import SwitchyardProviderKit
import SwitchyardWire

/// Changes to the account of the signed-in user.
extension SupabaseAuthAdapter {
    /// Links an identity token, or gives an anonymous account an address and a password.
    @discardableResult
    public func link(_ credential: AuthCredential) async throws(AuthError) -> AuthUser {
        switch credential.kind {
        case .identityToken(let provider, _, _, _):
            return try await change { service, token throws(SupabaseAuthFailure) in
                var body = service.identity(credential)
                body["link_identity"] = true
                return .grant(try await service.token("id_token", body, as: token))
            } afterwards: { service, grant throws(SupabaseAuthFailure) in
                // The answer contains the identities before the change.
                if let json = try? await service.call(.get, "/user", as: grant.tokens.access),
                    let user = AuthUser(supabase: json), user.id == grant.user.id
                {
                    return user
                }
                var user = grant.user
                if !user.identities.contains(provider) { user.identities.append(provider) }
                return user
            }
        case .password(let email, let password):
            return try await change { service, token throws(SupabaseAuthFailure) in
                // The address comes first; the service refuses a password without one.
                let answer = try await service.call(.put, "/user", ["email": .string(email)], as: token)
                guard answer["email"]?.string?.lowercased() == email.lowercased() else {
                    throw .own(
                        .emailNotConfirmed, "Confirm the address with the mail that was sent, then set a password.")
                }
                return .user(
                    try await service.call(.put, "/user", ["password": .string(password.reveal())], as: token))
            }
        case .anonymous, .customToken, .browser, .phoneCode, .emailLink:
            throw .unsupported(
                "linking by \(credential.name)", by: provider,
                instead: "Link an identity token, or an address with a password.")
        }
    }

    @discardableResult
    public func unlink(_ provider: IdentityProvider) async throws(AuthError) -> AuthUser {
        try await change { service, token throws(SupabaseAuthFailure) in
            let user = try await service.call(.get, "/user", as: token)
            let identity = (user["identities"]?.array ?? []).first { $0["provider"]?.string == provider.supabaseName }
            guard let id = identity?["identity_id"]?.string else {
                throw .own(.invalidArgument, "The account has no identity of “\(provider)”.")
            }
            _ = try await service.call(.delete, "/user/identities/\(PercentCoding.encode(id))", as: token)
            return .user(try await service.call(.get, "/user", as: token))
        }
    }

    public func reauthenticate(with credential: AuthCredential) async throws(AuthError) {
        let session = try await engine.currentSession()
        if case .anonymous = credential.kind {
            throw AuthError(.invalidArgument, "An anonymous credential proves nothing. Use another one.")
        }
        try await uninterrupted { [self] () async throws(AuthError) in
            try await checkIsLinked(credential, in: session)
            let grant: SupabaseGrant
            do throws(SupabaseAuthFailure) {
                grant = try await SupabaseAuthAdapter.grant(credential, service, current: session.user.id)
            } catch {
                throw AuthError(error)
            }
            let isOther = grant.user.id != session.user.id
            if isOther || !grant.openFactors.isEmpty {
                // End the new session, which is not used; the current one stays.
                await service.giveBack(grant)
                throw isOther
                    ? .otherAccount
                    : AuthError(.secondFactorRequired, "The account has a second factor. Sign in with it again.")
            }
            let old = try? await engine.currentSession(session.id).tokens
            do throws(AuthError) {
                try await engine.update(grant.user, tokens: grant.tokens, in: session)
            } catch {
                await service.giveBack(grant)
                throw error
            }
            if let old { await logOut(old) }
        }
    }

    /// Refuses an identity that the account does not have, before the server is asked: it would make an account for it.
    private func checkIsLinked(_ credential: AuthCredential, in session: AuthSession) async throws(AuthError) {
        guard case .identityToken(let provider, let token, _, _) = credential.kind else { return }
        let (_, user) = try await onSession(of: session.id) { service, bearer throws(SupabaseAuthFailure) in
            try await service.call(.get, "/user", as: bearer)
        }
        let isLinked = (user["identities"]?.array ?? []).contains { identity in
            identity["provider"]?.string == provider.supabaseName
                && identity["id"]?.string == SupabaseGrant.subject(of: token)
        }
        guard isLinked else { throw .otherAccount }
    }

    @discardableResult
    public func updateAccount(_ changes: AccountChanges) async throws(AuthError) -> AuthUser {
        guard changes != AccountChanges() else { return try await reloadUser() }
        var body: JSONObject = [:]
        var own: JSONObject = [:]
        body["email"] = changes.email.map(JSON.string)
        body["password"] = changes.password.map { .string($0.reveal()) }
        // Values are merged with the existing ones; null removes one.
        own["full_name"] = changes.displayName.map { $0.isEmpty ? .null : .string($0) }
        own["avatar_url"] = (changes.photoURL?.absoluteString).map(JSON.string)
        if !own.isEmpty { body["data"] = .object(own) }
        let request = body
        return try await change { service, token throws(SupabaseAuthFailure) in
            .user(try await service.call(.put, "/user", request, as: token))
        }
    }

    @discardableResult
    public func reloadUser() async throws(AuthError) -> AuthUser {
        try await change { service, token throws(SupabaseAuthFailure) in
            .user(try await service.call(.get, "/user", as: token))
        }
    }

    // MARK: Second factors

    public func beginSecondFactor(_ kind: SecondFactor.Kind) async throws(AuthError) -> SecondFactorEnrollment {
        guard kind == .totp else {
            throw .unsupported("second factors by phone", by: provider, instead: "Use an authenticator app.")
        }
        let (_, answer) = try await onSession { service, token throws(SupabaseAuthFailure) in
            // Names must differ within an account; the user's own name is known only to the app.
            try await service.call(
                .post, "/factors", ["factor_type": "totp", "friendly_name": .string(RandomID.make(length: 8))],
                as: token)
        }
        guard let id = answer["id"]?.string, let key = answer["totp"]?["secret"]?.string,
            let uri = answer["totp"]?["uri"]?.string
        else { throw AuthError(SupabaseAuthFailure.unreadable) }
        return SecondFactorEnrollment(kind: .totp, sharedKey: Secret(key), uri: Secret(uri), session: Secret(id))
    }

    @discardableResult
    public func confirmSecondFactor(
        _ enrollment: SecondFactorEnrollment, code: Secret, displayName: String?
    ) async throws(AuthError) -> AuthUser {
        let id = enrollment.session.reveal()
        return try await change { service, token throws(SupabaseAuthFailure) in
            .grant(try await service.verify(id, code, as: token))
        } afterwards: { service, grant throws(SupabaseAuthFailure) in
            guard let displayName else { return grant.user }
            do throws(SupabaseAuthFailure) {
                return try await service.name(factor: id, displayName, of: grant)
            } catch {
                let reason = AuthError(error)
                throw SupabaseAuthFailure(
                    .own(
                        reason.saying(
                            "The second factor is confirmed, but its name could not be stored. Confirm it again with a new "
                                + "code to name it. \(reason.message)")))
            }
        }
    }

    @discardableResult
    public func removeSecondFactor(_ id: SecondFactor.ID) async throws(AuthError) -> AuthUser {
        try await change { service, token throws(SupabaseAuthFailure) in
            _ = try await service.call(.delete, "/factors/\(PercentCoding.encode(id))", as: token)
            return .user(try await service.call(.get, "/user", as: token))
        }
    }

    // MARK: Calls

    /// The account as a call returned it.
    enum Change: Sendable {
        case user(JSON)
        /// With new tokens, which replace the old ones.
        case grant(SupabaseGrant)
    }

    /// Makes a call that changes the account, and may return new tokens. It continues if the caller is cancelled, since the old
    /// tokens may be invalid by then.
    ///
    /// - Parameter afterwards: What completes the account after new tokens: they are stored first, so that no failure loses
    ///   them.
    private func change(
        _ body: @escaping @Sendable (SupabaseAuthService, Secret) async throws(SupabaseAuthFailure) -> Change,
        afterwards:
            @escaping @Sendable (SupabaseAuthService, SupabaseGrant) async throws(SupabaseAuthFailure) -> AuthUser = {
                _, grant in grant.user
            }
    ) async throws(AuthError) -> AuthUser {
        try await uninterrupted { [self] () async throws(AuthError) in
            let (session, change) = try await onSession(body)
            switch change {
            case .user(let json):
                guard let user = AuthUser(supabase: json), user.id == session.user.id else {
                    throw AuthError(SupabaseAuthFailure.unreadable)
                }
                try await engine.update(user, in: session)
                return user
            case .grant(let grant):
                guard grant.user.id == session.user.id else { throw AuthError(SupabaseAuthFailure.unreadable) }
                try await engine.update(grant.user, tokens: grant.tokens, in: session)
                let user: AuthUser
                do throws(SupabaseAuthFailure) {
                    user = try await afterwards(service, grant)
                } catch {
                    throw await ending(session, error)
                }
                if user != grant.user { try await engine.update(user, in: session) }
                return user
            }
        }
    }

    /// Makes a call with the token of the current session. If the server refuses the token, the call is repeated once with a
    /// new one.
    ///
    /// - Parameter id: The session that it has to be, if the caller is bound to one.
    private func onSession<Answer: Sendable>(
        of id: String? = nil,
        _ body: @Sendable (SupabaseAuthService, Secret) async throws(SupabaseAuthFailure) -> Answer
    ) async throws(AuthError) -> (AuthSession, Answer) {
        let session = try await engine.currentSession(id)
        let token = try await engine.accessToken(of: session)
        do throws(SupabaseAuthFailure) {
            return (session, try await body(service, token.value))
        } catch {
            guard error.code == "bad_jwt" || error.code == "no_authorization" else {
                throw await ending(session, error)
            }
        }
        let fresh = try await engine.accessToken(of: session, refreshing: true)
        do throws(SupabaseAuthFailure) {
            return (session, try await body(service, fresh.value))
        } catch {
            throw await ending(session, error)
        }
    }

    /// The error for a refused call. Ends the session if the refusal means that it is over.
    private func ending(_ session: AuthSession, _ failure: SupabaseAuthFailure) async -> AuthError {
        switch (failure.code, failure.status) {
        case ("user_not_found", 403), ("user_banned", _):
            try? await engine.end(SignOut(.byServer), session)
            return failure.code == "user_banned"
                ? AuthError(failure) : AuthError(.sessionExpired, "The account no longer exists.", underlying: failure)
        case ("session_not_found", _), ("session_expired", _):
            if let current = try? await engine.currentSession(session.id) { await engine.refused(current) }
        default: break
        }
        return AuthError(failure)
    }
}
