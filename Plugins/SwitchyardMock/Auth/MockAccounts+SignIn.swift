import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardProviderKit

/// The result of a sign-in.
struct SignedIn: Sendable {
    let user: AuthUser
    let tokens: SessionTokens
}

extension SessionTokens {
    init(refresh: Secret, _ access: AccessToken, issuedAt: Timestamp) {
        self.init(refresh: refresh, access: access.value, issuedAt: issuedAt, expiresAt: access.expiresAt)
    }
}

/// The server side of signing in.
extension MockAccounts {
    /// - Returns: `nil` if the address must be confirmed first, for which an email was sent.
    func signUp(_ email: String, _ password: Secret) throws(AuthError) -> SignedIn? {
        let email = try MockAccounts.checked(email)
        try MockAccounts.check(password)
        let now = now()
        let isAsked = asksForConfirmation
        let signedIn: SignedIn? = try change { (state) throws(AuthError) in
            if let known = state.account(withEmail: email) {
                // Keep the first password, since the owner of the mailbox may not have chosen the second.
                guard isAsked, state.accounts[known]?.awaitsConfirmation == true else { throw .emailInUse }
                return nil
            }
            var account = MockAccount(id: RandomID.make(length: 28), at: now.date)
            account.email = email
            account.setPassword(password)
            account.awaitsConfirmation = isAsked ? true : nil
            state.accounts[account.id] = account
            return isAsked ? nil : open(&state, account.id, now)
        }
        if signedIn == nil { sendConfirmation(to: email) }
        return signedIn
    }

    /// Does not reveal whether an account awaits confirmation.
    func resendConfirmation(to email: String) throws(AuthError) {
        let email = try MockAccounts.checked(email)
        let isWaiting = read { state in
            state.account(withEmail: email).map { state.accounts[$0]?.awaitsConfirmation == true } ?? false
        }
        if isWaiting { sendConfirmation(to: email) }
    }

    func sendConfirmation(to email: String) {
        let code = RandomID.make(length: 32)
        let link = try? URLQuery.url("https://accounts.mock.invalid/confirm", ["mode": "confirm", "code": code])
        deliver(.addressConfirmation, to: email, code: code, id: code, link: link)
    }

    /// Starts a session for the owner of the credential.
    ///
    /// - Parameter current: The current user, who keeps their account if both it and the credential are anonymous.
    func signIn(_ credential: AuthCredential, current: AuthUser?) throws(AuthError) -> SignedIn {
        let now = now()
        return try change { (state) throws(AuthError) in
            if case .anonymous = credential.kind, let current, current.isAnonymous, state.accounts[current.id] != nil {
                return open(&state, current.id, now)
            }
            let id = try owner(of: credential, &state, now, creates: true)
            try admit(id, state)
            if case .password = credential.kind, state.accounts[id]?.awaitsConfirmation == true {
                throw AuthError(.emailNotConfirmed, "Open the link in the mail first.")
            }
            let claims = claims(of: credential, state)
            try askForSecondFactor(id, &state, now, claims)
            return open(&state, id, now, claims: claims)
        }
    }

    func answer(_ challenge: SecondFactorChallenge, _ answer: SecondFactorAnswer) throws(AuthError) -> SignedIn {
        let now = now()
        return try change { (state) throws(AuthError) in
            guard let half = state.halfSignIns[challenge.session.reveal()], now < half.expiresAt else {
                throw AuthError(.codeExpired, "The sign-in took too long. Begin again.")
            }
            guard let account = state.accounts[half.userID],
                account.accepts(oneTimeCode: answer.code, of: answer.factor, at: now)
            else { throw .wrongCredential }
            try admit(half.userID, state)
            state.halfSignIns[challenge.session.reveal()] = nil
            return open(&state, half.userID, now, claims: half.claims)
        }
    }

    /// Authenticates the user of a session again.
    func reauthenticate(_ refreshToken: String, _ credential: AuthCredential) throws(AuthError) {
        let now = now()
        try change { (state) throws(AuthError) in
            let session = try state.session(refreshToken, now)
            let id = try owner(of: credential, &state, now, creates: false)
            guard id == session.userID else { throw .wrongCredential }
            try askForSecondFactor(id, &state, now)
            state.sessions[refreshToken]?.provedAt = now
        }
    }

