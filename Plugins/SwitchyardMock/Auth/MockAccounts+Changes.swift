import Foundation
import Switchyard
import SwitchyardBytes

/// The server side of changes to the signed-in user's account.
extension MockAccounts {
    func user(_ refreshToken: String) throws(AuthError) -> AuthUser {
        let now = now()
        return try change { (state) throws(AuthError) in
            let session = try state.session(refreshToken, now)
            return state.accounts[session.userID]?.user ?? AuthUser(id: session.userID)
        }
    }

    /// Changes the account of a session.
    ///
    /// - Parameter needsRecentSignIn: Whether the user must have authenticated recently.
    private func edit(
        _ refreshToken: String, needsRecentSignIn: Bool = false,
        _ body: (inout State, String, Timestamp) throws(AuthError) -> Void
    ) throws(AuthError) -> AuthUser {
        let now = now()
        return try change { (state) throws(AuthError) in
            let session = try state.session(refreshToken, now)
            let age = now.microseconds - session.provedAt.microseconds
            if needsRecentSignIn, age > lifetime.recentSignIn.microseconds {
                throw AuthError(.recentSignInRequired, "Sign in again, then retry.")
            }
            try body(&state, session.userID, now)
            return state.accounts[session.userID]?.user ?? AuthUser(id: session.userID)
        }
    }

    func update(_ refreshToken: String, _ changes: AccountChanges) throws(AuthError) -> AuthUser {
        let isSensitive = changes.email != nil || changes.password != nil
        let email: String? = if let email = changes.email { try MockAccounts.checked(email) } else { nil }
        let isAsked = asksForConfirmation
        if let password = changes.password { try MockAccounts.check(password) }
        let user = try edit(refreshToken, needsRecentSignIn: isSensitive) { (state, id, _) throws(AuthError) in
            if let email, state.accounts[id]?.email != email {
                guard state.account(withEmail: email) == nil else { throw .emailInUse }
                if isAsked {
                    state.accounts[id]?.newEmail = email
                } else {
                    state.accounts[id]?.email = email
                    state.accounts[id]?.isEmailVerified = false
                }
            }
            if let name = changes.displayName { state.accounts[id]?.displayName = name.isEmpty ? nil : name }
            if let url = changes.photoURL { state.accounts[id]?.photoURL = url }
            if let password = changes.password {
                state.accounts[id]?.setPassword(password)
                state.sessions = state.sessions.filter { $0.value.userID != id || $0.key == refreshToken }
            }
        }
        if let email, user.email != email || !user.isEmailVerified { sendConfirmation(to: email) }
        return user
    }

    func link(_ refreshToken: String, _ credential: AuthCredential) throws(AuthError) -> AuthUser {
        if case .password(let email, let password) = credential.kind {
            let email = try MockAccounts.checked(email)
            try MockAccounts.check(password)
            let isAsked = asksForConfirmation
            let user = try edit(refreshToken) { (state, id, _) throws(AuthError) in
                if let owner = state.account(withEmail: email), owner != id { throw .emailInUse }
                if isAsked, state.accounts[id]?.email != email {
                    state.accounts[id]?.newEmail = email
                    return
                }
                state.accounts[id]?.email = email
                state.accounts[id]?.isAnonymous = false
                state.accounts[id]?.setPassword(password)
            }
            guard user.email == email else {
                sendConfirmation(to: email)
                throw AuthError(.emailNotConfirmed, "Open the link in the mail, then link the password.")
            }
            return user
        }
        return try edit(refreshToken) { (state, id, now) throws(AuthError) in
            let identity = try identity(of: credential, &state, now)
            if let owner = state.owner(of: identity), owner != id {
                throw AuthError(.identityInUse, "This identity belongs to another account.")
            }
            state.accounts[id]?.take(identity)
        }
    }

    func unlink(_ refreshToken: String, _ provider: IdentityProvider) throws(AuthError) -> AuthUser {
        try edit(refreshToken) { (state, id, _) throws(AuthError) in
            guard let identities = state.accounts[id]?.identities, identities[provider.rawValue] != nil else {
                throw AuthError(.invalidArgument, "The account has no identity of “\(provider)”.")
            }
            guard identities.count > 1 else {
                throw AuthError(.invalidArgument, "This is the account's only sign-in method. Link another one first.")
            }
            state.accounts[id]?.identities[provider.rawValue] = nil
            if provider == .password { state.accounts[id]?.removePassword() }
            if provider == .phone { state.accounts[id]?.phoneNumber = nil }
        }
    }

    func beginSecondFactor(_ refreshToken: String, _ kind: SecondFactor.Kind) throws(AuthError)
        -> SecondFactorEnrollment
    {
        guard kind == .totp else {
            throw .unsupported("second factors by phone", by: .mock, instead: "Use an authenticator app.")
        }
        let key = Array(RandomID.make(length: 20).utf8)
        let id = RandomID.make()
        let user = try edit(refreshToken) { state, userID, _ in
            state.enrollments[id] = Enrollment(userID: userID, kind: kind, key: key)
        }
        let text = Base32.encode(key)
        let label = PercentCoding.encode(user.email ?? user.id)
        return SecondFactorEnrollment(
            kind: kind, sharedKey: Secret(text),
            uri: Secret("otpauth://totp/Switchyard:\(label)?secret=\(text)&issuer=Switchyard"), session: Secret(id))
    }

    func confirmSecondFactor(
        _ refreshToken: String, _ enrollment: SecondFactorEnrollment, _ code: Secret, _ name: String?
    ) throws(AuthError) -> AuthUser {
        try edit(refreshToken) { (state, id, now) throws(AuthError) in
            guard let known = state.enrollments[enrollment.session.reveal()], known.userID == id else {
                throw AuthError(.codeExpired, "The enrolment of the second factor has expired. Begin again.")
            }
            guard OneTimeCode.step(of: code.reveal(), key: known.key, at: now.seconds) != nil else {
                throw .wrongCredential
            }
            state.enrollments[enrollment.session.reveal()] = nil
            let factor = SecondFactor(id: RandomID.make(), kind: known.kind, displayName: name)
            state.accounts[id]?.factors.append(MockAccount.Factor(factor: factor, key: known.key))
        }
    }

    func removeSecondFactor(_ refreshToken: String, _ factor: SecondFactor.ID) throws(AuthError) -> AuthUser {
        try edit(refreshToken) { (state, id, _) throws(AuthError) in
            guard state.accounts[id]?.factors.contains(where: { $0.factor.id == factor }) == true else {
                throw AuthError(.invalidArgument, "The account has no such second factor.")
            }
            state.accounts[id]?.factors.removeAll { $0.factor.id == factor }
        }
    }

    func delete(_ refreshToken: String) throws(AuthError) {
        _ = try edit(refreshToken, needsRecentSignIn: true) { state, id, _ in
            state.accounts[id] = nil
            state.sessions = state.sessions.filter { $0.value.userID != id }
        }
    }

    func end(_ refreshToken: String, _ scope: SignOutScope) {
        change { state in
            guard let session = state.sessions[refreshToken] else { return }
            switch scope {
            case .local: state.sessions[refreshToken] = nil
            case .everywhere: state.sessions = state.sessions.filter { $0.value.userID != session.userID }
            case .others:
                state.sessions = state.sessions.filter { $0.value.userID != session.userID || $0.key == refreshToken }
            }
        }
    }
}