    func refresh(_ refreshToken: String) throws(AuthError) -> AccessToken {
        let now = now()
        return try change { (state) throws(AuthError) in
            let session = try state.session(refreshToken, now)
            return accessToken(session, now, state)
        }
    }

    // MARK: Emails and text messages

    func sendPhoneCode(to number: String) throws(AuthError) -> PhoneVerification {
        try MockAccounts.check(phoneNumber: number)
        let code = String(String(UInt32.random(in: 1_000_000...1_999_999)).dropFirst())
        let id = RandomID.make()
        deliver(.phoneCode, to: number, code: code, id: id, link: nil)
        return PhoneVerification(phoneNumber: number, id: id)
    }

    func sendEmailLink(to email: String, redirectURL: URL) throws(AuthError) {
        let email = try MockAccounts.checked(email)
        let code = RandomID.make(length: 32)
        let link = try URLQuery.url(redirectURL.absoluteString, ["mode": "signIn", "code": code])
        deliver(.signInLink, to: email, code: code, id: code, link: link)
    }

    func sendPasswordReset(to email: String) throws(AuthError) {
        let email = try MockAccounts.checked(email)
        // Do not reveal whether there is an account.
        guard read({ $0.account(withEmail: email) }) != nil else { return }
        let code = RandomID.make(length: 32)
        deliver(.passwordReset, to: email, code: code, id: code, link: nil)
    }

    func resetPassword(_ code: Secret, _ password: Secret) throws(AuthError) {
        let now = now()
        try change { (state) throws(AuthError) in
            try MockAccounts.check(password)
            let email = try state.take(code.reveal(), code.reveal(), .passwordReset, now)
            guard let id = state.account(withEmail: email) else { throw .wrongCredential }
            state.accounts[id]?.setPassword(password)
            state.accounts[id]?.confirm(email)
            state.sessions = state.sessions.filter { $0.value.userID != id }
        }
    }

    func deliver(_ kind: MockMail.Kind, to recipient: String, code: String, id: String, link: URL?) {
        register(kind, of: recipient, code: code, id: id)
        send(MockMail(kind: kind, recipient: recipient, code: Secret(code), link: link, sentAt: now()))
    }

    /// Registers a code, which is valid for a limited time.
    func register(_ kind: MockMail.Kind, of recipient: String, code: String, id: String) {
        let end = now().microseconds + lifetime.code.microseconds
        change { $0.codes[id] = Code(kind: kind.rawValue, recipient: recipient, code: code, expiresAt: end) }
    }

    // MARK: Credentials

    /// The account that a credential belongs to.
    ///
    /// - Parameter creates: Whether to create an account for an unknown identity.
    func owner(
        of credential: AuthCredential, _ state: inout State, _ now: Timestamp, creates: Bool
    ) throws(AuthError) -> String {
        switch credential.kind {
        case .anonymous:
            guard creates else { throw .wrongCredential }
            return state.create(now) { $0.isAnonymous = true }
        case .password(let email, let password):
            guard let id = state.account(withEmail: email.lowercased()),
                state.accounts[id]?.accepts(password) == true
            else { throw .wrongCredential }
            return id
        case .customToken(let token):
            guard let claims = SignedToken(token, "custom", key: state.key)?.claims, let id = claims["sub"] else {
                throw .wrongCredential
            }
            if let end = claims["exp"].flatMap({ Int64($0) }), end <= now.microseconds {
                throw AuthError(.codeExpired, "The custom token has expired. Ask for a new one.")
            }
            if state.accounts[id] == nil, creates { state.accounts[id] = MockAccount(id: id, at: now.date) }
            return id
        case .emailLink(let email, let link) where state.isConfirmation(link):
            let code = URLQuery(link)["code"] ?? ""
            let address = try state.take(code, code, .addressConfirmation, now)
            guard address == email.lowercased(), let id = state.confirm(address) else { throw .wrongCredential }
            return id
        default:
            let identity = try identity(of: credential, &state, now)
            if let id = state.owner(of: identity) {
                if identity.provider == .emailLink { state.accounts[id]?.confirm(identity.subject) }
                return id
            }
            guard creates else { throw .wrongCredential }
            guard identity.email.flatMap({ state.account(withEmail: $0) }) == nil else { throw .emailInUse }
            return state.create(now) { $0.take(identity) }
        }
    }

    /// The identity that a provider confirms.
    func identity(
        of credential: AuthCredential, _ state: inout State, _ now: Timestamp
    ) throws(AuthError) -> VouchedIdentity {
        switch credential.kind {
        case .identityToken(let provider, let token, _, let rawNonce):
            guard let claims = SignedToken(token, "identity", key: state.key)?.claims,
                claims["iss"] == provider.rawValue, let subject = claims["sub"],
                claims["nonce"] == nil || claims["nonce"] == rawNonce.map(MockAccounts.digest)
            else { throw .wrongCredential }
            return VouchedIdentity(provider: provider, subject: subject, email: claims["email"]?.lowercased())
        case .browser(let signIn, let callback):
            let query = URLQuery(callback)
            guard query["state"] == signIn.state else { throw .wrongCredential }
            if query["error"] != nil { throw AuthError(.cancelled, "The sign-in was cancelled in the browser.") }
            guard let code = query["code"], let grant = state.grants[code],
                grant.challenge == MockAccounts.digest(signIn.verifier)
            else { throw .wrongCredential }
            state.grants[code] = nil
            return VouchedIdentity(
                provider: grant.provider, subject: grant.subject, email: grant.email?.lowercased())
        case .phoneCode(let verification, let code):
            let number = try state.take(verification.id, code.reveal(), .phoneCode, now)
            guard number == verification.phoneNumber else { throw .wrongCredential }
            return VouchedIdentity(provider: .phone, subject: number, email: nil)
        case .emailLink(let email, let link):
            let code = URLQuery(link)["code"] ?? ""
            let recipient = try state.take(code, code, .signInLink, now)
            guard recipient == email.lowercased() else { throw .wrongCredential }
            return VouchedIdentity(provider: .emailLink, subject: recipient, email: recipient)
        case .anonymous, .password, .customToken:
            throw AuthError(.invalidArgument, "This proof cannot be linked to an account.")
        }
    }

    func admit(_ id: String, _ state: State) throws(AuthError) {
        if state.accounts[id]?.isDisabled == true { throw .disabled }
    }

    private func askForSecondFactor(
        _ id: String, _ state: inout State, _ now: Timestamp, _ claims: MockClaims? = nil
    ) throws(AuthError) {
        guard let factors = state.accounts[id]?.factors, !factors.isEmpty else { return }
        let session = RandomID.make(length: 32)
        let end = Timestamp(microseconds: now.microseconds + lifetime.code.microseconds)
        state.halfSignIns[session] = HalfSignIn(userID: id, expiresAt: end, claims: claims)
        throw AuthError(
            .secondFactorRequired, "The account has a second factor. Answer its challenge.",
            challenge: SecondFactorChallenge(factors: factors.map(\.factor), session: Secret(session)))
    }

    /// The claims that the credential adds to the session's tokens.
    private func claims(of credential: AuthCredential, _ state: State) -> MockClaims? {
        guard case .customToken(let token) = credential.kind else { return nil }
        return SignedToken(token, "custom", key: state.key)?.custom
    }

    private func open(
        _ state: inout State, _ id: String, _ now: Timestamp, claims: MockClaims? = nil
    ) -> SignedIn {
        state.accounts[id]?.lastSignInAt = now.date
        let end = lifetime.session.map { Timestamp(microseconds: now.microseconds + $0.microseconds) }
        let session = MockSession(
            refreshToken: RandomID.make(length: 40), userID: id, provedAt: now, expiresAt: end, claims: claims)
        state.sessions[session.refreshToken] = session
        let user = state.accounts[id]?.user ?? AuthUser(id: id)
        return SignedIn(
            user: user,
            tokens: SessionTokens(
                refresh: Secret(session.refreshToken), accessToken(session, now, state), issuedAt: now))
    }

    private func accessToken(_ session: MockSession, _ now: Timestamp, _ state: State) -> AccessToken {
        let userID = session.userID
        let end = Timestamp(microseconds: now.microseconds + lifetime.accessToken.microseconds)
        let claims = ["sub": userID, "exp": String(end.microseconds), "jti": RandomID.make()]
        let custom = (state.accounts[userID]?.claims ?? MockClaims()).merging(session.claims)
        return AccessToken(
            value: SignedToken("access", claims, custom: custom).secret(key: state.key), expiresAt: end,
            userID: userID)
    }

    static func checked(_ email: String) throws(AuthError) -> String {
        let parts = email.split(separator: "@", omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty, parts[1].utf8.contains(UInt8(ascii: ".")),
            parts[1].split(separator: ".", omittingEmptySubsequences: false).allSatisfy({ !$0.isEmpty }),
            email.unicodeScalars.allSatisfy({ $0.value > 0x20 && $0.value != 0x7F })
        else { throw AuthError(.invalidArgument, "This is not an email address.") }
        return email.lowercased()
    }

    static func check(phoneNumber number: String) throws(AuthError) {
        let digits = number.utf8.dropFirst()
        guard number.utf8.first == UInt8(ascii: "+"), (6...15).contains(digits.count),
            digits.allSatisfy({ (48...57).contains($0) })
        else { throw AuthError(.invalidArgument, "A phone number is a plus sign followed by 6 to 15 digits.") }
    }

    static func check(_ password: Secret) throws(AuthError) {
        guard password.reveal().count >= 6 else {
            throw AuthError(.weakPassword, "A password has at least 6 characters.")
        }
    }
}

/// A user's identity, as confirmed by a provider.
struct VouchedIdentity: Sendable {
    let provider: IdentityProvider
    let subject: String
    let email: String?
}

extension MockAccount {
    mutating func take(_ identity: VouchedIdentity) {
        identities[identity.provider.rawValue] = identity.subject
        isAnonymous = false
        if identity.provider == .phone { phoneNumber = identity.subject }
        if let address = identity.email, email == nil || email == address {
            email = address
            confirm(address)
        }
    }
}

extension MockAccounts.State {
    func isConfirmation(_ link: URL) -> Bool {
        URLQuery(link)["code"].flatMap { codes[$0] }?.kind == MockMail.Kind.addressConfirmation.rawValue
    }

    /// Confirms the address of the account that has or requests it.
    ///
    /// - Returns: The ID of that account.
    mutating func confirm(_ address: String) -> String? {
        let id = account(withEmail: address) ?? accounts.first { $0.value.newEmail == address }?.key
        if let id { accounts[id]?.confirm(address) }
        return id
    }

    func account(withEmail email: String) -> String? { accounts.first { $0.value.email == email }?.key }

    func owner(of identity: VouchedIdentity) -> String? {
        if identity.provider == .emailLink { return account(withEmail: identity.subject) }
        return accounts.first { $0.value.identities[identity.provider.rawValue] == identity.subject }?.key
    }

    mutating func create(_ now: Timestamp, _ fill: (inout MockAccount) -> Void) -> String {
        var account = MockAccount(id: RandomID.make(length: 28), at: now.date)
        fill(&account)
        accounts[account.id] = account
        return account.id
    }

    /// The session, if it has not ended.
    func session(_ refreshToken: String, _ now: Timestamp) throws(AuthError) -> MockSession {
        guard let session = sessions[refreshToken], let account = accounts[session.userID] else {
            throw AuthError(.sessionExpired, "The server has ended the session. Sign in again.")
        }
        if account.isDisabled { throw .disabled }
        if let end = session.expiresAt, end <= now {
            throw AuthError(.sessionExpired, "The session has expired. Sign in again.")
        }
        return session
    }

    /// Uses up a code.
    ///
    /// - Returns: The recipient of the code.
    mutating func take(
        _ id: String, _ code: String, _ kind: MockMail.Kind, _ now: Timestamp
    ) throws(AuthError) -> String {
        guard let known = codes[id], known.kind == kind.rawValue else { throw .wrongCredential }
        guard !known.isUsed, now.microseconds < known.expiresAt, known.failures < 5 else {
            throw AuthError(.codeExpired, "The code has expired or was used before. Request a new one.")
        }
        guard known.code == code else {
            codes[id]?.failures += 1
            throw .wrongCredential
        }
        codes[id]?.isUsed = true
        return known.recipient
    }
}

extension AuthError {
    static let wrongCredential = AuthError(.invalidCredential, "The password, code, link or token is wrong.")
    static let emailInUse = AuthError(.emailInUse, "An account with this address already exists.")
    static let disabled = AuthError(.userDisabled, "The account was disabled.")
}

extension Duration {
    var microseconds: Int64 { components.seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000 }
}
